package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.CloseReason;
import dev.holdfast.Limits;
import dev.holdfast.Outcome;
import dev.holdfast.SessionPolicy;
import dev.holdfast.StopMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What arrivals do: urgent ones ahead of the queue, the others in their place. */
abstract sealed class Mail extends Turns permits Feeds {
    /** What the reason of a drain begins with when somebody had paused the session before. */
    static final String PAUSED = "paused: ";

    Mail(Limits limits, Fold fold, Durable durable, Live live, Instant now) {
        super(limits, fold, durable, live, now);
    }

    final void arrived(Input.Arrived input) {
        var waiting = new TreeMap<>(live.waiting.tailMap(durable.takenThrough(), false));
        var apart = new TreeMap<>(live.apart.tailMap(durable.takenThrough(), false));
        for (Header h : input.headers()) {
            if (!durable.named(h.number())) {
                waiting.put(h.number(), h);
                if (h.kind() != ArrivalKind.MESSAGE || h.wish().afterIdle()) {
                    apart.put(h.number(), h);
                }
            }
        }
        live.seenThrough = Math.max(live.seenThrough, input.through());
        live.waiting = waiting;
        live.apart = apart;
        for (Header h : apart.values()) {
            boolean ahead = actsAhead(h.kind()) || h.kind() == ArrivalKind.RESET;
            if (ahead && !durable.named(h.number())) {
                urgent(h);
            }
        }
        if (durable.phase() == Phase.CLOSED) {
            endWaiting();
        }
    }

    private void urgent(Header h) {
        switch (h.kind()) {
            case CANCEL -> cancel(h);
            case SESSION_TIMEOUT -> timeOut(h);
            case RESET, REPLACE -> interruptBound(h);
            case CLOSE -> close(h);
            case RESUME -> resume(h);
            case EVICT -> evict(h);
            case ANSWER -> answer(h);
            case PAUSE -> pause(h);
            case DRAIN -> drain(h);
            case FINISH -> finish(h);
            case WITHDRAW -> withdraw(h);
            case RELEASE -> release(h);
            case PAST -> copy(h);
            case MESSAGE, STEER, CLEAR, CUT, COMPACT, AUTHORIZATION, TOOL_RUN ->
                throw new IllegalStateException(h.kind() + " is not urgent");
        }
    }

    final void done(Header h, String what) {
        done(h.taken(), what);
    }

    private void done(Taken m, String what) {
        emit(new Event.ArrivalDone(m.number(), m.kind(), m.bytes(), what));
    }

    // ---- cancels --------------------------------------------------------------------------------------------------

    /** IN-06: a cancel names a turn or a message; unnamed, it binds to what stood when it was accepted. */
    private void cancel(Header h) {
        if (h.wish().turn().isPresent()) {
            cancelTurn(h, h.wish().turn().getAsLong());
        } else if (h.wish().message().isPresent()) {
            cancelMessage(h, h.wish().message().getAsLong());
        } else if (h.boundTurn().isPresent()) {
            cancelTurn(h, h.boundTurn().getAsLong());
        } else {
            cancelNext(h);
        }
    }

    private void cancelTurn(Header h, long target) {
        if (target > durable.lastTurn()) {
            done(h, "there is no turn " + target);
        } else {
            endTurnFor(h, open(target), "turn " + target);
        }
    }

    private boolean open(long turn) {
        return durable.turn().filter(t -> t.number() == turn).isPresent();
    }

    /** A message that runs before everything, or a reset: the turn it was bound to ends, once. */
    private void interruptBound(Header h) {
        boolean bound = h.boundTurn().isPresent() && open(h.boundTurn().getAsLong());
        if (bound && durable.turnStage() != TurnStage.ENDING) {
            endTurn(0, true, h.kind() == ArrivalKind.RESET ? "reset" : "replaced by message " + h.number());
        }
    }

