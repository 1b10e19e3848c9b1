package dev.holdfast;

import java.util.Optional;

/**
 * One incarnation of an agent, from the question what it remembers to its end. No method blocks; each is answered by
 * reports. The caller keeps this order: {@code know}, then {@code start}, then lines; {@code stop} at any time. Thread-safe.
 */
public interface Attachment {
    /**
     * Sees every process of an older incarnation of this session dead (HS-21), then reads what the agent has. Answered by
     * {@link Report.Known}, or by {@link Report.Ended} when that fails.
     */
    void know(KnowledgeQuestion question);

    /**
     * Starts the agent and checks its tool list before a word reaches the model (TL-01). Answered by
     * {@link Report.Started}, then {@link Report.Verified} or {@link Report.Mismatch}, or by {@link Report.Ended}.
     */
    void start(StartPlan plan);

    /** Writes one line. Answered by {@link Report.Landed} when the agent took it into its context. */
    void tell(Line line);

    /** Interrupts what the agent does. Answered by {@link Report.InterruptAnswered}. */
    void interrupt(long turn);

    /** Answers a {@link Report.CallRequested}; an answer to a call nobody waits for is dropped. */
    void answer(String callId, ToolAnswer answer);

    /**
     * Answers a {@link Report.CallRequested} that was not let through (TL-03); one that nobody waits for is dropped.
     *
     * @param ruling how it came to that; {@link CallRuling#NONE} when nobody judged it
     * @param reason for the model
     */
    default void refuse(String callId, CallRuling ruling, String reason) {
        answer(callId, ToolAnswer.error(reason));
    }

    /**
     * Answers a {@link Report.PermissionAsked}; one that nobody waits for is dropped.
     *
     * @param refusal why not, for the model; absent when the agent may
     */
    default void permit(String callId, Optional<String> refusal) {}

    /**
     * Tells the agent how far a call has come, where it asked for that; anything about a call nobody waits for is dropped
     * (TL-10).
     */
    default void progress(ToolProgress progress) {}

    /** Ends the incarnation by the stop ladder (HS-07). Idempotent. Answered by {@link Report.Ended}, always. */
    void stop(StopMode mode);
}
