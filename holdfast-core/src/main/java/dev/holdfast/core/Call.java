package dev.holdfast.core;

import dev.holdfast.CallRuling;
import java.time.Instant;
import java.util.Optional;

/**
 * A call of the present incarnation, from the agent's wish to its answer.
 *
 * @param key its idempotency key
 * @param builtIn the agent runs it, not the host
 * @param round how often it was given to be judged: a verdict of an older round counts no more
 * @param question about it; empty while none was asked
 * @param facts what is known of it by now
 * @param since when it was dispatched
 * @param judgedAt when the verdict was given by which it was dispatched
 * @param started its start is recorded
 * @param refusal why it is not run, for the model; absent for one that was
 */
public record Call(
        String tool,
        String inputDigest,
        boolean sideEffects,
        boolean builtIn,
        String key,
        Stage stage,
        int round,
        String question,
        CallFacts facts,
        Instant since,
        Instant judgedAt,
        boolean started,
        Optional<String> refusal) {

    /** How far it is. */
    public enum Stage {
        /** The agent waits, and the door was not heard yet. */
        ASKED,
        /** A person is asked. */
        QUESTIONED,
        /** It runs: in a tool of the host, or in the agent by its permission. */
        RUNNING,
        /** It has its answer. */
        ANSWERED
    }

    static Call asked(String tool, String inputDigest, boolean sideEffects, boolean builtIn, String key, long message) {
        return new Call(
                tool,
                inputDigest,
                sideEffects,
                builtIn,
                key,
                Stage.ASKED,
                1,
                "",
                new CallFacts(message, "", CallRuling.NONE, ""),
                Instant.EPOCH,
                Instant.EPOCH,
                false,
                Optional.empty());
    }

    /** It is to be judged, once more. */
    Call again() {
        return with(Stage.ASKED, round + 1, question, facts, since, judgedAt, started, refusal);
    }

    Call questioned(String id, CallFacts now) {
        return with(Stage.QUESTIONED, round, id, now, since, judgedAt, started, refusal);
    }

    Call running(CallFacts now, Instant at, Instant judged, boolean recorded) {
        return with(Stage.RUNNING, round, question, now, at, judged, recorded, refusal);
    }

    Call answered() {
        return with(Stage.ANSWERED, round, question, facts, since, judgedAt, started, refusal);
    }

    Call refused(CallFacts now, String why) {
        return with(Stage.ANSWERED, round, question, now, since, judgedAt, started, Optional.of(why));
    }

    private Call with(
            Stage nextStage,
            int nextRound,
            String id,
            CallFacts now,
            Instant from,
            Instant judged,
            boolean recorded,
            Optional<String> why) {
        return new Call(
                tool,
                inputDigest,
                sideEffects,
                builtIn,
                key,
                nextStage,
                nextRound,
                id,
                now,
                from,
                judged,
                recorded,
                why);
    }
}
