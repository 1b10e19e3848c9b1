package dev.holdfast.runtime;

import dev.holdfast.SessionName;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Who is in a team and who reports to whom (LV-05). A role's session is named {@code TEAM.ROLE}.
 *
 * @param name 1 to 64 letters, digits or hyphens, the first a letter
 * @param roles 1 to {@value #ROLES_MAX}, in the order in which they are shown; nobody reports to himself, not even through
 *     others
 */
public record TeamPlan(String name, List<Role> roles) {
    /** The most roles. */
    public static final int ROLES_MAX = 64;

    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9-]{0,63}");

    public TeamPlan {
        roles = List.copyOf(roles);
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("team name '" + name
                    + "' is not allowed: use 1 to 64 letters, digits or '-', beginning with a letter");
        }
        if (roles.isEmpty() || roles.size() > ROLES_MAX) {
            throw new IllegalArgumentException(
                    "team '" + name + "' needs 1 to " + ROLES_MAX + " roles; got " + roles.size());
        }
        var superiors = new HashMap<String, Optional<String>>();
        for (Role role : roles) {
            if (superiors.put(role.name(), role.reportsTo()) != null) {
                throw new IllegalArgumentException("team '" + name + "' has two roles '" + role.name() + "'");
            }
        }
        roles.forEach(role -> demandLeader(role, superiors));
    }

    private static void demandLeader(Role role, Map<String, Optional<String>> superiors) {
        var seen = new HashSet<String>();
        String at = role.name();
        while (seen.add(at)) {
            var above = superiors.get(at);
            if (above == null) {
                throw new IllegalArgumentException("role '" + role.name() + "' reports to '" + at
                        + "', which is no role of this team: name one of " + superiors.keySet());
            }
            if (above.isEmpty()) {
                return;
            }
            at = above.get();
        }
        throw new IllegalArgumentException(
                "role '" + role.name() + "' reports to itself, through " + seen + ": let one of them lead");
    }

    /** The role of that name. */
    public Optional<Role> role(String role) {
        return roles.stream().filter(r -> r.name().equals(role)).findFirst();
    }

    /** The session of that role. */
    public SessionName session(Role role) {
        return new SessionName(name + "." + role.name());
    }

    /** What an agent is told of its role and its team; goes into its system prompt. */
    public String briefing(Role role) {
        var team = roles.stream()
                .map(r -> "- " + r.name() + (r.name().equals(role.name()) ? " (you)" : "")
                        + r.reportsTo().map(above -> ", reports to " + above).orElse(", leads"))
                .collect(Collectors.joining("\n"));
        return role.duty().strip() + "\n\nYou are '" + role.name() + "' in the team '" + name + "':\n" + team
                + "\n\nThe others hear from you only through the tool " + RoleMail.NAME
                + "; what you answer to a message is read by nobody in the team. Mail waits for whoever does not run"
                + " now. Who wrote a message is named below it.";
    }
}
