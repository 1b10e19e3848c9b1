package dev.holdfast.runtime;

import dev.holdfast.AgentUnavailable;
import dev.holdfast.Arrival;
import dev.holdfast.Author;
import dev.holdfast.Beat;
import dev.holdfast.Delivery;
import dev.holdfast.DeliveryId;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.HoldfastException;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.SessionName;
import dev.holdfast.SessionPolicy;
import dev.holdfast.SessionSummary;
import dev.holdfast.SteerAnswer;
import dev.holdfast.ToolProgress;
import dev.holdfast.Withdrawal;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is sent to a session and how it ends: callers are completed from committed events only. Thread-safe. */
abstract class SessionMail extends SessionLife {
    private static final Logger LOG = LoggerFactory.getLogger(LiveSession.class);
    private static final Set<String> UNAVAILABLE = Set.of("not_found", "not_logged_in", "wrong_version");
    private static final Duration STEER_WAIT = Duration.ofSeconds(5);

    SessionMail(SessionName name, Taking taking, Holdfast.Parts parts) {
        super(name, taking, parts);
    }

    /** Under the lock: a wish to resume was made and is not acted on. */
    abstract boolean resuming();

    abstract CompletionStage<Durable> known();

    // ---- committed events -----------------------------------------------------------------------------------------

    @Override
    public void recovered(Durable recovered) {
        synchronized (lock) {
            now(recovered, Live.none());
            begins.forEach(b -> elsewhere(() -> b.complete(recovered)));
            begins.clear();
        }
    }

    @Override
    public void committed(List<Event> events, Durable next, Live nextLive) {
        synchronized (lock) {
            now(next, nextLive);
            for (Event event : events) {
                Chronicle.replies(event).forEach(callers::ended);
                switch (event) {
                    case Event.TurnSettled e -> beats.settled(e.turn(), e.outcome(), beat -> feed.beat(e.turn(), beat));
                    case Event.SteerLanded e -> callers.steered(e.message().number(), SteerAnswer.LANDED);
                    case Event.TurnOpened e ->
                        e.messages().forEach(m -> callers.steered(m.number(), SteerAnswer.QUEUED));
                    case Event.PhaseChanged e -> phaseChanged(e);
                    case Event.ArrivalDone e -> wordless(e.number(), e.kind() + ": " + e.what());
                    case Event.MessagesTaken e ->
                        e.messages().stream()
                                .filter(m -> !m.kind().speaks())
                                .forEach(m -> wordless(m.number(), m.kind() + ", which a reader has taken"));
                    case Event.InterruptAsked e -> wordless(e.number(), "a cancel");
                    case Event.FinishAsked e -> wordless(e.number(), "a wish to finish");
                    case Event.QuestionAnswered e -> wordless(e.number(), "an answer to question " + e.id());
                    case Event.MessagesReleased e -> wordless(e.number(), "a release");
                    case Event.MessageEnded e ->
                        settled(
                                e.message().number(),
                                w -> e.inHand()
                                        && w.outcome() == e.outcome()
                                        && w.text().equals(e.text()));
                    case Event.MessagesReturned e -> e.messages().forEach(m -> settled(m.number(), w -> false));
                    default -> {}
                }
                internals.committed(event);
                listeners.committed(event);
                reading.ifPresent(r -> r.committed(event));
            }
        }
        feed.committed();
    }

    /** Under the lock. */
    void now(Durable next, Live nextLive) {
        state = next;
        live = nextLive;
        told = true;
    }

    void phaseChanged(Event.PhaseChanged e) {
        if (e.trigger() == Phase.Trigger.PARK) {
            callers.parked(parkedFailure(e.reason()));
        } else if (e.trigger() == Phase.Trigger.CLOSE) {
            callers.waiting().forEach(this::search); // for a number that was never given nothing comes any more
        }
    }

    /** Of all who want to end a message that was taken, the first whose end it is did. */
    @Override
    void settled(long number, Predicate<Ending> his) {
        boolean found = false;
        for (Ending ending : Optional.ofNullable(settling.remove(number)).orElse(List.of())) {
            boolean done = !found && his.test(ending);
            found |= done;
            elsewhere(() -> ending.end().complete(done));
        }
    }

    /** Under the lock: who waits for a reply to something that carries no words is told that none will come. */
    void wordless(long number, String what) {
        callers.wordless(number, wordlessFailure(number, what));
    }

    HoldfastException wordlessFailure(long number, String what) {
        return new HoldfastException("arrival " + number + " of session " + name + " has no reply: it was " + what);
    }

