package dev.holdfast.runtime;

import dev.holdfast.Addresses;
import dev.holdfast.Agent;
import dev.holdfast.AgentUnavailable;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Author;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.Drained;
import dev.holdfast.EventListener;
import dev.holdfast.Harness;
import dev.holdfast.HoldfastException;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SessionStatus;
import dev.holdfast.SteerAnswer;
import dev.holdfast.StoredEvent;
import dev.holdfast.Subscription;
import dev.holdfast.Tool;
import dev.holdfast.Usage;
import dev.holdfast.Withdrawal;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session of this host: wakes its owner when there is something to do, lets it go when there is nothing, and completes
 * callers from committed events only. Thread-safe; {@code lock} guards which owner is current and who waits for what, is
 * held only for moments, and nothing else is locked under it.
 */
final class HeldSession implements Session, Owner.Audience {
    private static final Logger LOG = LoggerFactory.getLogger(HeldSession.class);
    private static final int RECENT_REPLIES = 256;
    private static final int PAGE = 500;
    private static final Set<String> UNAVAILABLE = Set.of("not_found", "not_logged_in", "wrong_version");
    private static final Duration STEER_WAIT = Duration.ofSeconds(5);

    private final SessionName name;
    private final Agent agent;
    private final Map<String, Tool> tools;
    private final Holdfast.Parts parts;
    private final Feed feed;

    private final Object lock = new Object();
    private Optional<Owner> owner = Optional.empty();
    /** The end of the last owner's work on the claim: the next claim is taken after it. */
    private CompletionStage<?> released = CompletableFuture.completedFuture(null);