    /** The message next to run when the cancel was accepted: it may have begun since. */
    private void cancelNext(Header h) {
        long first = h.boundAfter() + 1; // not named when the cancel was accepted
        boolean openedSince = durable.turn()
                .filter(t -> t.original().kind() != Told.Kind.INTERNAL)
                .filter(t -> t.original().carries(first)
                        || (t.afterOrdinary() <= h.boundAfter() && !t.original().carriesOnlyAfter(h.number())))
                .isPresent(); // none was open then, and this is the first that was opened since
        if (openedSince) {
            endTurnFor(h, true, "");
            return;
        }
        var next = messages().filter(m -> m.number() < h.number()).findFirst();
        boolean takenSince = durable.named(first)
                && durable.lastOrdinary() > h.boundAfter()
                && next.filter(m -> m.number() < durable.lastOrdinary()).isEmpty(); // that one was taken out of turn
        if (takenSince) {
            next = Optional.empty();
        }
        if (next.isPresent()) {
            takeOut(h, next.get(), Outcome.CANCELLED, "cancelled before its turn");
        } else if (takenSince || readThrough(h.number() - 1)) {
            done(h, "nothing was running or waiting");
        }
    }

    /** Urgent arrivals are read ahead (IN-05): one that is about a message waits until that message was read. */
    final boolean readThrough(long number) {
        return Math.max(live.seenThrough, durable.takenThrough()) >= number;
    }

    private void cancelMessage(Header h, long number) {
        if (durable.turn().filter(t -> t.original().carries(number)).isPresent()) {
            endTurnFor(h, true, "");
            return;
        }
        var waits = waitingMessage(number);
        if (waits.isPresent()) {
            takeOut(h, waits.get(), Outcome.CANCELLED, "cancelled before its turn");
        } else if (durable.named(number) || readThrough(Math.min(number, h.number() - 1))) {
            boolean none = number >= h.number();
            done(h, none ? "there is no message " + number : "message " + number + " is not waiting any more");
        }
    }

    /** A message with words that waits, and is not being told as a steer. */
    private Optional<Taken> waitingMessage(long number) {
        boolean steering = durable.turn()
                .flatMap(Turn::openSteer)
                .filter(s -> s.carries(number))
                .isPresent();
        return Optional.ofNullable(live.waiting.get(number))
                .filter(w -> !steering && w.kind().speaks() && !durable.named(number))
                .map(Header::taken)
                .or(() -> durable.front().stream()
                        .filter(m -> m.number() == number)
                        .findFirst());
    }

    private void takeOut(Header h, Taken message, Outcome outcome, String why) {
        done(
                h,
                outcome == Outcome.WITHDRAWN
                        ? Event.ArrivalDone.WITHDRAWN
                        : "message " + message.number() + " taken out of the queue");
        emit(new Event.MessageEnded(message, outcome, false, "", why));
    }

    private void endTurnFor(Header h, boolean isOpen, String what) {
        if (!isOpen) {
            done(h, what + " is not open any more");
        } else if (durable.turnStage() == TurnStage.ENDING) {
            done(h, "the turn is being ended already");
        } else {
            endTurn(h.number(), true, "cancelled");
        }
    }

    /** MB-21: exactly one of take and withdraw wins. */
    private void withdraw(Header h) {
        long number = h.wish().message().orElseThrow();
        var waits = waitingMessage(number);
        if (waits.isPresent()) {
            takeOut(h, waits.get(), Outcome.WITHDRAWN, "withdrawn before its turn");
        } else if (number >= h.number()) {
            done(h, Event.ArrivalDone.UNKNOWN_MESSAGE);
        } else if (durable.named(number) || readThrough(number)) {
            done(h, tooLate(number));
        }
    }

    private String tooLate(long number) {
        return durable.turn()
                .filter(t -> t.told().stream().anyMatch(l -> l.carries(number)))
                .map(t -> "too late: message " + number + " is in turn " + t.number())
                .orElseGet(() -> durable.reading().inHand().stream().anyMatch(m -> m.number() == number)
                        ? "too late: a reader has taken message " + number
                        : "too late: message " + number + " has ended, or carries no words");
    }