    @Override
    public void moved(Durable next, Live nextLive) {
        synchronized (lock) {
            now(next, nextLive);
            reading.ifPresent(r -> r.moved(nextLive));
            internals.moved(nextLive);
            watches.reached(next);
            awaited();
        }
        observers.signal();
    }

    /** Under the lock: whether something can be taken, for those who wait for it (MB-14). */
    void awaited() {
        if (told && !(resuming() && state.phase() != Phase.CLOSED)) {
            awaited(state.phase(), parts.options().core().waits(state, live));
        }
    }

    @Override
    void awaited(Phase phase, boolean waits) {
        boolean something = phase == Phase.OPEN && waits;
        if (something || phase != Phase.OPEN) {
            awaiting.forEach(a -> elsewhere(() -> a.complete(something)));
            awaiting.clear();
        }
    }

    @Override
    public void announce(List<Arrival> urgent) {
        observers.interrupts(urgent);
    }

    @Override
    public String internal(DeliveryId id) {
        synchronized (lock) {
            return internals.text(id).orElse("[holdfast] Nothing is asked.");
        }
    }

    @Override
    public boolean rejects(String text) {
        SessionPolicy policy;
        synchronized (lock) {
            policy = taking.policy();
        }
        try {
            return policy.boundary().filter(b -> b.test(text)).isPresent();
        } catch (RuntimeException e) {
            LOG.warn("the boundary of session {} failed; the message is let through", name, e);
            return false;
        }
    }

    @Override
    public boolean listened() {
        return listeners.any();
    }

    @Override
    public void beat(long turn, boolean first, Beat beat) {
        synchronized (lock) {
            beats.seen(turn, first, beat, shown -> feed.beat(turn, shown));
        }
    }

    @Override
    public void text(long turn, String fragment) {
        feed.text(turn, fragment);
    }

    @Override
    public void progress(long turn, ToolProgress progress) {
        feed.progress(turn, progress);
    }

    /** Typed when the agent cannot run here at all, which the reason's first word says (HN-12). */
    HoldfastException parkedFailure(String reason) {
        var text = "session " + name + " is parked: " + reason
                + ". Your message is kept and runs once the session is resumed; mend the cause, then resume it";
        var word = reason.substring(0, Math.max(0, reason.indexOf(':')));
        return UNAVAILABLE.contains(word) ? new AgentUnavailable(word, text) : new HoldfastException(text);
    }

    // ---- messages and their ends ----------------------------------------------------------------------------------

    @Override
    public SessionName name() {
        return name;
    }

    @Override
    public Receipt send(Message message) {
        return Blocking.await("sending to session " + name, sendAsync(message));
    }

    @Override
    public CompletionStage<Receipt> sendAsync(Message message) {
        return accept(parts.envelope().message(name, message));
    }

    /** As {@link #accept}, and wakes an owner even where mail alone would not. */
    CompletionStage<Receipt> acceptAndAct(Delivery delivery) {
        return accept(delivery).thenApply(receipt -> {
            if (receipt instanceof Receipt.Stored) {
                signal();
            }
            return receipt;
        });
    }

    CompletionStage<Receipt> accept(Delivery delivery) {
        if (closed()) {
            return hostClosed();
        }
        return onward(parts.journal().accept(delivery));
    }

    boolean closed() {
        synchronized (lock) {
            return closed;
        }
    }

    static <T> CompletableFuture<T> hostClosed() {
        return CompletableFuture.failedFuture(new HoldfastException("this host is closed; nothing was stored"));
    }

    /** The same, for callers: they are somebody else's code, which may not run on a thread of the store. */
    <T extends @Nullable Object> CompletionStage<T> onward(CompletionStage<T> stage) {
        return Blocking.on(parts.options().surroundings().executor(), stage);
    }

    @Override
    public CompletionStage<List<Receipt>> sendAll(List<Message> messages) {
        if (messages.isEmpty()) {
            throw new IllegalArgumentException("a batch without messages cannot be sent");
        }
        if (closed()) {
            return hostClosed();
        }
        var deliveries =
                messages.stream().map(m -> parts.envelope().message(name, m)).toList();
        return onward(parts.journal().acceptAll(deliveries));
    }

