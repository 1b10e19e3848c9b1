package dev.holdfast;

import java.nio.file.Path;

/**
 * An adapter for one kind of agent. Stateless and thread-safe: all that belongs to a running agent is in the
 * {@link Attachment}. A harness loads without its agent installed; a missing one is reported at first use (HN-12).
 */
public interface Harness {
    /** One word for listings: {@code claude}, {@code scripted}. */
    String name();

    /**
     * Prepares one incarnation. Starts nothing and never blocks.
     *
     * @param sink takes what the agent does; may be called from any thread, also before this method returns
     */
    Attachment attach(Launch launch, ReportSink sink);

    /**
     * Lets go of what attachments with this home shared (threads, helper processes), once a host has ended all of them.
     * May block for as long as their processes take to end.
     *
     * @param home as in {@link Launch#home}
     */
    default void release(Path home) {}
}
