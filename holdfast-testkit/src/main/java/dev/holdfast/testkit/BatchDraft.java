package dev.holdfast.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.Batch;
import dev.holdfast.EventRecord;
import dev.holdfast.SnapshotRecord;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A batch in the making, for tests of a store: {@code BatchDraft.after(2, "settled").taken(1, 1, 5).batch()}. What is
 * not said is absent or zero, the summary {@link #OPEN}. Not thread-safe; each draft is a batch with an id of its own.
 */
public final class BatchDraft {
    /** The summary of a session in phase OPEN. */
    public static final Batch.Summary OPEN = new Batch.Summary("OPEN", "", Optional.empty(), OptionalLong.empty(), "");

    private final UUID id = JournalFixture.unique();
    private final long expectedSeq;
    private final List<EventRecord> events;
    private Optional<Batch.Admission> admission = Optional.empty();
    private long takenThrough;
    private long done;
    private long doneBytes;
    private OptionalLong quiet = OptionalLong.empty();
    private Optional<Instant> due = Optional.empty();
    private OptionalLong turn = OptionalLong.empty();
    private OptionalLong urgentThrough = OptionalLong.empty();
    private Batch.Summary summary = OPEN;
    private Optional<SnapshotRecord> snapshot = Optional.empty();

    private BatchDraft(long expectedSeq, List<EventRecord> events) {
        this.expectedSeq = expectedSeq;
        this.events = events;
    }

    /** An event of each type, after sequence number {@code seq}. */
    public static BatchDraft after(long seq, String... types) {
        return new BatchDraft(seq, Arrays.stream(types).map(BatchDraft::event).toList());
    }

    /** One event, after sequence number {@code seq}. */
    public static BatchDraft of(long seq, EventRecord event) {
        return new BatchDraft(seq, List.of(event));
    }

    /** An event of that type with its type as its body. */
    public static EventRecord event(String type) {
        return new EventRecord(type, 1, OptionalLong.empty(), ("{" + type + "}").getBytes(UTF_8));
    }

    /** The summary of a session in phase CLOSED. */
    public static Batch.Summary closed(String words) {
        return new Batch.Summary("CLOSED", "", Optional.empty(), OptionalLong.empty(), words);
    }

    /** Whether senders are let in from now on, and what they are told if not. */
    public BatchDraft admitting(boolean open, String reason) {
        admission = Optional.of(new Batch.Admission(open, reason));
        return this;
    }

    /** Every arrival up to {@code through} is named by an event; {@code count} counted ones with so many bytes are. */
    public BatchDraft taken(long through, long count, long bytes) {
        takenThrough = through;
        done = count;
        doneBytes = bytes;
        return this;
    }

    /** No turn is open and nothing up to this arrival is unread (IN-21). */
    public BatchDraft quiet(long through) {
        quiet = OptionalLong.of(through);
        return this;
    }

    /** The earliest durable deadline. */
    public BatchDraft due(Instant at) {
        due = Optional.of(at);
        return this;
    }

    /** The turn in flight. */
    public BatchDraft turn(long number) {
        turn = OptionalLong.of(number);
        return this;
    }

    /** Appended only if no urgent arrival above {@code number} was accepted. */
    public BatchDraft ifUrgentThrough(long number) {
        urgentThrough = OptionalLong.of(number);
        return this;
    }

    /** What listings show. */
    public BatchDraft summary(Batch.Summary next) {
        summary = next;
        return this;
    }

    /** A snapshot of the last event. */
    public BatchDraft snapshot(String state) {
        return snapshot(expectedSeq + events.size(), state);
    }

    /** A snapshot of event {@code seq}, which is right only for the last one. */
    public BatchDraft snapshot(long seq, String state) {
        snapshot = Optional.of(new SnapshotRecord(seq, 3, state.getBytes(UTF_8)));
        return this;
    }

    /** The batch; each call gives one with the same id. */
    public Batch batch() {
        return new Batch(
                id,
                expectedSeq,
                events,
                admission,
                takenThrough,
                done,
                doneBytes,
                quiet,
                due,
                turn,
                urgentThrough,
                summary,
                snapshot);
    }
}
