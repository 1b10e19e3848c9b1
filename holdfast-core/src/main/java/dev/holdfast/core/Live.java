package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import dev.holdfast.StopMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * What this owner knows and nobody journals. Lost with the host, and rebuilt by asking.
 *
 * @param epoch the claim's
 * @param awakeAt since when the claim is held
 * @param stage of the current incarnation
 * @param plan how to start it, once the agent's knowledge is there
 * @param landed lines known to be in the agent's context
 * @param toldThrough the newest turn this incarnation was told of, by memory, catch-up or line
 * @param told the line written and not acknowledged yet (TN-13)
 * @param awaitIdle a result came and the agent did not say idle yet: no line may be written (TN-03)
 * @param busy the agent says it works
 * @param interrupt the interrupt window (TN-14)
 * @param endBy when ending the turn has lasted too long
 * @param stop how the process is being ended
 * @param calls calls of tools of this incarnation, by call id
 * @param callOrdinals how often a call with the same tool and input was asked in this attempt
 * @param waiting arrivals read and not named, by number
 * @param apart those of them that may run out of their turn, so that finding one does not grow with the queue (IN-05)
 * @param seenThrough the highest arrival number read
 * @param idleSince since when the process does nothing
 * @param leaving the host stops: nothing new is begun
 * @param freeSlot the process is to end at rest: its slot is wanted, or an eviction was asked for
 * @param settings how the owner treats the mail
 * @param spoken a line was told to this incarnation
 * @param judging the message the boundary is asked about, only while the agent rests; {@code judged} the one it let
 *     through (MB-10)
 * @param internal requests for this incarnation that wait (MB-16)
 * @param stopCause why the process is being ended, when it is recorded as such
 * @param asked how many requests of the host were looked at by this owner
 * @param takes how many takes of readers were looked at by this owner
 * @param demand what the feed's reader waits for
 * @param wear of the present process (HS-14)
 * @param ofOthers a result came that settles nothing of ours, and the agent did not say idle yet
 * @param notes events that need no commit of their own and ride with the next
 */