    @Override
    public CompletionStage<Receipt> submit(Payload payload, Author author, Optional<String> key) {
        if (payload instanceof Payload.Authorization || payload instanceof Payload.ToolRun) {
            return CompletableFuture.completedFuture(
                    new Receipt.Refused(payload.kind() + " is taken only through the address that was claimed for it"));
        }
        var delivery = parts.envelope().payload(name, payload, author, key, Optional.empty());
        return payload.kind().speaks() ? accept(delivery) : acceptAndAct(delivery);
    }

    CompletionStage<Receipt> submit(Payload payload) {
        return submit(payload, Author.host(), Optional.empty());
    }

    @Override
    public Reply ask(Message message) {
        long number = accepted(send(message));
        return Blocking.await("asking session " + name, wait(number, true).reply());
    }

    long accepted(Receipt receipt) {
        return switch (receipt) {
            case Receipt.Stored r -> r.number();
            case Receipt.Refusal r -> throw new HoldfastException("session " + name + ": " + r.message());
        };
    }

    @Override
    public CompletionStage<Reply> reply(long number) {
        return wait(number, false).reply();
    }

    /** Registers first and looks second, so that an end that is committed in between is not missed. */
    Callers.Caller wait(long number, boolean failsWhenParked) {
        var caller = new Callers.Caller(number, failsWhenParked);
        synchronized (lock) {
            var known = callers.recent(number);
            if (known.isPresent()) {
                caller.reply().complete(known.get());
                caller.steer().complete(SteerAnswer.QUEUED);
                return caller;
            }
            if (closed) {
                caller.reply()
                        .completeExceptionally(new HoldfastException("this host is closed; what was accepted is kept"));
                caller.steer().complete(SteerAnswer.QUEUED);
                return caller;
            }
            callers.add(caller);
            watched();
            var unused = caller.reply().whenComplete((reply, failure) -> forget(caller)); // also when he waits no more
            boolean ours = owner.isPresent() && told;
            if (!ours || state.named(number) || state.phase() == Phase.CLOSED) {
                search(caller);
            } else if (failsWhenParked) {
                stillParked();
            }
            if (!sleepsOnMail()) {
                signal();
            }
        }
        return caller;
    }

    /** Looks for the terminal record of a message that may have ended long ago. */
    @Override
    void search(Callers.Caller caller) {
        chronicle.end(caller.number(), () -> !caller.reply().isDone()).whenComplete((reply, failure) -> {
            synchronized (lock) {
                if (failure != null) {
                    forget(caller);
                    elsewhere(() -> caller.reply().completeExceptionally(failure));
                } else if (reply.isPresent()) {
                    forget(caller);
                    callers.complete(caller, reply.get());
                } else {
                    notEndedYet(caller);
                }
            }
        });
    }

    void forget(Callers.Caller caller) {
        synchronized (lock) {
            callers.remove(caller);
        }
    }

    /** Where another host owns the session its events are watched; here they come by themselves. */
    void notEndedYet(Callers.Caller caller) {
        neverEnds(caller);
        if (!elsewhere()) {
            stillParked();
        } else if (caller.watches()) {
            long number = caller.number();
            var watch = watches.event(
                    0,
                    event -> Chronicle.replies(event).stream()
                            .filter(r -> r.number() == number)
                            .findFirst(),
                    false);
            var unused = watch.whenComplete((reply, failure) -> {
                forget(caller);
                if (failure == null) {
                    callers.complete(caller, reply);
                } else {
                    caller.reply().completeExceptionally(failure);
                }
            });
            var unusedToo = caller.reply().whenComplete((reply, failure) -> watch.cancel(false));
        }
    }

    /** Something without words has no end of that kind, and what is not there when a session is closed never will be. */
    void neverEnds(Callers.Caller caller) {
        chronicle
                .arrival(caller.number(), Selection.HEADERS)
                .thenAcceptBoth(parts.journal().session(name), (arrival, s) -> {
                    boolean over = s.filter(now -> now.summary().phase().equals(Phase.CLOSED.name()))
                            .isPresent();
                    var never = arrival.isPresent()
                            ? arrival.filter(a -> !a.kind().speaks())
                                    .map(a ->
                                            wordlessFailure(a.number(), a.kind().toString()))
                            : Optional.of(new HoldfastException("session " + name
                                            + " is closed and never had a message " + caller.number()))
                                    .filter(e -> over);
                    never.or(() -> s.flatMap(now -> parkedUnowned(caller, now))).ifPresent(why -> {
                        forget(caller);
                        caller.reply().completeExceptionally(why);
                    });
                });
    }

