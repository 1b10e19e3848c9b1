package dev.holdfast;

import java.util.Optional;
import java.util.OptionalDouble;

/**
 * One call of a host tool by the agent.
 *
 * @param message number of the message whose turn this is; 0 in a turn the agent started by itself
 * @param author who sent that message; absent in a turn the agent started by itself, and where the host knows no authors
 * @param callId the agent's id of this call
 * @param idempotencyKey the same for a rerun of the same call in a rerun turn (TL-07): 64 hexadecimal digits
 * @param input the arguments, a JSON object as JSON text
 * @param cancelled asked by long-running tools: true once the turn was cancelled or the tool's deadline has passed, so that
 *     the answer will be discarded. The tool's thread is interrupted then as well
 * @param sink takes what the tool reports through {@link #progress}
 */
public record ToolCall(
        SessionName session,
        long turn,
        long message,
        Optional<Author> author,
        String callId,
        String idempotencyKey,
        String input,
        CancelSignal cancelled,
        ProgressSink sink) {

    /** Tells a running tool whether anybody still wants its answer. */
    @FunctionalInterface
    public interface CancelSignal {
        boolean isCancelled();
    }

    /** Takes reports of progress. Never blocks, never throws, thread-safe. */
    @FunctionalInterface
    public interface ProgressSink {
        /** Drops every report. */
        ProgressSink NONE = (done, total, note) -> {};

        void report(double done, OptionalDouble total, String note);
    }

    /**
     * Reports how far the tool has come, for whoever watches the session and for the agent where it asked for it (TL-10).
     * Live only: reports may be dropped when they come faster than they are shown, and after the call has its answer.
     *
     * @param done in the tool's own unit; finite, and growing from report to report
     * @param total what {@code done} is going to be, when that is known
     * @param note for people, shown up to 500 characters; may be empty
     */
    public void progress(double done, OptionalDouble total, String note) {
        if (!Double.isFinite(done) || (total.isPresent() && !Double.isFinite(total.getAsDouble()))) {
            throw new IllegalArgumentException(
                    "progress must be finite; got " + done + " of " + (total.isPresent() ? total.getAsDouble() : "?"));
        }
        sink.report(done, total, note);
    }

    /** As {@link #progress(double, OptionalDouble, String)}, with a known total. */
    public void progress(double done, double total, String note) {
        progress(done, OptionalDouble.of(total), note);
    }
}