    /** IN-10: everything accepted before and not read is handed to the releaser. */
    private void release(Header h) {
        if (durable.phase() == Phase.CLOSED) {
            emit(new Event.MessagesReleased(h.number(), List.of())); // what waits ends with the session
            return;
        }
        if (!readThrough(h.number() - 1)) {
            return;
        }
        var steering =
                durable.turn().flatMap(Turn::openSteer).map(Told::messages).orElse(List.of());
        var before = Stream.concat(durable.front().stream(), unnamed().map(Header::taken))
                .filter(m -> m.number() < h.number() && !steering.contains(m))
                .filter(m -> m.kind().speaks() || live.settings.reader())
                .toList();
        boolean closed = durable.phase() == Phase.CLOSED; // then they end, and are handed to nobody
        emit(new Event.MessagesReleased(h.number(), closed ? List.of() : before));
    }

    /** IN-11: in front, in their order; what is not held is passed over. */
    final void restore(Input.RestoreWanted r) {
        var back = durable.released().stream()
                .filter(m -> r.numbers().contains(m.number()))
                .toList();
        emit(new Event.MessagesRestored(durable.phase() == Phase.CLOSED ? List.of() : back));
    }

    // ---- phases ---------------------------------------------------------------------------------------------------

    private void resume(Header h) {
        boolean held = Phase.TABLE.allows(durable.phase(), Phase.Trigger.RESUME);
        done(h, held ? "resumed" : "nothing to resume");
        if (held) {
            change(Phase.Trigger.RESUME, "", durable.turn().map(t -> now.plus(limits.turn())));
        }
    }

    /** MB-08: nothing is given any more; the open turn may end. */
    private void pause(Header h) {
        boolean can = Phase.TABLE.allows(durable.phase(), Phase.Trigger.PAUSE);
        done(h, can ? "pausing" : "nothing to pause");
        if (can) {
            change(Phase.Trigger.PAUSE, h.wish().note());
        }
    }

    /** MB-09. What is paused and has no process has nothing in flight that could end. */
    private void drain(Header h) {
        boolean rests = durable.phase() == Phase.PAUSED
                && live.stage == AgentStage.DOWN
                && durable.reading().inHand().isEmpty();
        boolean can = !rests && Phase.TABLE.allows(durable.phase(), Phase.Trigger.DRAIN);
        done(h, can ? Event.ArrivalDone.DRAINING : "nothing to drain");
        if (can) {
            live.internal = List.of();
            boolean paused = durable.phase() == Phase.PAUSED && !Core.drained(durable.phaseReason());
            change(
                    Phase.Trigger.DRAIN,
                    paused ? PAUSED + durable.phaseReason() : h.wish().note(),
                    h.wish().deadline());
        }
    }

    /** MB-07: the first reason stays. */
    private void finish(Header h) {
        if (durable.phase() == Phase.CLOSED) {
            done(h, "closed already");
        } else if (durable.finishing().isPresent()) {
            done(h, "being finished already");
        } else {
            emit(new Event.FinishAsked(h.number(), h.wish().note()));
        }
    }

    private void close(Header h) {
        if (durable.phase() == Phase.CLOSED) {
            done(h, "closed already");
        } else if (CloseReason.recoverable(h.wish().note())) {
            pause(h);
        } else {
            done(h, "closing");
            shut(h.wish().note());
        }
    }

    /** IN-17: of this owner, and only when nothing was accepted before it that is still to be done. */
    private void timeOut(Header h) {
        boolean mine = h.wish().epoch().isPresent() && h.wish().epoch().getAsLong() == live.epoch;
        boolean busy = durable.turn().isPresent()
                || durable.phase() == Phase.CLOSED
                || durable.continueAfter().isPresent()
                || !durable.front().isEmpty()
                || unnamed().anyMatch(w -> w.number() < h.number());
        if (!mine) {
            done(h, "of a former owner: nothing was done");
        } else if (busy) {
            done(h, "the session is not idle: nothing was done");
        } else if (readThrough(h.number() - 1)) {
            done(h, "closing");
            shut("nothing happened for too long");
        }
    }

