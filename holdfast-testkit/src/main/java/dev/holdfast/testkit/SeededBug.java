package dev.holdfast.testkit;

import dev.holdfast.SnapshotRecord;
import dev.holdfast.core.Core;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;

/**
 * Mistakes that a checker must catch, one for each promise a plausible slip would break. A run with a bug that stays
 * unnoticed says something about the checker.
 */
public enum SeededBug {
    /** The receipt is given before the commit. */
    ACK_BEFORE_COMMIT("P1", 50),
    /** A session's mark is cleared although something came in since its owner last looked. */
    LOST_WAKE_UP("IN-21", 50),
    /** The store takes the appends of an owner that is one no more. */
    STALE_EPOCH_ACCEPTED("P3", 200),
    /** Under a key that was used before the restart the message is accepted again. */
    KEY_FORGOTTEN_AFTER_RESTART("IN-12", 200),
    /** The newest message is accepted although the bound of unread ones is reached. */
    ACCEPTED_OVER_BOUND("MB-18", 200),
    /** A message is accepted by a session that is being finished. */
    ACCEPTED_AFTER_FINISH("MB-07", 200),
    /** What only an idle session takes is accepted by a busy one. */
    ACCEPTED_THOUGH_BUSY("TN-09", 200),
    /** Of a batch that is refused the first messages stay. */
    BATCH_TORN("IN-19", 500),
    /** A claim that is refused leaves the address in the list of the one who asked. */
    CLAIM_LEAKED_ON_FAILURE("IN-08", 200),
    /** An address that was given up still takes messages. */
    RELEASED_ADDRESS_ACCEPTS("IN-10", 200),
    /** An observer that subscribes is not told of what is unread. */
    OBSERVER_GAP("IN-07", 200),
    /** A cancel that was committed before the settlement loses to a result that was read first. */
    CANCEL_LOSES_TO_RESULT("IN-13", 500),
    /** The checkpoint leaves out what is in flight. */
    IN_FLIGHT_NOT_IN_CHECKPOINT("MB-17", 200),

    /** A message that was in flight when its agent or reader ended goes behind those that wait. */
    RECLAIM_TO_TAIL("MB-05", 200),
    /** After the host's death the message in flight is forgotten. */
    IN_FLIGHT_FORGOTTEN("MB-17", 50),
    /** The message is sent again without asking what the agent has. */
    RESEND_WITHOUT_ASKING("TN-08", 500),
    /** A settled message is delivered again. */
    REDELIVERY_AFTER_SETTLE("MB-06", 50),
    /** What the agent's record lost is not told again. */
    NO_CATCH_UP("TN-16", 200),
    /** A line is written between an interrupt and its answer. */
    LINE_INSIDE_INTERRUPT_WINDOW("TN-14", 200),
    /** A cancel waits for its place behind the messages before it. */
    CANCEL_BEHIND_QUEUE("IN-05", 200),
    /** The second reason of two is the one that stays. */
    CLOSE_REASON_OVERWRITTEN("MB-07", 1_000),
    /** A message is given out by a session that is closed. */
    OFFERED_AFTER_CLOSE("CH-03", 500),
    /** Messages are given out while the session is paused. */
    TAKEN_WHILE_PAUSED("MB-08", 200),
    /** A drain is said to be over while something is in flight. */
    DRAINED_TOO_EARLY("MB-09", 200),
    /** A reader whose feed was fenced takes what is for its successor. */
    STALE_CONSUMER_TAKES("MB-03", 1_000),
    /** A new feed leaves in the old one's hand what that had taken. */
    FEED_KEEPS_ITS_MESSAGES("MB-05", 200),
    /** A message that is said to be withdrawn has its turn all the same. */
    WITHDRAWN_AND_TOLD("MB-21", 200),
    /** Messages of different authority share a turn. */
    COMBINED_OVER_AUTHORITIES("IN-15", 200),
    /** A message that replaces waits for its place. */
    REPLACE_WAITS("TN-09", 200),
    /** A steer that was written is taken for landed. */
    STEER_TAKEN_FOR_LANDED("TN-09", 500),
    /** Released messages are put back in the wrong order. */
    RESTORED_IN_WRONG_ORDER("IN-11", 500),
    /** The time-out of a former owner closes the session. */
    FORMER_TIMEOUT_OBEYED("IN-17", 200),
    /** What was accepted before the question was asked is its answer. */
    ANSWER_FROM_BEFORE("IN-14", 500),
    /** After a turn limit nothing goes on. */
    CONTINUATION_FORGOTTEN("MB-15", 200),
    /** Turns that only go on are not counted. */
    SPIN_UNGUARDED("MB-15", 500),
    /** What the host asked of one incarnation is asked of the next. */
    INTERNAL_INHERITED("MB-16", 1_000),
    /** A reset leaves the agent what it remembers. */
    RESET_KEEPS_MEMORY("IN-20", 200),
    /** What is thrown away of the conversation stays in the agent's memory. */
    CUT_KEEPS_MEMORY("HN-04", 200),
    /** That turns were thrown away is said and not recorded, so that they are told again. */
    CUT_NOT_RECORDED("HN-04", 200),
    /** A message that kills every agent is tried for ever. */
    POISON_RUNS_FOR_EVER("MB-20", 1_000),
    /** A call that a rule denies runs. */
    DENIED_CALL_RUNS("TL-03", 200),
    /** Nobody answered whether a call may run, and it runs. */
    SILENCE_TAKEN_FOR_YES("TL-04", 200),
    /** A call that was running when its agent died has no row in the audit. */
    LOST_CALL_WITHOUT_ROW("TL-08", 200),
    /** The boundary is not asked. */
    BOUNDARY_IGNORED("MB-10", 500);

    private final String promise;
    private final int seeds;

    SeededBug(String promise, int seeds) {
        this.promise = promise;
        this.seeds = seeds;
    }

    /** Id of the promise it breaks. */
    public String promise() {
        return promise;
    }

    /** Within how many seeds it must be caught. */
    public int seeds() {
        return seeds;
    }

    /** The name for a command line: lower case with dashes. */
    public String option() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The bug of that name.
     *
     * @throws IllegalArgumentException naming those there are
     */
    public static SeededBug named(String option) {
        return Arrays.stream(values())
                .filter(b -> b.option().equals(option))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no seeded bug '" + option + "'; there are "
                        + Arrays.stream(values()).map(SeededBug::option).toList()));
    }

    /** For a store that leaves out of a checkpoint what is in flight. */
    static SnapshotRecord withoutInFlight(SnapshotRecord sound) {
        var state = (Json.Obj) Json.read(new String(sound.body(), StandardCharsets.UTF_8));
        var members = new LinkedHashMap<>(state.members());
        members.remove("turn");
        members.put("reading", Json.object().with("feed", 0).with("open", false).with("inHand", Json.array()));
        return new SnapshotRecord(
                sound.seq(), sound.version(), new Json.Obj(members).write().getBytes(StandardCharsets.UTF_8));
    }

    /**
     * A core with this mistake in it; those of a store or a host change nothing in it.
     *
     * @param sound as in {@link dev.holdfast.runtime.Options#core()}
     */
    @SuppressWarnings("exports") // the core is shown to the testkit only
    public Core plant(Core sound) {
        return new SlippingCore(sound, this);
    }
}
