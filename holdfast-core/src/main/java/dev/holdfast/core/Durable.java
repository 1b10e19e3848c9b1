package dev.holdfast.core;

import dev.holdfast.TurnMark;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The state of a session: a fold of its events and nothing else. Its size does not grow with the conversation.
 *
 * @param seed from which delivery ids are derived; empty before the first event
 * @param ids how many delivery ids were derived
 * @param takenThrough every arrival up to here is named by an event (IN-22)
 * @param ahead numbers above it that are named as well
 * @param ordinaryDone counted arrivals named so far; {@code ordinaryDoneBytes} their bytes (MB-18)
 * @param lastOrdinary the highest arrival with words named
 * @param front what was given back, ahead of everything waiting, in the order of acceptance (MB-05)
 * @param consumed real messages taken into turns, less those given back (MB-19)
 * @param questions asked and not answered, oldest first
 * @param approvals questions about calls of the open turn, and of one the agent started by itself, oldest first (TL-04)
 * @param started calls whose start is recorded and whose end is not
 * @param finishing set once the session takes nothing new (MB-07)
 * @param drainBy when a drain is over at the latest (MB-09)
 * @param continueAfter a turn reached its limit: it goes on once every message up to this number had its turn (MB-15)
 * @param continuations turns in a row that only went on, with no message between
 * @param forgotten turns up to here are never told again: the agent's memory of them was dropped (IN-20)
 * @param usedAt when the session was opened, or last gave a message to a turn or a reader (IN-17)
 * @param reading what a reading surface holds
 * @param released held by the releaser of an address (IN-10)
 * @param lastTurn number of the newest turn
 * @param incarnation number of the newest incarnation; {@code up} whether its end is not recorded yet
 * @param failures incarnations in a row that ended without settling anything (HS-13)
 * @param restartAt the next start waits until then
 * @param nativeSession the agent's own session
 * @param marks evidence of settled turns in it, oldest first (TN-16)
 * @param binding of the agent that the last process was planned for (HS-03); empty when none was recorded
 */
