package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.HoldfastException;
import dev.holdfast.SteerAnswer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The turn an agent works on: what landed, what waits to be said into it, and what ends it. Belongs to its session. */
final class TurnRun {
    private static final long STEER_ANSWER_NANOS = 5_000_000_000L;

    /** Why a running turn is being ended from here. */
    enum Stopping {
        NO,
        CANCELLED,
        BREACHED,
        CLOSED
    }

    private record Waiting(Steer steer, long due) {}

    private final HeldTurn turn;
    private final DeliveryId id;
    private final long number;
    private final long begunAt;
    private long due;
    private int questions;
    private long questionSince;
    private final List<Waiting> steers = new ArrayList<>();
    private final List<CompletableFuture<InterruptReceipt>> receipts = new ArrayList<>();
    private final Set<DeliveryId> landed = new LinkedHashSet<>();
    private final @Nullable Steer origin;
    private int calls;
    private Stopping stopping = Stopping.NO;
    private String breach = "";
    private OptionalLong interruptAt = OptionalLong.empty();
    private OptionalLong interruptDue = OptionalLong.empty();

    /** @param origin the steering message this turn is for; null for an ordinary turn */
    TurnRun(HeldTurn turn, DeliveryId id, long number, long now, long deadlineNanos, @Nullable Steer origin) {
        this.turn = turn;
        this.id = id;
        this.number = number;
        this.begunAt = now;
        this.due = now + deadlineNanos;
        this.origin = origin;
    }

    HeldTurn turn() {
        return turn;
    }

    TurnRequest request() {
        return turn.request();
    }

    DeliveryId id() {
        return id;
    }

    long number() {
        return number;
    }

    long begunAt() {
        return begunAt;
    }

    /** Counts a call of a host tool; false when there were enough. */
    boolean takesCall() {
        calls++;
        return calls <= request().maxToolCalls();
    }

    // ---- landing

    boolean hasLanded() {
        return landed.contains(id);
    }

    /** The lines of this turn that are in the agent's context, in order. */
    List<String> landed() {
        var lines = new ArrayList<String>(landed.size());
        landed.forEach(line -> lines.add(line.toString()));
        return List.copyOf(lines);
    }

    /** Whether a line of ours landed in this turn. */
    boolean land(DeliveryId line) {
        if (line.equals(id)) {
            landed.add(line);
            if (origin != null) {
                origin.land();
            }
            return true;
        }
        for (Waiting each : steers) {
            if (line.equals(each.steer().told())) {
                each.steer().land();
                landed.add(line);
                return true;
            }
        }
        return false;
    }

    /** Whether a result that names these lines is this turn's. */
    boolean owns(List<DeliveryId> lines) {
        return hasLanded()
                && (lines.isEmpty() || lines.stream().anyMatch(line -> line.equals(id) || landed.contains(line)));
    }

    // ---- steering

    void steer(Steer steer, long now) {
        steers.add(new Waiting(steer, now + STEER_ANSWER_NANOS));
    }

    /** The next message to be said into this turn: one at a time, and none behind an interrupt (TN-13, TN-14). */
    @Nullable
    Steer nextSteer() {
        if (!hasLanded() || stopping != Stopping.NO) {
            return null;
        }
        for (Waiting each : steers) {
            if (each.steer().told() == null) {
                return each.steer();
            }
            if (!each.steer().landed()) {
                return null;
            }
        }
        return null;
    }

    /** Until when a message that was said into this turn may still be acknowledged; empty when none is open. */
    OptionalLong acknowledgementDue(long now) {
        for (Waiting each : steers) {
            if (each.steer().told() != null && !each.steer().landed() && now - each.due() < 0) {
                return OptionalLong.of(each.due());
            }
        }
        return OptionalLong.empty();
    }

    void answerLateSteers(long now) {
        for (Waiting each : steers) {
            if (now - each.due() >= 0) {
                each.steer().answer().complete(SteerAnswer.QUEUED);
            }
        }
    }

    /** The messages that did not land in this turn, those already written first. */
    List<Steer> unlanded() {
        if (steers.isEmpty()) {
            return List.of();
        }
        return steers.stream()
                .map(Waiting::steer)
                .filter(steer -> !steer.landed())
                .toList();
    }

    /** Every message that landed in this turn settles with it (TN-09). */
    void settleSteers(HeldResult result) {
        for (Waiting each : steers) {
            if (each.steer().landed()) {
                each.steer().result().complete(result);
            }
        }
        if (origin != null) {
            origin.result().complete(result);
        }
    }

    void failSteers(HoldfastException why) {
        steers.stream().map(Waiting::steer).forEach(steer -> fail(steer, why));
        if (origin != null) {
            fail(origin, why);
        }
    }

    private static void fail(Steer steer, HoldfastException why) {
        steer.answer().complete(SteerAnswer.REFUSED);
        steer.result().completeExceptionally(why);
    }

    // ---- the end

    Stopping stopping() {
        return stopping;
    }

    /** Begins to end the turn; false when that has begun already. */
    boolean stop(Stopping why) {
        boolean first = stopping == Stopping.NO;
        if (first || why == Stopping.CLOSED) {
            stopping = why;
        }
        return first;
    }

    /** The interrupt waits until then for a message to be acknowledged (TN-14). */
    void interruptLater(OptionalLong until) {
        interruptAt = until;
    }

    /** The interrupt is written now; what it is to bring about is awaited until then. */
    void interruptNow(OptionalLong due) {
        interruptAt = OptionalLong.empty();
        interruptDue = due;
    }

    boolean interruptWaits() {
        return interruptAt.isPresent();
    }

    String breach() {
        return breach;
    }

    void breach(String what) {
        breach = what;
    }

    void wantsReceipt(CompletableFuture<InterruptReceipt> receipt) {
        receipts.add(receipt);
    }

    void receipt(InterruptReceipt receipt) {
        receipts.forEach(waiting -> waiting.complete(receipt));
        receipts.clear();
    }

    void failReceipts(String why) {
        receipts.forEach(waiting -> waiting.completeExceptionally(new HeldFailure.ControlFailed(why)));
        receipts.clear();
    }

    boolean interruptOverdue(long now) {
        return Alarm.passed(interruptDue, now);
    }

    /** The agent waits for an answer of ours: the turn's clock stands still (TN-04). */
    void asked(long now) {
        if (questions++ == 0) {
            questionSince = now;
        }
    }

    void answered(long now) {
        if (questions > 0 && --questions == 0) {
            due += now - questionSince;
        }
    }

    boolean overdue(long now) {
        return stopping == Stopping.NO && questions == 0 && now - due >= 0;
    }

    OptionalLong dueNanos() {
        OptionalLong running = questions == 0 ? OptionalLong.of(due) : OptionalLong.empty();
        OptionalLong next = stopping == Stopping.NO ? running : Alarm.nearer(interruptAt, interruptDue);
        for (Waiting each : steers) {
            if (!each.steer().answer().isDone()) {
                next = Alarm.nearer(next, OptionalLong.of(each.due()));
            }
        }
        return next;
    }
}
