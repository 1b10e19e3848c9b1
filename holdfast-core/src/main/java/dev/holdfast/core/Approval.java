package dev.holdfast.core;

/**
 * A question about a call and what became of it, kept until the call's turn is over: after a crash the same call finds it,
 * and its answer is used once (TL-04).
 *
 * @param question its id
 * @param number of the arrival that answered it; 0 while none did
 * @param ended the call has its row in the audit
 */
public record Approval(String question, AskedCall call, State state, long number, boolean ended) {
    /** What became of a question. */
    public enum State {
        OPEN,
        ANSWERED,
        /** Nobody answered in time. */
        LAPSED,
        /** It was approved, and the call was begun. */
        USED
    }

    Approval answered(long by) {
        return new Approval(question, call, State.ANSWERED, by, ended);
    }

    Approval lapsed() {
        return new Approval(question, call, State.LAPSED, number, ended);
    }

    Approval used() {
        return new Approval(question, call, State.USED, number, ended);
    }

    Approval asEnded() {
        return new Approval(question, call, state, number, true);
    }
}
