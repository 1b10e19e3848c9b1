package dev.holdfast;

/**
 * An adapter for one kind of agent. Stateless and thread-safe: all that belongs to a running agent is in the
 * {@link Attachment}. A harness loads without its agent installed; a missing one is reported at first use (HN-12).
 */
public interface Harness extends AutoCloseable {
    /** One word for listings: {@code claude}, {@code scripted}. */
    String name();

    /**
     * Prepares one incarnation. Starts nothing and never blocks.
     *
     * @param sink takes what the agent does; may be called from any thread, also before this method returns
     */
    Attachment attach(Launch launch, ReportSink sink);

    /** Lets go of what all its attachments share: threads, guards. Idempotent; the host that used it calls it at its end. */
    @Override
    default void close() {}
}
