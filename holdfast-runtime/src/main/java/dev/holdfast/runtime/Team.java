package dev.holdfast.runtime;

import dev.holdfast.Agent;
import dev.holdfast.HoldfastException;
import dev.holdfast.Session;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Sessions that write to each other (LV-05). Each role is a session of its own, with all that sessions promise: its mail is
 * durable, told once and in order, and waits while the role does not run. A team keeps nothing besides. Thread-safe.
 */
public final class Team {
    private final TeamPlan plan;
    private final Map<String, Session> sessions;

    private Team(TeamPlan plan, Map<String, Session> sessions) {
        this.plan = plan;
        this.sessions = sessions;
    }

    /** Makes the agents of roles. */
    @FunctionalInterface
    public interface Casting {
        /**
         * @param briefing for its system prompt: {@link TeamPlan#briefing}
         * @param mail the tool {@value RoleMail#NAME}, to be bound like any object with tools
         */
        Agent agent(Role role, String briefing, RoleMail mail);
    }

    /**
     * Takes up the session of every role, or opens it. Mail that waits is worked off.
     *
     * @param spill directory for mail longer than {@link RoleMail#INLINE_MAX}, which the agents can read
     * @throws HoldfastException as {@link Holdfast#session}; the roles before that one are taken up
     */
    public static Team up(Holdfast host, TeamPlan plan, Path spill, Casting casting) {
        var sessions = new LinkedHashMap<String, Session>();
        for (Role role : plan.roles()) {
            var mail = new RoleMail(plan, role, spill.toAbsolutePath(), to -> host.mail(plan.session(to)));
            sessions.put(role.name(), host.session(plan.session(role), casting.agent(role, plan.briefing(role), mail)));
        }
        return new Team(plan, sessions);
    }

    public TeamPlan plan() {
        return plan;
    }

    /** The session of that role; absent when the team has no such role. */
    public Optional<Session> session(String role) {
        return Optional.ofNullable(sessions.get(role));
    }

    /** Whether no role has anything left to do now: no turn is open and no mail waits that would be given. */
    public boolean rests() {
        return sessions.values().stream()
                .map(Session::status)
                .allMatch(s -> s.openTurn().isEmpty() && s.queued() == 0);
    }
}
