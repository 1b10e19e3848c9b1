package dev.holdfast.runtime;

import dev.holdfast.Addresses;
import dev.holdfast.Agent;
import dev.holdfast.ArrivalKind;
import dev.holdfast.AuditRow;
import dev.holdfast.DeliveryId;
import dev.holdfast.Drained;
import dev.holdfast.EventListener;
import dev.holdfast.HoldfastException;
import dev.holdfast.OpenQuestion;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.SessionName;
import dev.holdfast.SessionStatus;
import dev.holdfast.SessionSummary;
import dev.holdfast.Subscription;
import dev.holdfast.TranscriptTurn;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Settings.Taker;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Turn;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A session of this host: what is known of it, its phases, questions, observers and readers, upon its mail
 * ({@link SessionMail}) and its life ({@link SessionLife}). What waits, watches and reads is in parts of its own
 * ({@link Callers}, {@link Internals}, {@link Watches}, {@link Chronicle}, {@link Reading}, {@link Observers}).
 * Thread-safe.
 */
final class LiveSession extends SessionMail {
    private final SessionAddresses addresses;
    private final SessionTranscript transcript;

    LiveSession(SessionName name, Taking taking, Holdfast.Parts parts) {
        super(name, taking, parts);
        addresses = new SessionAddresses(this, parts);
        transcript = new SessionTranscript(this, parts);
    }

    @Override
    LiveSession self() {
        return this;
    }

    // ---- what is known --------------------------------------------------------------------------------------------

    @Override
    public Subscription events(long after, EventListener listener) {
        var subscription = feed.subscribe(after, listener);
        watched(); // from now on an owner that rests sees that somebody listens
        return subscription;
    }

    @Override
    public SessionStatus status() {
        return Blocking.await(
                "reading session " + name,
                parts.journal()
                        .session(name)
                        .thenCombine(
                                known(),
                                (summary, now) -> status(
                                        summary.orElseThrow(() -> new HoldfastException("there is no session " + name)),
                                        now)));
    }

    private SessionStatus status(SessionSummary summary, Durable now) {
        var turn = now.turn();
        long returned = now.front().size()
                + turn.filter(t -> !t.inFlight())
                        .map(t -> (long) t.messages().size())
                        .orElse(0L);
        long inFlight = now.reading().inHand().size()
                + turn.filter(t -> t.inFlight())
                        .map(t -> (long) t.messages().size())
                        .orElse(0L);
        long queued = summary.unread() + returned;
        return new SessionStatus(
                name,
                summary.summary().phase(),
                summary.summary().phaseReason(),
                now.finishing().map(f -> f.reason()),
                queued,
                inFlight,
                summary.openTurn(),
                summary.summary().turnSince(),
                now.consumed(),
                queued == 0 && inFlight == 0 && summary.openTurn().isEmpty(),
                now.lastEnd(),
                process(),
                summary.summary().costMicros(),
                summary.summary().lastWords());
    }

    private String process() {
        synchronized (lock) {
            if (owner.isEmpty() || !told) {
                return "asleep";
            }
            return switch (live.stage()) {
                case DOWN -> "asleep";
                case PLANNED, ASKING, STARTING -> "starting";
                case READY -> live.busy() || state.turn().isPresent() ? "working" : "idle";
                case STOPPING -> "stopping";
            };
        }
    }

    /** The state by now: the owner's, when it is here and has said something; else folded from the journal. */
    @Override
    CompletionStage<Durable> known() {
        synchronized (lock) {
            return owner.isPresent() && told ? CompletableFuture.completedFuture(state) : chronicle.state();
        }
    }

    CompletionStage<Long> lastArrival() {
        return onward(parts.journal()
                .session(name)
                .thenApply(summary -> summary.map(SessionSummary::lastArrival).orElse(0L)));
    }

    /** What waits, in the order in which it is given; at most {@code max}. */
    CompletionStage<List<Received>> waiting(int max) {
        return onward(known().thenCompose(now -> chronicle.waiting(now, max)));
    }

