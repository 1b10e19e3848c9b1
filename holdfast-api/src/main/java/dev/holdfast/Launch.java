package dev.holdfast;

import java.nio.file.Path;
import java.util.List;

/**
 * Under which identity an incarnation runs. (store, session, epoch, incarnation) is the marker of HS-21.
 *
 * @param home private directory of the host for run files and agents' configuration; exists
 * @param tools the host tools bound to this incarnation, in order
 * @param guarded the agent asks before it uses a tool of its own, each time ({@link Report.PermissionAsked}), and tells what
 *     became of it ({@link Report.ToolUsed}); a tool of which it would not is off (TL-03)
 */
public record Launch(
        String store,
        SessionName session,
        long epoch,
        long incarnation,
        Path home,
        List<ToolSpec> tools,
        boolean guarded) {
    /** One whose agent is not asked about its own tools. */
    public Launch(String store, SessionName session, long epoch, long incarnation, Path home, List<ToolSpec> tools) {
        this(store, session, epoch, incarnation, home, tools, false);
    }

    public Launch {
        tools = List.copyOf(tools);
    }
}
