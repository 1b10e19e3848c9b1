package dev.holdfast.claude;

/**
 * Hears what happens to held sessions. Events of one session come one at a time and in order, on the executor of the
 * options; a listener that hangs holds up later events and results of its own session, and nothing else (HS-12).
 */
@FunctionalInterface
public interface HeldListener {
    void on(SessionHandle handle, HeldEvent event);
}