    /** Ends the session and everything in it. */
    final void shut(String reason) {
        change(Phase.Trigger.CLOSE, durable.finishing().map(Finish::reason).orElse(reason));
        var why = durable.phaseReason();
        durable.turn().ifPresent(t -> settleWithoutResult(Outcome.CLOSED, why));
        List.copyOf(durable.questions()).forEach(q -> emit(new Event.QuestionWithdrawn(q.id(), "closed")));
        for (Taken m : durable.reading().inHand()) {
            emit(new Event.MessageEnded(m, Outcome.CLOSED, true, "", why));
        }
        for (Taken m : durable.released()) {
            if (m.kind().speaks()) {
                emit(new Event.MessageEnded(m, Outcome.CLOSED, false, "", why));
            }
        }
        endWaiting();
    }

    private void endWaiting() {
        for (Taken m : List.copyOf(durable.front())) {
            if (m.kind().speaks()) {
                emit(new Event.MessageEnded(m, Outcome.CLOSED, false, "", durable.phaseReason()));
            } else {
                done(m, "the session is closed");
            }
        }
        for (Header w : unnamed().toList()) {
            if (w.kind().speaks()) {
                emit(new Event.MessageEnded(w.taken(), Outcome.CLOSED, false, "", durable.phaseReason()));
            } else if (!actsAhead(w.kind())) {
                done(w, "the session is closed");
            }
        }
    }

    /** Whether a kind is done with when it is announced; the others wait for their place. */
    private boolean actsAhead(ArrivalKind kind) {
        return switch (kind) {
            case CANCEL, SESSION_TIMEOUT -> !live.settings.reader();
            case RESET -> false;
            default -> kind.urgent();
        };
    }

    private void evict(Header h) {
        boolean can = live.stage == AgentStage.READY && durable.turn().isEmpty() && !live.busy;
        done(h, can ? "evicting" : "nothing to evict");
        live.freeSlot |= can; // a turn just over is followed by idle, and the end by that
    }

    // ---- questions ------------------------------------------------------------------------------------------------

    final void ask(Input.QuestionRaised q) {
        boolean open = durable.questions().stream().anyMatch(o -> o.id().equals(q.id()));
        if (durable.phase() == Phase.CLOSED) {
            emit(new Event.QuestionWithdrawn(q.id(), "closed")); // who asks learns that
        } else if (!open && !now.isBefore(q.deadline())) {
            emit(new Event.QuestionWithdrawn(q.id(), "deadline passed"));
        } else if (!open) {
            long after = Math.max(live.seenThrough, durable.takenThrough());
            emit(new Event.QuestionAsked(q.id(), q.text(), q.deadline(), after, Optional.empty()));
        }
    }

    /** IN-14: only what was accepted after the question was shown, and names it, answers it. */
    private void answer(Header h) {
        var open = durable.questions().stream()
                .filter(q -> q.id().equals(h.wish().subject()))
                .findFirst();
        if (open.isEmpty()) {
            done(h, "no such question is open");
        } else if (h.number() <= open.get().after()) {
            done(h, "accepted before the question was shown");
        } else {
            emit(new Event.QuestionAnswered(open.get().id(), h.number()));
            questionOver(open.get().id());
            goOn();
        }
    }

    /** TN-04: while a question was open, only its own deadline counted. */
    private void goOn() {
        durable.turn()
                .filter(t -> durable.questions().isEmpty() && t.stage() != TurnStage.ENDING)
                .ifPresent(t -> emit(new Event.DeadlineMoved(t.number(), now.plus(limits.turn()))));
    }

    /** Not before what was accepted while nobody owned the session was read: an answer may be among it. */
    final void questionDeadlines() {
        if (waking) {
            return;
        }
        for (Question q : List.copyOf(durable.questions())) {
            if (!now.isBefore(q.deadline())) {
                emit(new Event.QuestionWithdrawn(q.id(), "deadline passed"));
                questionOver(q.id());
                goOn();
            }
        }
    }

    // ---- what is next ---------------------------------------------------------------------------------------------

    /** Arrivals read and not named, in order. */
    final Stream<Header> unnamed() {
        return unnamed(live.waiting, durable.takenThrough());
    }

