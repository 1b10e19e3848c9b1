package dev.holdfast;

/**
 * Receives what happens in a session. Called on one thread at a time, in order; may block only itself. An exception
 * ends nothing and is logged.
 */
public interface EventListener {
    /** A committed event; each one once, in order, without a gap. */
    void onEvent(SessionEvent event);

    /** A fragment of the answer being written. Live only: lost on reconnect, its full text is in the settling event. */
    default void onText(long turn, String fragment) {}

    /** What the agent is doing, each beat at most once in a turn (HN-03). Live only: lost on reconnect. */
    default void onBeat(long turn, Beat beat) {}

    /** A running tool says how far it has come (TL-10). Live only: lost on reconnect, and thinned out for slow listeners. */
    default void onProgress(long turn, ToolProgress progress) {}
}