    /** A parked session without an owner: no event will tell who asks that nothing runs. */
    private Optional<HoldfastException> parkedUnowned(Callers.Caller caller, SessionSummary now) {
        synchronized (lock) {
            boolean parked = now.summary().phase().equals(Phase.PARKED.name());
            return caller.failsWhenParked() && parked && !resuming()
                    ? Optional.of(parkedFailure(now.summary().phaseReason()))
                    : Optional.empty();
        }
    }

    /** A message that has not ended will not while its session is parked: who asks is told. */
    void stillParked() {
        synchronized (lock) {
            if (told && state.phase() == Phase.PARKED && !resuming()) {
                callers.parked(parkedFailure(state.phaseReason()));
            }
        }
    }

    @Override
    public SteerAnswer steer(Message message) {
        return Blocking.await("steering session " + name, steerAsync(message));
    }

    @Override
    public CompletionStage<SteerAnswer> steerAsync(Message message) {
        return accept(parts.envelope().message(name, message.policy(DeliveryPolicy.STEER)))
                .thenCompose(receipt -> {
                    if (!(receipt instanceof Receipt.Stored)) {
                        return CompletableFuture.completedFuture(SteerAnswer.REFUSED);
                    }
                    var answer = wait(accepted(receipt), false).steer();
                    var surroundings = parts.options().surroundings();
                    var alarm = surroundings.at(
                            surroundings.now().plus(STEER_WAIT), () -> answer.complete(SteerAnswer.QUEUED));
                    var unused = answer.whenComplete((a, failure) -> alarm.cancel());
                    return answer;
                });
    }

    @Override
    public Receipt interrupt() {
        return Blocking.await("interrupting session " + name, interruptAsync());
    }

    @Override
    public CompletionStage<Receipt> interruptAsync() {
        return submit(Payload.Cancel.any());
    }

    @Override
    public CompletionStage<Receipt> cancel(Payload.Cancel cancel) {
        return submit(cancel);
    }

    @Override
    public CompletionStage<Withdrawal> withdraw(long number) {
        return acceptAndWatch(
                parts.envelope().withdrawal(name, number),
                before -> (own, event) -> event instanceof Event.ArrivalDone d && d.number() == own
                        ? Optional.of(withdrawal(number, d.what()))
                        : Optional.empty());
    }

    static Withdrawal withdrawal(long number, String what) {
        return switch (what) {
            case Event.ArrivalDone.WITHDRAWN -> new Withdrawal.Withdrawn(number);
            case Event.ArrivalDone.UNKNOWN_MESSAGE -> new Withdrawal.Unknown(number);
            default -> new Withdrawal.TooLate(number, what);
        };
    }

    @Override
    public CompletionStage<Receipt> resend(long number) {
        return onward(chronicle.arrival(number, Selection.WITH_BODIES).thenCompose(found -> {
            var arrival = found.filter(a -> a.kind().speaks())
                    .orElseThrow(() -> new HoldfastException("session " + name + " has no message " + number));
            var first = parts.envelope().received(arrival).orElseThrow();
            return chronicle.end(number, () -> true).thenCompose(end -> {
                if (end.isEmpty()) {
                    throw new HoldfastException("message " + number + " of session " + name
                            + " has not ended: it runs by itself, or can be withdrawn");
                }
                return sendAsync(Message.of(Envelope.text(arrival)).author(first.author()));
            });
        }));
    }

    @Override
    public CompletionStage<List<Reply>> deadLetters(int max) {
        if (max < 1) {
            throw new IllegalArgumentException("at least one dead letter must be asked for; got " + max);
        }
        return onward(chronicle.deadLetters(max));
    }

    // ---- watching -------------------------------------------------------------------------------------------------

    /** What is made of an event, given the number of the arrival that asked for it. */
    @FunctionalInterface
    interface Matching<T> {
        Optional<T> match(long own, Event event);
    }

    /** How events are looked at, given the session before. */
    @FunctionalInterface
    interface Matcher<T> {
        Matching<T> begin(SessionSummary before);
    }

    /** Accepts a delivery and completes with what is made of a later event. */
    <T> CompletionStage<T> acceptAndWatch(Delivery delivery, Matcher<T> matcher) {
        return parts.journal().session(name).thenCompose(summary -> {
            var before = summary.orElseThrow(() -> new HoldfastException("there is no session " + name));
            return accept(delivery).thenCompose(receipt -> {
                long own = accepted(receipt);
                var matching = matcher.begin(before);
                var found = watches.event(before.seq(), event -> matching.match(own, event), false);
                watched();
                signal();
                return found;
            });
        });
    }
}