    private boolean waking;
    private boolean closed;
    private boolean resuming;
    private final List<Waiter> waiters = new ArrayList<>();
    private final List<CompletableFuture<Void>> down = new ArrayList<>();
    private final Map<Long, Reply> recent = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Reply> eldest) {
            return size() > RECENT_REPLIES;
        }
    };
    private Durable state = Durable.empty();
    private Live live = Live.none();

    /** A caller: of a message's end, or of what became of a steer. */
    private record Waiter(
            long number,
            CompletableFuture<Reply> reply,
            boolean failsWhenParked,
            CompletableFuture<SteerAnswer> steer) {}

    HeldSession(SessionName name, Agent agent, Map<String, Tool> tools, Holdfast.Parts parts) {
        this.name = name;
        this.agent = agent;
        this.tools = tools;
        this.parts = parts;
        this.feed = new Feed(name, parts.journal(), parts.options().surroundings());
    }

    Harness harness() {
        return agent.harness();
    }

    // ---- the owner's life -----------------------------------------------------------------------------------------

    /** As {@link #signal}, each second while the journal says that something is open: a parked session stays asleep. */
    void sweep() {
        boolean held;
        synchronized (lock) {
            held = owner.isEmpty() && state.phase() != Phase.OPEN;
        }
        if (!held) {
            signal();
        }
    }

    /** Something may have come in: the owner is told, or woken. */
    void signal() {
        synchronized (lock) {
            if (closed || waking) {
                return; // an owner being woken reads everything anyway
            }
            if (owner.isPresent()) {
                owner.get().signal();
                return;
            }
            waking = true;
            released = released.handle((ok, failure) -> null)
                    .thenCompose(ignored -> parts.journal().claim(name, parts.node()))
                    .handle((claim, failure) -> {
                        claimed(claim, failure);
                        return null;
                    });
        }
    }

    private void claimed(@Nullable Claim claim, @Nullable Throwable failure) {
        synchronized (lock) {
            waking = false;
            if (claim == null) {
                LOG.error("session {} cannot be claimed", name, failure);
                failAll("the session cannot be taken up: " + reason(failure));
                down.forEach(d -> d.complete(null));
                down.clear();
                return;
            }
            var next = new Owner(
                    name,
                    claim,
                    parts.journal(),
                    parts.codec(),
                    parts.envelope(),
                    parts.options(),
                    this,
                    outlet -> new EffectRunner(
                            name,
                            agent.harness(),
                            tools,
                            parts.slots(),
                            parts.transcript(),
                            parts.options(),
                            parts.journal().storeId(),
                            parts.home(),
                            outlet));
            owner = Optional.of(next);
            next.wake(agent.harness().name());
            if (closed) {
                next.offer(new Input.Leaving());
            }
        }
    }

    @Override
    public boolean mayRest(Owner resting) {
        synchronized (lock) {
            if (owner.filter(o -> o == resting).isEmpty() || !resting.inboxEmpty()) {
                return false;
            }
            owner = Optional.empty();
            released = resting.resign();
            down.forEach(d -> released.whenComplete((ok, failure) -> d.complete(null)));
            down.clear();
            return true;
        }
    }

    @Override
    public void over(Owner ended, String why, Optional<Throwable> cause) {
        cause.ifPresentOrElse(
                c -> LOG.error("session {} stops: {}", name, why, c),
                () -> LOG.warn("session {} stops: {}", name, why));
        synchronized (lock) {
            if (owner.filter(o -> o == ended).isEmpty()) {
                return;
            }
            owner = Optional.empty();
            down.forEach(d -> d.complete(null));
            down.clear();
            failAll(why + cause.map(c -> ": " + reason(c)).orElse(""));
        }
    }

    private static String reason(@Nullable Throwable failure) {
        var cause = failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause == null || cause.getMessage() == null ? String.valueOf(cause) : cause.getMessage();
    }

    private void failAll(String why) {
        var failure = new HoldfastException("session " + name + ": " + why + "; what was accepted is kept");
        waiters.forEach(w -> elsewhere(() -> {
            w.reply().completeExceptionally(failure);
            w.steer().complete(SteerAnswer.QUEUED);
        }));
        waiters.clear();
    }

    /** Callers are completed on a thread of their own: what hangs on them is somebody else's code. */
    private void elsewhere(Runnable completion) {
        parts.options().surroundings().executor().execute(completion);
    }

    /** Ends the process and lets the owner go; what is open stays open. Completes when nothing runs any more. */
    CompletableFuture<Void> leave() {
        synchronized (lock) {
            closed = true;
            failAll("the host stops");
            if (owner.isEmpty() && !waking) {
                return released.handle((ok, failure) -> (Void) null).toCompletableFuture();
            }
            var gone = new CompletableFuture<Void>();
            down.add(gone);
            owner.ifPresent(o -> o.offer(new Input.Leaving()));
            return gone;
        }
    }

    // ---- committed events -----------------------------------------------------------------------------------------

    @Override
    public void committed(List<Event> events, Durable next, Live nextLive) {
        synchronized (lock) {
            state = next;
            live = nextLive;
            for (Event event : events) {
                replies(event).forEach(this::complete);
                switch (event) {
                    case Event.SteerLanded e -> steered(e.message().number(), SteerAnswer.LANDED);
                    case Event.TurnOpened e -> e.messages().forEach(m -> steered(m.number(), SteerAnswer.QUEUED));
                    case Event.PhaseChanged e -> {
                        if (e.trigger() == Phase.Trigger.PARK) {
                            parked(e.reason());
                        }
                    }
                    case Event.ArrivalDone e -> resuming &= e.kind() != ArrivalKind.RESUME;
                    default -> {}
                }
            }
        }
        feed.committed();
    }

    @Override
    public void moved(Durable next, Live nextLive) {
        synchronized (lock) {
            state = next;
            live = nextLive;
        }
    }

    @Override
    public void text(long turn, String fragment) {
        feed.text(turn, fragment);
    }

    private static List<Reply> replies(Event event) {
        return switch (event) {
            case Event.TurnSettled e ->
                e.messages().stream()
                        .map(m -> new Reply(m.number(), e.turn(), e.outcome(), e.text(), e.detail(), e.usage()))
                        .toList();
            case Event.MessageEnded e ->
                List.of(new Reply(e.message().number(), 0, e.outcome(), "", e.why(), Usage.unknown()));
            default -> List.of();
        };
    }

    private void complete(Reply reply) {
        recent.put(reply.number(), reply);
        waiters.removeIf(w -> {
            boolean his = w.number() == reply.number();
            if (his) {
                elsewhere(() -> {
                    w.reply().complete(reply);
                    w.steer().complete(SteerAnswer.QUEUED);
                });
            }
            return his;
        });
    }

    private void steered(long number, SteerAnswer answer) {
        waiters.forEach(w -> {
            if (w.number() == number) {
                elsewhere(() -> w.steer().complete(answer));
            }
        });
    }

    private void parked(String reason) {
        var failure = parkedFailure(reason);
        waiters.removeIf(w -> {
            if (w.failsWhenParked()) {
                elsewhere(() -> w.reply().completeExceptionally(failure));
            }
            return w.failsWhenParked();
        });
    }

    /** Typed when the agent cannot run here at all, which the reason's first word says (HN-12). */
    private HoldfastException parkedFailure(String reason) {
        var text = "session " + name + " is parked: " + reason
                + ". Your message is kept and runs once the session is resumed; mend the cause, then resume it";
        var word = reason.substring(0, Math.max(0, reason.indexOf(':')));
        return UNAVAILABLE.contains(word) ? new AgentUnavailable(word, text) : new HoldfastException(text);
    }

    // ---- the user's side ------------------------------------------------------------------------------------------

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
        return accept(parts.envelope().message(name, ArrivalKind.MESSAGE, message));
    }

    private CompletionStage<Receipt> accept(Delivery delivery) {
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.failedFuture(new HoldfastException("this host is closed; nothing was stored"));
            }
        }
        // Handed on, so that nobody's continuation can hold up the store.
        return parts.journal()
                .accept(delivery)
                .thenApplyAsync(
                        receipt -> receipt, parts.options().surroundings().executor());
    }

    @Override
    public Reply ask(Message message) {
        long number = accepted(send(message));
        return Blocking.await("asking session " + name, wait(number, true).reply());
    }

    private long accepted(Receipt receipt) {
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
    private Waiter wait(long number, boolean failsWhenParked) {
        var waiter = new Waiter(number, new CompletableFuture<>(), failsWhenParked, new CompletableFuture<>());
        boolean look;
        synchronized (lock) {
            var known = recent.get(number);
            if (known != null) {
                waiter.reply().complete(known);
                return waiter;
            }
            if (closed) {
                waiter.reply()
                        .completeExceptionally(new HoldfastException("this host is closed; what was accepted is kept"));
                waiter.steer().complete(SteerAnswer.QUEUED);
                return waiter;
            }
            waiters.add(waiter);
            look = state.seed().isEmpty() || state.named(number);
            if (failsWhenParked && state.phase() == Phase.PARKED && !resuming && !look) {
                parked(state.phaseReason());
            }
        }
        if (look) {
            search(number, 0, waiter.reply());
            var unused = waiter.reply().whenComplete((reply, failure) -> forget(waiter));
        }
        signal();
        return waiter;
    }

    /** What a search found is told by no later event. */
    private void forget(Waiter waiter) {
        synchronized (lock) {
            waiters.remove(waiter);
        }
    }

    /** Looks for the terminal record of a message that may have ended long ago. */
    private void search(long number, long after, CompletableFuture<Reply> found) {
        parts.journal()
                .events(name, after, PAGE)
                .whenComplete((page, failure) -> parts.options()
                        .surroundings()
                        .executor()
                        .execute(() -> {
                            if (failure != null) {
                                found.completeExceptionally(failure);
                                return;
                            }
                            for (StoredEvent stored : page) {
                                if (ends(stored)) {
                                    replies(parts.codec().decode(stored)).stream()
                                            .filter(r -> r.number() == number)
                                            .forEach(found::complete);
                                }
                            }
                            if (!page.isEmpty() && !found.isDone()) {
                                search(number, page.getLast().seq(), found);
                            } else {
                                stillParked();
                            }
                        }));
    }

    /** A message that has not ended will not while its session is parked: who asks is told. */
    private void stillParked() {
        synchronized (lock) {
            if (state.phase() == Phase.PARKED && !resuming) {
                parked(state.phaseReason());
            }
        }
    }

    private static boolean ends(StoredEvent stored) {
        var type = stored.event().type();
        return type.equals(Event.TurnSettled.class.getSimpleName())
                || type.equals(Event.MessageEnded.class.getSimpleName());
    }

    @Override
    public SteerAnswer steer(Message message) {
        return Blocking.await("steering session " + name, steerAsync(message));
    }

    @Override
    public CompletionStage<SteerAnswer> steerAsync(Message message) {
        return accept(parts.envelope().message(name, ArrivalKind.STEER, message))
                .thenCompose(receipt -> {
                    if (!(receipt instanceof Receipt.Accepted || receipt instanceof Receipt.Duplicate)) {
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
        return accept(parts.envelope().urgent(name, ArrivalKind.CANCEL, Author.host(), ""));
    }

    @Override
    public CompletionStage<Receipt> evict() {
        return accept(parts.envelope().urgent(name, ArrivalKind.EVICT, Author.host(), ""));
    }

    @Override
    public Receipt close(String reason) {
        return Blocking.await(
                "closing session " + name,
                accept(parts.envelope().urgent(name, ArrivalKind.CLOSE, Author.host(), reason)));
    }

    /** Takes a parked session up again; does nothing to any other. */
    @Override
    public CompletionStage<Receipt> resume() {
        synchronized (lock) {
            resuming = true;
        }
        return accept(parts.envelope().urgent(name, ArrivalKind.RESUME, Author.host(), ""));
    }

    @Override
    public Subscription events(long after, EventListener listener) {
        return feed.subscribe(after, listener);
    }

    @Override
    public SessionStatus status() {
        var summary = Blocking.await("reading session " + name, parts.journal().session(name))
                .orElseThrow(() -> new HoldfastException("there is no session " + name));
        synchronized (lock) {
            boolean awake = owner.isPresent();
            long returned = awake
                    ? state.front().size()
                            + state.turn()
                                    .filter(t -> !t.inFlight())
                                    .map(t -> (long) t.messages().size())
                                    .orElse(0L)
                    : 0;
            return new SessionStatus(
                    name,
                    summary.summary().phase(),
                    summary.summary().phaseReason(),
                    Optional.empty(),
                    summary.unread() + returned,
                    summary.openTurn(),
                    summary.summary().turnSince(),
                    state.consumed(),
                    false,
                    state.lastEnd(),
                    awake ? process(live) : "asleep",
                    summary.summary().costMicros(),
                    summary.summary().lastWords());
        }
    }

    private String process(Live now) {
        return switch (now.stage()) {
            case DOWN -> "asleep";
            case PLANNED, ASKING, STARTING -> "starting";
            case READY -> now.busy() || state.turn().isPresent() ? "working" : "idle";
            case STOPPING -> "stopping";
        };
    }

    @Override
    public CompletionStage<List<Receipt>> sendAll(List<Message> messages) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> submit(Payload payload, Author author, Optional<String> key) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> cancel(Payload.Cancel cancel) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Withdrawal> withdraw(long number) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> resend(long number) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> pause(String reason) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Drained> drain(Duration deadline) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> finish(String reason) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> reset() {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> clear() {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Optional<String>> question(String id, String text, Duration deadline) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Receipt> answer(String question, String text) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletableFuture<Optional<String>> internal(String text) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<Boolean> awaitMessage() {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public CompletionStage<List<Reply>> deadLetters(int max) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public Addresses addresses() {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public Subscription onInterrupt(Consumer<Received> handler) {
        throw new UnsupportedOperationException("not built yet");
    }

    @Override
    public Subscription onDelivery(Consumer<Received> handler) {
        throw new UnsupportedOperationException("not built yet");
    }
}
