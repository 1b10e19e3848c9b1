package dev.holdfast.process;

/**
 * Hears of everything a child says and does. Called from the child's own threads, never by two at once; the first call
 * may come before {@link Spawner#spawn} has returned. A call must be quick and must not wait: while it runs, nothing
 * more is read from the child (HS-12). What it throws is logged and changes nothing.
 */
public interface ChildListener {

    /** A whole line of stdout. */
    void line(OutputLine line);

    /**
     * A line was left out; the child goes on (HS-10).
     *
     * @param bytes its length in bytes, without the terminator
     * @param reason why
     */
    void skippedLine(long bytes, SkipReason reason);

    /** Everything read so far was told; now more is waited for. What concerns many lines is cheapest done here, once. */
    default void caughtUp() {}

    /** What followed the last {@code \n} before stdout ended; never a line. Not called when there was nothing. */
    default void partialLine(OutputLine rest) {}

    /** Stdout has ended; nothing more will be read. The child may still be alive. */
    default void endOfOutput() {}

    /** A step on the way to the child's end; some come after {@link #ended}. */
    default void step(StopStep step) {}

    /**
     * The child has exited and its output was read to the end, or for 2 s more where something that outlived it holds
     * the pipe. Called exactly once unless the child survives KILL; no line comes after it.
     */
    void ended(Ended ended);

    /** The child and everything it had started are dead, or reported as surviving. The last call, exactly once. */
    default void gone(Stopped stopped) {}

    /** Why a line was left out. */
    enum SkipReason {
        /** It was longer than {@link ChildSpec#lineLimit()}. */
        OVER_LIMIT,
        /** This JVM had no memory to hold it. */
        NO_MEMORY
    }
}