public record Live(
        long epoch,
        Instant awakeAt,
        AgentStage stage,
        Optional<Plan> plan,
        Set<DeliveryId> landed,
        long toldThrough,
        Optional<DeliveryId> told,
        boolean awaitIdle,
        boolean busy,
        InterruptWindow interrupt,
        Optional<Instant> endBy,
        Optional<StopMode> stop,
        Map<String, Call> calls,
        Map<String, Integer> callOrdinals,
        NavigableMap<Long, Header> waiting,
        NavigableMap<Long, Header> apart,
        long seenThrough,
        Optional<Instant> idleSince,
        boolean leaving,
        boolean freeSlot,
        Settings settings,
        boolean spoken,
        OptionalLong judging,
        OptionalLong judged,
        List<DeliveryId> internal,
        Optional<Event.EndCause> stopCause,
        long asked,
        long takes,
        Optional<Demand> demand,
        Wear wear,
        boolean ofOthers,
        List<Event> notes) {

    public static Live none() {
        return new Live(
                0,
                Instant.EPOCH,
                AgentStage.DOWN,
                Optional.empty(),
                Set.of(),
                0,
                Optional.empty(),
                false,
                false,
                InterruptWindow.CLOSED,
                Optional.empty(),
                Optional.empty(),
                Map.of(),
                Map.of(),
                new TreeMap<>(),
                new TreeMap<>(),
                0,
                Optional.empty(),
                false,
                false,
                Settings.standard(),
                false,
                OptionalLong.empty(),
                OptionalLong.empty(),
                List.of(),
                Optional.empty(),
                0,
                0,
                Optional.empty(),
                Wear.NONE,
                false,
                List.of());
    }

    /**
     * How long a process runs, and what it went through.
     *
     * @param since when its start was begun
     * @param turns that it ended, its own included
     * @param memory what it held when it last said so, in bytes; 0 before
     */
    public record Wear(Optional<Instant> since, int turns, long memory) {
        static final Wear NONE = new Wear(Optional.empty(), 0, 0);
    }

    /** As in {@link Input.TakeWanted}. */
    public record Demand(int max, boolean waits, long through) {}

    /**
     * How to start an incarnation.
     *
     * @param covers the newest turn the agent remembers by itself
     */
    public record Plan(String nativeSession, boolean resume, long covers, Optional<Effect.CatchUp> catchUp) {}

    /** From writing an interrupt until it is answered and the agent is idle, no other line is written (TN-14). */
    public enum InterruptWindow {
        CLOSED,
        WRITTEN,
        ANSWERED
    }

    Draft draft() {
        return new Draft(this);
    }

    /** A changeable copy, used only inside one decision. */
    static final class Draft {
        long epoch;
        Instant awakeAt;
        AgentStage stage;
        Optional<Plan> plan;
        Set<DeliveryId> landed;
        long toldThrough;
        Optional<DeliveryId> told;
        boolean awaitIdle;
        boolean busy;
        InterruptWindow interrupt;
        Optional<Instant> endBy;
        Optional<StopMode> stop;
        Map<String, Call> calls;
        Map<String, Integer> callOrdinals;
        NavigableMap<Long, Header> waiting;
        NavigableMap<Long, Header> apart;
        long seenThrough;
        Optional<Instant> idleSince;
        boolean leaving;
        boolean freeSlot;
        Settings settings;
        boolean spoken;
        OptionalLong judging;
        OptionalLong judged;
        List<DeliveryId> internal;
        Optional<Event.EndCause> stopCause;
        long asked;
        long takes;
        Optional<Demand> demand;
        Wear wear;
        boolean ofOthers;
        List<Event> notes;

        private Draft(Live l) {
            epoch = l.epoch;
            awakeAt = l.awakeAt;
            stage = l.stage;
            plan = l.plan;
            landed = new LinkedHashSet<>(l.landed);
            toldThrough = l.toldThrough;
            told = l.told;
            awaitIdle = l.awaitIdle;
            busy = l.busy;
            interrupt = l.interrupt;
            endBy = l.endBy;
            stop = l.stop;
            calls = new LinkedHashMap<>(l.calls);
            callOrdinals = new LinkedHashMap<>(l.callOrdinals);
            waiting = l.waiting;
            apart = l.apart;
            seenThrough = l.seenThrough;
            idleSince = l.idleSince;
            leaving = l.leaving;
            freeSlot = l.freeSlot;
            settings = l.settings;
            spoken = l.spoken;
            judging = l.judging;
            judged = l.judged;
            internal = l.internal;
            stopCause = l.stopCause;
            asked = l.asked;
            takes = l.takes;
            demand = l.demand;
            wear = l.wear;
            ofOthers = l.ofOthers;
            notes = new ArrayList<>(l.notes);
        }

        /** Forgets everything about the incarnation that just ended. */
        void incarnationOver() {
            plan = Optional.empty();
            landed = new LinkedHashSet<>();
            toldThrough = 0;
            told = Optional.empty();
            awaitIdle = false;
            busy = false;
            interrupt = InterruptWindow.CLOSED;
            endBy = Optional.empty();
            stop = Optional.empty();
            calls = new LinkedHashMap<>();
            callOrdinals = new LinkedHashMap<>();
            idleSince = Optional.empty();
            freeSlot = false;
            spoken = false;
            judging = OptionalLong.empty();
            judged = OptionalLong.empty();
            internal = List.of();
            stopCause = Optional.empty();
            wear = Wear.NONE;
            ofOthers = false;
        }

        Live build() {
            return new Live(
                    epoch,
                    awakeAt,
                    stage,
                    plan,
                    landed,
                    toldThrough,
                    told,
                    awaitIdle,
                    busy,
                    interrupt,
                    endBy,
                    stop,
                    calls,
                    callOrdinals,
                    waiting,
                    apart,
                    seenThrough,
                    idleSince,
                    leaving,
                    freeSlot,
                    settings,
                    spoken,
                    judging,
                    judged,
                    internal,
                    stopCause,
                    asked,
                    takes,
                    demand,
                    wear,
                    ofOthers,
                    List.copyOf(notes));
        }
    }
}