public record Durable(
        String seed,
        String harness,
        long ids,
        Phase phase,
        String phaseReason,
        long takenThrough,
        SortedSet<Long> ahead,
        long ordinaryDone,
        long ordinaryDoneBytes,
        long lastOrdinary,
        List<Taken> front,
        long consumed,
        Optional<Turn> turn,
        List<Question> questions,
        List<Approval> approvals,
        List<StartedCall> started,
        Optional<Finish> finishing,
        Optional<Instant> drainBy,
        OptionalLong continueAfter,
        int continuations,
        long forgotten,
        Instant usedAt,
        Reading reading,
        List<Taken> released,
        long lastTurn,
        long incarnation,
        boolean up,
        int failures,
        Optional<Instant> restartAt,
        Optional<String> nativeSession,
        List<TurnMark> marks,
        OptionalLong costMicros,
        String lastEnd,
        String lastWords,
        Map<String, String> binding) {

    public Durable {
        front = List.copyOf(front);
        marks = List.copyOf(marks);
        questions = List.copyOf(questions);
        approvals = List.copyOf(approvals);
        started = List.copyOf(started);
        released = List.copyOf(released);
        binding = Map.copyOf(binding);
    }

    /** Before any event. */
    public static Durable empty() {
        return new Durable(
                "",
                "",
                0,
                Phase.OPEN,
                "",
                0,
                new TreeSet<>(),
                0,
                0,
                0,
                List.of(),
                0,
                Optional.empty(),
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                OptionalLong.empty(),
                0,
                0,
                Instant.EPOCH,
                Reading.none(),
                List.of(),
                0,
                0,
                false,
                0,
                Optional.empty(),
                Optional.empty(),
                List.of(),
                OptionalLong.empty(),
                "none yet",
                "",
                Map.of());
    }

    public TurnStage turnStage() {
        return turn.map(Turn::stage).orElse(TurnStage.NONE);
    }

    /** The number of the open turn. */
    public OptionalLong openTurn() {
        return turn.map(t -> OptionalLong.of(t.number())).orElse(OptionalLong.empty());
    }

    /** The newest settled turn, 0 for none. */
    public long lastSettled() {
        return turn.isPresent() ? lastTurn - 1 : lastTurn;
    }

    /** Whether an event has named this arrival. */
    public boolean named(long number) {
        return number <= takenThrough || ahead.contains(number);
    }

    /** The newest question about the call of that key. */
    Optional<Approval> approval(String key) {
        return approvals.reversed().stream()
                .filter(a -> a.call().key().equals(key))
                .findFirst();
    }

    /** How many questions were asked about the call of that key. */
    long approvals(String key) {
        return approvals.stream().filter(a -> a.call().key().equals(key)).count();
    }

    /** Whether the messages that wait are given out. */
    boolean gives() {
        return phase == Phase.OPEN;
    }

    Draft draft() {
        return new Draft(this);
    }

    /** A changeable copy, used only inside one fold step. */
    static final class Draft {
        String seed;
        String harness;
        long ids;
        Phase phase;
        String phaseReason;
        long takenThrough;
        TreeSet<Long> ahead;
        long ordinaryDone;
        long ordinaryDoneBytes;
        long lastOrdinary;
        List<Taken> front;
        long consumed;
        Optional<Turn> turn;
        List<Question> questions;
        List<Approval> approvals;
        List<StartedCall> started;
        Optional<Finish> finishing;
        Optional<Instant> drainBy;
        OptionalLong continueAfter;
        int continuations;
        long forgotten;
        Instant usedAt;
        Reading reading;
        List<Taken> released;
        long lastTurn;
        long incarnation;
        boolean up;
        int failures;
        Optional<Instant> restartAt;
        Optional<String> nativeSession;
        List<TurnMark> marks;
        OptionalLong costMicros;
        String lastEnd;
        String lastWords;
        Map<String, String> binding;

        private Draft(Durable d) {
            seed = d.seed;
            harness = d.harness;
            ids = d.ids;
            phase = d.phase;
            phaseReason = d.phaseReason;
            takenThrough = d.takenThrough;
            ahead = new TreeSet<>(d.ahead);
            ordinaryDone = d.ordinaryDone;
            ordinaryDoneBytes = d.ordinaryDoneBytes;
            lastOrdinary = d.lastOrdinary;
            front = d.front;
            consumed = d.consumed;
            turn = d.turn;
            questions = d.questions;
            approvals = d.approvals;
            started = d.started;
            finishing = d.finishing;
            drainBy = d.drainBy;
            continueAfter = d.continueAfter;
            continuations = d.continuations;
            forgotten = d.forgotten;
            usedAt = d.usedAt;
            reading = d.reading;
            released = d.released;
            lastTurn = d.lastTurn;
            incarnation = d.incarnation;
            up = d.up;
            failures = d.failures;
            restartAt = d.restartAt;
            nativeSession = d.nativeSession;
            marks = d.marks;
            costMicros = d.costMicros;
            lastEnd = d.lastEnd;
            lastWords = d.lastWords;
            binding = d.binding;
        }

        void name(long number) {
            if (number <= takenThrough || !ahead.add(number)) {
                throw new IllegalStateException("arrival " + number + " is named by two events");
            }
            while (ahead.remove(takenThrough + 1)) {
                takenThrough++;
            }
        }

        /** A message. */
        void nameOrdinary(Taken message) {
            nameCounted(message.number(), message.bytes());
            lastOrdinary = Math.max(lastOrdinary, message.number());
        }

        /** An arrival that counts against the limit on what lies unread. */
        void nameCounted(long number, long bytes) {
            name(number);
            ordinaryDone++;
            ordinaryDoneBytes += bytes;
        }

        Durable build() {
            return new Durable(
                    seed,
                    harness,
                    ids,
                    phase,
                    phaseReason,
                    takenThrough,
                    ahead,
                    ordinaryDone,
                    ordinaryDoneBytes,
                    lastOrdinary,
                    front,
                    consumed,
                    turn,
                    questions,
                    approvals,
                    started,
                    finishing,
                    drainBy,
                    continueAfter,
                    continuations,
                    forgotten,
                    usedAt,
                    reading,
                    released,
                    lastTurn,
                    incarnation,
                    up,
                    failures,
                    restartAt,
                    nativeSession,
                    marks,
                    costMicros,
                    lastEnd,
                    lastWords,
                    binding);
        }
    }
}