    /** Those of them that may run out of their turn: all but messages that wait for it, of which there may be thousands. */
    final Stream<Header> apart() {
        return unnamed(live.apart, durable.takenThrough());
    }

    /** By their numbers: a view of a part of a map counts its values before it gives the first one out. */
    private Stream<Header> unnamed(NavigableMap<Long, Header> of, long after) {
        return of.tailMap(after, false).keySet().stream()
                .filter(n -> !durable.named(n))
                .map(n -> Objects.requireNonNull(of.get(n)));
    }

    /** Messages in the order of their turns, whatever stands between them in its place. */
    final Stream<Taken> messages() {
        return order(true).filter(m -> m.kind().speaks());
    }

    /** The arrival that is next: words for a turn, or what is done in its place. */
    private Optional<Taken> next() {
        return order(rests() && durable.continueAfter().isEmpty()).findFirst();
    }

    /**
     * What waits, first to last: words that run before everything, what was given back, and the rest in its place.
     *
     * @param patient with those that wait until nothing else is left to do (TN-09)
     */
    private Stream<Taken> order(boolean patient) {
        var replacing = apart().filter(h -> h.kind() == ArrivalKind.REPLACE);
        var willing = unnamed()
                .filter(this::inPlace)
                .filter(h -> h.kind() != ArrivalKind.REPLACE && !h.wish().afterIdle());
        var last = apart().filter(this::inPlace).filter(h -> patient && h.wish().afterIdle());
        return Stream.of(
                        replacing.map(Header::taken),
                        durable.front().stream(),
                        willing.map(Header::taken),
                        last.map(Header::taken))
                .flatMap(part -> part);
    }

    /** Whether it waits for its place in the queue; one that was read ahead has none before the others are read. */
    private boolean inPlace(Header h) {
        return h.kind().counted() || (h.kind() == ArrivalKind.RESET && readThrough(h.number() - 1));
    }

    /** Opens the next turn, after doing what stands before it in its place. */
    final void openNext() {
        live.judging = OptionalLong.empty();
        while (durable.turn().isEmpty()
                && durable.gives()
                && !live.leaving
                && !waking
                && !durable.seed().isEmpty()
                && live.settings.agent()) {
            var next = next();
            if (!live.internal.isEmpty() && live.stage == AgentStage.READY) {
                var id = live.internal.getFirst();
                live.internal = live.internal.stream().skip(1).toList();
                openTurn(Told.Kind.INTERNAL, id, List.of(), false);
            } else if (goesOn(next)) {
                openTurn(Told.Kind.AFTER_LIMIT, nextId(), List.of(), false);
            } else if (next.filter(m -> m.kind().speaks()).isPresent()) {
                next.filter(this::letThrough).ifPresent(m -> openTurn(Told.Kind.MESSAGE, nextId(), together(m), false));
                return;
            } else if (next.filter(this::doneInPlace).isEmpty()) {
                return;
            }
        }
    }

    /** MB-15: once everything that waited when the limit was reached had its turn. */
    private boolean goesOn(Optional<Taken> next) {
        return durable.continueAfter().isPresent()
                && durable.front().isEmpty()
                && readThrough(durable.continueAfter().getAsLong())
                && next.filter(m ->
                                m.number() <= durable.continueAfter().getAsLong() || m.kind() == ArrivalKind.REPLACE)
                        .isEmpty();
    }

    /** MB-10: asks the boundary about every message but an incarnation's first, and only while its answer can end it. */
    private boolean letThrough(Taken m) {
        if (live.stopCause.equals(Optional.of(Event.EndCause.BOUNDARY))) {
            return false; // it is the first of the next one
        }
        boolean asks = live.settings.boundary() && live.stage == AgentStage.READY && live.spoken;
        if (!asks || live.judged.equals(OptionalLong.of(m.number()))) {
            return true;
        }
        if (rests()) {
            live.judging = OptionalLong.of(m.number());
        }
        return false;
    }

