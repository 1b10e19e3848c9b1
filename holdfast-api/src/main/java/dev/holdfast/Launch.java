package dev.holdfast;

import java.nio.file.Path;
import java.util.List;

/**
 * Under which identity an incarnation runs. (store, session, epoch, incarnation) is the marker of HS-21.
 *
 * @param home private directory of the host for run files and agents' configuration; exists
 * @param tools the host tools bound to this incarnation, in order
 */
public record Launch(String store, SessionName session, long epoch, long incarnation, Path home, List<ToolSpec> tools) {
    public Launch {
        tools = List.copyOf(tools);
    }
}
