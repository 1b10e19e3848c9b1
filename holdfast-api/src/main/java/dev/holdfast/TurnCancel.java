package dev.holdfast;

/** Tells a thinker that nobody wants its answer any more. Thread-safe. */
public interface TurnCancel {
    boolean isCancelled();

    /**
     * Runs {@code action} once when it fires, at once when it has. For what only another thread can end, such as an open
     * request. An exception is logged.
     *
     * @return takes the action back; idempotent
     */
    Subscription onCancel(Runnable action);
}