    /** The message, and those right behind it that may share its turn (IN-15); with a boundary each is looked at alone. */
    private List<Taken> together(Taken first) {
        var all = new ArrayList<Taken>();
        all.add(first);
        var head = live.waiting.get(first.number());
        if (!live.settings.combine()
                || live.settings.boundary()
                || head == null
                || head.kind() != ArrivalKind.MESSAGE
                || head.wish().afterIdle()) {
            return all;
        }
        var behind = unnamed(live.waiting, first.number()).filter(this::inPlace).limit(SessionPolicy.COMBINED_MAX);
        for (Header h : behind.toList()) {
            boolean alike = h.kind() == ArrivalKind.MESSAGE
                    && !h.wish().afterIdle()
                    && h.wish().sender().equals(head.wish().sender());
            if (!alike || all.size() == SessionPolicy.COMBINED_MAX) {
                break;
            }
            all.add(h.taken());
        }
        return all;
    }

    /** What carries no words, when it is next. True when it is done; else its process has to end first. */
    private boolean doneInPlace(Taken m) {
        switch (m.kind()) {
            case RESET, CLEAR -> {
                return forget(m);
            }
            case CUT -> {
                return cut(m);
            }
            case COMPACT -> done(m, "not done: this version does not compact");
            default -> done(m, "given back, and of no use to an agent");
        }
        return true;
    }

    /** HN-14: only at the beginning of a session, and in order. */
    private void copy(Header h) {
        long turn = h.wish().turn().orElse(0);
        boolean begins = durable.incarnation() == 0 && durable.turn().isEmpty() && durable.phase() != Phase.CLOSED;
        if (begins && turn == durable.lastTurn() + 1) {
            long entries = h.wish().message().orElse(0);
            emit(new Event.TurnCopied(turn, h.number(), Outcome.valueOf(h.wish().note()), entries));
        } else {
            done(h, "not taken: the session has turns of its own");
        }
    }

    /** HN-04: as {@link #forget}, of a part. */
    private boolean cut(Taken m) {
        long from = Optional.ofNullable(live.waiting.get(m.number()))
                .map(h -> h.wish().turn())
                .flatMap(t -> t.isPresent() ? Optional.of(t.getAsLong()) : Optional.empty())
                .orElse(Long.MAX_VALUE);
        if (from > durable.lastTurn()) {
            done(m, "there is no such turn");
            return true;
        }
        if (!memoryGone(m)) {
            return false;
        }
        done(m, "turns from " + from + " on were thrown away");
        emit(new Event.TranscriptCut(from, "asked for by arrival " + m.number()));
        return true;
    }

    /** IN-20: in its place, once the process that remembers is gone. */
    private boolean forget(Taken m) {
        if (!memoryGone(m)) {
            return false;
        }
        done(m, "the agent's memory was dropped");
        emit(new Event.MemoryDropped(durable.lastTurn(), m.kind() == ArrivalKind.RESET ? "reset" : "cleared"));
        return true;
    }

    /** Whether no process remembers; one that does is ended. */
    private boolean memoryGone(Taken m) {
        if (live.stage == AgentStage.PLANNED) {
            abandon();
        }
        if (live.stage == AgentStage.DOWN) {
            return true;
        }
        if (m.kind() == ArrivalKind.RESET && live.busy) {
            stop(StopMode.BUSY, Event.EndCause.FORGOTTEN);
        } else if (rests()) {
            stopIdle(Event.EndCause.FORGOTTEN);
        }
        return false;
    }

    /** MB-07 and IN-17: closes what is finished and worked off, or lay unused for too long. */
    final void closeWhatIsOver() {
        if (durable.phase() == Phase.CLOSED
                || durable.turn().isPresent()
                || !durable.reading().inHand().isEmpty()) {
            return;
        }
        boolean empty = SessionCore.nothingLeft(durable, live.build());
        var finish = durable.finishing().filter(f -> readThrough(f.number() - 1));
        if (finish.isPresent()
                && empty
                && durable.gives()
                && durable.continueAfter().isEmpty()) {
            shut(finish.get().reason());
        } else if (empty
                && !durable.seed().isEmpty()
                && !now.isBefore(SessionCore.unusedAt(limits, durable, live.awakeAt))) {
            shut("no turn for " + limits.unused().toDays() + " days");
        }
    }
}