    @Override
    public CompletionStage<Boolean> awaitMessage() {
        var answer = new CompletableFuture<Boolean>();
        boolean sleeps;
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.completedFuture(false);
            }
            awaiting.add(answer);
            watched();
            sleeps = sleepsOnMail() && owner.isEmpty();
            if (owner.isPresent()) {
                awaited();
            } else if (!sleeps) {
                signal();
            }
        }
        if (sleeps) {
            lookForState();
        }
        return answer;
    }

    // ---- phases ---------------------------------------------------------------------------------------------------

    @Override
    public CompletionStage<Receipt> evict() {
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.EVICT, ""));
    }

    @Override
    public Receipt close(String reason) {
        return Blocking.await("closing session " + name, closeAsync(reason));
    }

    @Override
    public CompletionStage<Receipt> closeAsync(String reason) {
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.CLOSE, reason));
    }

    /** Takes a parked or paused session up again; does nothing to any other. */
    @Override
    public CompletionStage<Receipt> resume() {
        synchronized (lock) {
            resumesStoring++;
        }
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.RESUME, ""))
                .whenComplete((receipt, failure) -> {
                    synchronized (lock) {
                        resumesStoring--;
                        if (receipt instanceof Receipt.Stored stored) {
                            resumeStored = Math.max(resumeStored, stored.number());
                        }
                        awaited();
                    }
                    stillParked();
                });
    }

    /** Under the lock: a wish to resume was made and is not acted on, here or on another host. */
    @Override
    boolean resuming() {
        return resumesStoring > 0 || (resumeStored > 0 && !state.named(resumeStored));
    }

    /** As {@link #resume}; completes once it was acted on. */
    CompletionStage<Boolean> resumed() {
        return acceptAndWatch(
                parts.envelope().control(name, ArrivalKind.RESUME, ""),
                before -> (own, event) -> event instanceof Event.ArrivalDone d && d.number() == own
                        ? Optional.of(true)
                        : Optional.empty());
    }

    /** Somebody reads it from now on: one that was drained for him goes on. */
    CompletionStage<Void> takenUp() {
        return known().thenCompose(now -> now.phase() == Phase.PAUSED && Core.drained(now.phaseReason())
                ? resumed().thenApply(done -> null)
                : CompletableFuture.completedFuture(null));
    }

    @Override
    public CompletionStage<Receipt> pause(String reason) {
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.PAUSE, reason));
    }

    @Override
    public CompletionStage<Drained> drain(Duration deadline) {
        if (deadline.isNegative()) {
            throw new IllegalArgumentException("a drain's deadline is not negative; got " + deadline);
        }
        var by = parts.options().surroundings().now().plus(deadline);
        var wish = parts.envelope().control(name, ArrivalKind.DRAIN, "", Optional.of(by));
        return onward(acceptAndWatch(wish, Draining::new)
                .thenCompose(over -> parts.journal().session(name).thenCombine(known(), (summary, now) -> {
                    var at = summary.orElseThrow(() -> new HoldfastException("there is no session " + name));
                    return new Drained(at.openTurn(), at.unread() + now.front().size());
                })));
    }

    /** Over when the session does not drain any more, by this wish or by an earlier one. */
    private static final class Draining implements Matching<Boolean> {
        private boolean draining;
        private boolean asked;

        Draining(SessionSummary before) {
            draining = before.summary().phase().equals(Phase.DRAINING.name());
        }

        @Override
        public Optional<Boolean> match(long own, Event event) {
            switch (event) {
                case Event.ArrivalDone d
                when d.number() == own -> {
                    asked = true;
                    draining |= d.what().equals(Event.ArrivalDone.DRAINING);
                }
                case Event.PhaseChanged p -> draining = p.trigger() == Phase.Trigger.DRAIN;
                default -> {}
            }
            return asked && !draining ? Optional.of(true) : Optional.empty();
        }
    }

    @Override
    public CompletionStage<Receipt> finish(String reason) {
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.FINISH, reason));
    }

    @Override
    public CompletionStage<Receipt> reset() {
        return submit(new Payload.Reset());
    }

    @Override
    public CompletionStage<Receipt> clear() {
        return submit(new Payload.Clear());
    }

    /** Closes the session; gives what was unread and in nobody's hand to the closer (CH-03). */
    CompletionStage<List<Received>> closeReturningUnread(String reason) {
        return parts.journal()
                .session(name)
                .thenCompose(before -> acceptAndAct(parts.envelope().control(name, ArrivalKind.CLOSE, reason))
                        .thenCompose(receipt -> receipt instanceof Receipt.Stored r
                                ? ended(r.number())
                                        .thenCompose(over -> endedSince())
                                        .thenCompose(over -> chronicle.unreadAtClose(
                                                before.map(SessionSummary::seq).orElse(0L)))
                                        .thenCompose(chronicle::load)
                                : CompletableFuture.completedFuture(List.<Received>of())));
    }

    /** Completes once that close was acted on, and everything before it ended if it was one for good. */
    private CompletionStage<Void> ended(long close) {
        return reached(now -> now.phase() == Phase.CLOSED ? now.takenThrough() >= close : now.named(close));
    }

    /** Completes once the state is so; wakes an owner that may see to it. */
    CompletionStage<Void> reached(Predicate<Durable> wanted) {
        var over = watches.state(wanted);
        synchronized (lock) {
            if (owner.isPresent() && told) {
                watches.reached(state);
            }
        }
        signal();
        return over;
    }

    /** What was accepted behind the close, before that was acted on, ends as well; closed, it accepts nothing more. */
    private CompletionStage<Void> endedSince() {
        return parts.journal()
                .session(name)
                .thenCompose(at -> at.filter(s -> s.summary().phase().equals(Phase.CLOSED.name()))
                        .map(s -> ended(s.lastArrival()))
                        .orElseGet(() -> CompletableFuture.completedFuture(null)));
    }

    // ---- who thinks -----------------------------------------------------------------------------------------------

    @Override
    public CompletionStage<Void> swap(Agent agent) {
        var open = new AtomicReference<@Nullable Optional<Long>>();
        return onward(swapped(
                agent,
                () -> reached(
                        now -> { // while mail waits the next turn opens with the end of the last
                            var turn = now.turn().map(Turn::number);
                            var first = open.compareAndExchange(null, turn);
                            return turn.isEmpty() || (first != null && !first.equals(turn));
                        })));
    }

    // ---- transcript -----------------------------------------------------------------------------------------------

    @Override
    public CompletionStage<List<TranscriptTurn>> transcript(long after, int max) {
        return onward(transcript.page(after, max));
    }

    @Override
    public CompletionStage<Receipt> regenerate() {
        return onward(transcript.regenerate(OptionalLong.empty()));
    }

    @Override
    public CompletionStage<Receipt> regenerateFrom(long turn) {
        return onward(transcript.regenerate(OptionalLong.of(turn)));
    }

    @Override
    public CompletionStage<Receipt> deleteFrom(long turn) {
        return onward(transcript.deleteFrom(turn));
    }

    @Override
    public CompletionStage<Long> fork(SessionName name, OptionalLong through) {
        return onward(transcript.fork(name, through));
    }

    // ---- questions and requests of the host -------------------------------------------------------------------------

    @Override
    public CompletionStage<Optional<String>> question(String id, String text, Duration deadline) {
        if (!Payload.ID.matcher(id).matches()) {
            throw new IllegalArgumentException(
                    "a question's id is 1 to 256 letters, digits or . _ - @ / : + =; got '" + id + "'");
        }
        var by = parts.options().surroundings().now().plus(deadline);
        return parts.journal()
                .session(name)
                .thenCompose(before -> chronicle
                        .event(event -> questionOver(id, event))
                        .thenCompose(over -> over.isPresent()
                                ? over.get()
                                : raise(before.map(SessionSummary::seq).orElse(0L), id, text, by)));
    }

    private CompletionStage<Optional<String>> raise(long after, String id, String text, Instant by) {
        var over = watches.event(after, event -> questionOver(id, event), true);
        offer(new Input.QuestionRaised(id, text, by));
        return onward(over.thenCompose(answer -> answer));
    }

    /** What became of the question, if the event says it. */
    private Optional<CompletionStage<Optional<String>>> questionOver(String id, Event event) {
        return switch (event) {
            case Event.QuestionAnswered a
            when a.id().equals(id) ->
                Optional.of(parts.transcript().text(name, a.number()).thenApply(Optional::of));
            case Event.QuestionWithdrawn w
            when w.id().equals(id) -> Optional.of(CompletableFuture.completedFuture(Optional.empty()));
            default -> Optional.empty();
        };
    }

    @Override
    public CompletionStage<List<OpenQuestion>> questions() {
        return onward(known().thenApply(now ->
                now.questions().stream().map(QuestionListeners::shown).toList()));
    }

    @Override
    public Subscription onQuestion(Consumer<OpenQuestion> handler) {
        return listeners.add(handler, known());
    }

    @Override
    public CompletionStage<List<AuditRow>> audit(long after, int max) {
        return onward(chronicle.audit(after, max));
    }

    @Override
    public CompletionStage<Receipt> answer(String question, String text) {
        return submit(new Payload.Answer(question, text));
    }

    @Override
    public CompletableFuture<Optional<String>> internal(String text) {
        var id = new DeliveryId(
                UUID.nameUUIDFromBytes(parts.options().surroundings().random(16)));
        CompletableFuture<Optional<String>> answer;
        synchronized (lock) {
            if (owner.isEmpty() || closed || changing) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            answer = internals.ask(id, text);
            owner.get().offer(new Input.InternalAsked(id));
        }
        var unused = answer.whenComplete((words, failure) -> {
            if (answer.isCancelled()) {
                offerIfAwake(new Input.InternalWithdrawn(id));
            }
        });
        return answer;
    }

    // ---- observing ------------------------------------------------------------------------------------------------

    @Override
    public Addresses addresses() {
        return addresses;
    }

    @Override
    public Subscription onInterrupt(Consumer<Received> handler) {
        var subscription = observers.onInterrupt(handler);
        watched();
        return subscription;
    }

    @Override
    public Subscription onDelivery(Consumer<Received> handler) {
        var subscription = observers.onDelivery(
                handler,
                begin().thenCompose(now -> chronicle
                        .load(now.front())
                        .thenApply(front -> new Observers.Begin(front, now.takenThrough(), now::named))));
        watched();
        return subscription;
    }

    /** The state from which on everything is told: by an owner here nothing is taken before it is known. */
    private CompletionStage<Durable> begin() {
        synchronized (lock) {
            if (owner.isPresent() && told) {
                return CompletableFuture.completedFuture(state);
            }
            if (closed) {
                return hostClosed();
            }
            if (owner.isPresent() || waking) {
                var begin = new CompletableFuture<Durable>();
                begins.add(begin);
                return begin;
            }
            var begin = chronicle.state();
            released = released.handle((ok, failure) -> null).thenCombine(begin, (ok, now) -> now);
            return begin;
        }
    }

    // ---- readers --------------------------------------------------------------------------------------------------

    /** Makes {@code next} the one reading surface, or says who is (CH-09). */
    void read(Reading next) {
        synchronized (lock) {
            if (closed) {
                throw new HoldfastException("this host is closed");
            }
            if (taking.taker() != Taker.READER) {
                throw new HoldfastException("session " + name + " is not read here any more: it was let go");
            }
            if (reading.filter(r -> !r.over()).isPresent()) {
                throw new HoldfastException("session " + name + " is read by its "
                        + reading.get().surface() + " already: close that first, or observe with onDelivery");
            }
            reading = Optional.of(next);
        }
    }

    CompletionStage<List<Received>> load(List<Taken> taken) {
        return chronicle.load(taken);
    }

    /** Ends a message that a reader took; false when it was not in flight there. */
    CompletionStage<Boolean> settle(long feedNumber, long number, Outcome outcome, String answer) {
        synchronized (lock) {
            var holds = state.reading();
            boolean inHand = owner.isPresent()
                    && holds.feed() == feedNumber
                    && holds.inHand().stream().anyMatch(m -> m.number() == number);
            if (!inHand || closed || changing) {
                return CompletableFuture.completedFuture(false);
            }
            var end = new CompletableFuture<Boolean>();
            settling.computeIfAbsent(number, n -> new ArrayList<>()).add(new Ending(outcome, answer, end));
            owner.get().offer(new Input.ReadSettled(feedNumber, number, outcome, answer));
            return end;
        }
    }

    /** Puts released messages back in front (IN-11). */
    CompletionStage<Void> restore(List<Long> numbers) {
        return parts.journal()
                .session(name)
                .thenCompose(before -> {
                    var restored = watches.event(
                            before.map(SessionSummary::seq).orElse(0L),
                            event -> event instanceof Event.MessagesRestored
                                    ? Optional.of(Boolean.TRUE)
                                    : Optional.empty(),
                            true);
                    offer(new Input.RestoreWanted(numbers));
                    return restored;
                })
                .thenCompose(done -> known())
                .thenAccept(now -> {
                    if (now.phase() == Phase.CLOSED) {
                        throw new HoldfastException(
                                "session " + name + " is closed: what was released has ended with it");
                    }
                });
    }
}
