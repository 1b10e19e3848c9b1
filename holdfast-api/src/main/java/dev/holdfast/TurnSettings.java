package dev.holdfast;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What every turn of a {@link TurnHarness} is given besides the conversation (HN-02). Immutable; {@code with}-style methods
 * return changed copies.
 *
 * @param options by name; one the harness does not know is refused when the session is opened (HN-06)
 * @param brief what the host's developer tells the thinker of its task; may be empty
 * @param hooks what is done about files that are written to the workspace
 * @param retold how much of the conversation a turn is shown at most, in characters, 1,000 to 10,000,000 (HN-05)
 */
public record TurnSettings(
        Map<String, String> options,
        List<Skill> skills,
        Optional<Path> workspace,
        boolean interactive,
        String brief,
        int retold,
        Optional<TurnHooks> hooks) {
    /** How much of a conversation is told again unless said otherwise. */
    public static final int RETOLD = 100_000;

    public TurnSettings {
        options = Map.copyOf(options);
        skills = List.copyOf(skills);
        if (retold < 1_000 || retold > 10_000_000) {
            throw new IllegalArgumentException(
                    "a turn is shown 1,000 to 10,000,000 characters of its conversation; got " + retold);
        }
    }

    /** No options, no skills, no workspace, interactive, no brief. */
    public static TurnSettings standard() {
        return new TurnSettings(Map.of(), List.of(), Optional.empty(), true, "", RETOLD, Optional.empty());
    }

    /** What of it an agent is bound to (HS-03). */
    public Binding binding() {
        return Binding.none()
                .shown("turn options", options.isEmpty() ? Optional.empty() : Optional.of(new TreeMap<>(options)))
                .words("skills", skills.isEmpty() ? Optional.empty() : Optional.of(skills.toString()))
                .shown("workspace", workspace)
                .shown("interactive", interactive)
                .words("brief", brief.isEmpty() ? Optional.empty() : Optional.of(brief))
                .shown("retold characters", retold);
    }

    public TurnSettings options(Map<String, String> options) {
        return new TurnSettings(options, skills, workspace, interactive, brief, retold, hooks);
    }

    public TurnSettings skills(List<Skill> skills) {
        return new TurnSettings(options, skills, workspace, interactive, brief, retold, hooks);
    }

    public TurnSettings workspace(Path workspace) {
        return new TurnSettings(options, skills, Optional.of(workspace), interactive, brief, retold, hooks);
    }

    public TurnSettings interactive(boolean interactive) {
        return new TurnSettings(options, skills, workspace, interactive, brief, retold, hooks);
    }

    public TurnSettings brief(String brief) {
        return new TurnSettings(options, skills, workspace, interactive, brief, retold, hooks);
    }

    public TurnSettings hooks(TurnHooks hooks) {
        return new TurnSettings(options, skills, workspace, interactive, brief, retold, Optional.of(hooks));
    }

    public TurnSettings retold(int characters) {
        return new TurnSettings(options, skills, workspace, interactive, brief, characters, hooks);
    }
}
