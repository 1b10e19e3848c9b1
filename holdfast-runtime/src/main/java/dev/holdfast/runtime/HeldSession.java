package dev.holdfast.runtime;

import dev.holdfast.Addresses;
import dev.holdfast.AgentUnavailable;
import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Author;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.DeliveryId;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Drained;
import dev.holdfast.EventListener;
import dev.holdfast.FeedEnd;
import dev.holdfast.Harness;
import dev.holdfast.HoldfastException;
import dev.holdfast.JournalException;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.SessionEvent;
import dev.holdfast.SessionName;
import dev.holdfast.SessionPolicy;
import dev.holdfast.SessionStatus;
import dev.holdfast.SessionSummary;
import dev.holdfast.SteerAnswer;
import dev.holdfast.StoredEvent;
import dev.holdfast.Subscription;
import dev.holdfast.Tool;
import dev.holdfast.Usage;
import dev.holdfast.Withdrawal;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Finish;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Settings;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Told;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
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
    private static final Duration NAMED_POLL = Duration.ofMillis(20);
    private static final Duration STEER_WAIT = Duration.ofSeconds(5);

    private final SessionName name;
    private final Taking taking;
    private final Holdfast.Parts parts;
    private final Feed feed;
    private final Observers observers;
    private final SessionAddresses addresses;

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

    /** Inputs for an owner that is not awake yet. */
    private final List<Input> early = new ArrayList<>();

    private final Map<DeliveryId, Internal> internals = new LinkedHashMap<>();
    private final List<CompletableFuture<Boolean>> awaiting = new ArrayList<>();
    private final Map<Long, List<CompletableFuture<Boolean>>> settling = new LinkedHashMap<>();
    private Optional<Reading> reading = Optional.empty();
    private boolean owned;
    private long internalsAsked;

    /** Who takes the session's mail here, and how. */
    record Taking(Harness harness, Map<String, Tool> tools, SessionPolicy policy, Settings.Taker taker) {
        static Taking agent(Harness harness, Map<String, Tool> tools, SessionPolicy policy) {
            return new Taking(harness, tools, policy, Settings.Taker.AGENT);
        }

        /** A reading surface, or nobody. */
        static Taking without(Settings.Taker taker) {
            return new Taking(NoAgent.INSTANCE, Map.of(), SessionPolicy.standard(), taker);
        }

        Settings settings() {
            return new Settings(
                    policy.stay() == SessionPolicy.Stay.STAY_OPEN,
                    policy.combine(),
                    policy.boundary().isPresent(),
                    taker);
        }
    }

    /** A request of the host's own; the turn is 0 until it has one. */
    private static final class Internal {
        private final String text;
        private final CompletableFuture<Optional<String>> answer = new CompletableFuture<>();
        private long ticket;
        private long turn;

        Internal(String text) {
            this.text = text;
        }
    }

    HeldSession(SessionName name, Taking taking, Holdfast.Parts parts) {
        this.name = name;
        this.taking = taking;
        this.parts = parts;
        this.feed = new Feed(name, parts.journal(), parts.options().surroundings());
        this.observers = new Observers(name, parts);
        this.addresses = new SessionAddresses(this, parts);
    }

    Harness harness() {
        return taking.harness();
    }

    Settings.Taker taker() {
        return taking.taker();
    }

    boolean isRead() {
        synchronized (lock) {
            return reading.filter(r -> !r.over()).isPresent();
        }
    }

    /** Whether mail alone need not wake an owner: nobody here takes it. */
    boolean sleepsOnMail() {
        return taking.taker() == Settings.Taker.NOBODY;
    }

    // ---- the owner's life -----------------------------------------------------------------------------------------

    /** As {@link #signal}, each second while the journal says that something is open: a parked session stays asleep. */
    void sweep() {
        boolean held;
        synchronized (lock) {
            boolean due = parts.options()
                    .core()
                    .wakeAt(state, live)
                    .filter(at -> !at.isAfter(parts.options().surroundings().now()))
                    .isPresent();
            boolean rests = state.phase() == Phase.PARKED || state.phase() == Phase.PAUSED;
            held = owner.isEmpty() && ((rests && !due) || sleepsOnMail());
        }
        if (!held) {
            signal();
        }
    }

    /** Another host may own the session: what it records is looked for each second. */
    void poll() {
        boolean elsewhere;
        synchronized (lock) {
            elsewhere = owner.isEmpty() && owned;
        }
        if (elsewhere) {
            feed.committed();
            observers.signal();
        }
    }

    /** For the owner, which is woken when there is none. */
    void offer(Input input) {
        synchronized (lock) {
            if (owner.isPresent()) {
                owner.get().offer(input);
                return;
            }
            early.add(input);
        }
        signal();
    }

    /** Mail may have come in. */
    void arrived() {
        observers.signal();
        if (!sleepsOnMail()) {
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
                unclaimed(failure);
                return;
            }
            owned = false;
            internalsAsked = 0;
            forgetInternals();
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
                            taking.harness(),
                            taking.tools(),
                            parts.slots(),
                            parts.transcript(),
                            parts.options(),
                            parts.journal().storeId(),
                            parts.home(),
                            outlet));
            owner = Optional.of(next);
            next.wake(taking.harness().name(), taking.settings());
            early.forEach(next::offer);
            early.clear();
            if (closed) {
                next.offer(new Input.Leaving());
            }
        }
    }

    /** Under the lock. Owned by another host, it is acted on there, and what is waited for is read from the journal. */
    private void unclaimed(@Nullable Throwable failure) {
        early.clear();
        down.forEach(d -> d.complete(null));
        down.clear();
        reading.ifPresent(r -> r.lost(FeedEnd.FENCED));
        if (Blocking.cause(failure) instanceof JournalException j && j.problem() == JournalException.Problem.OWNED) {
            LOG.info("session {}: {}", name, j.getMessage());
            owned = true;
            waiters.forEach(w -> search(w.number(), 0, w.reply()));
            return;
        }
        LOG.error("session {} cannot be claimed", name, failure);
        failAll("the session cannot be taken up: " + reason(failure));
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
            reading.ifPresent(r -> r.lost(FeedEnd.FENCED));
            failAll(why + cause.map(c -> ": " + reason(c)).orElse(""));
        }
    }

    private static String reason(@Nullable Throwable failure) {
        var cause = Blocking.cause(failure);
        return cause == null || cause.getMessage() == null ? String.valueOf(cause) : cause.getMessage();
    }

    private void failAll(String why) {
        var failure = new HoldfastException("session " + name + ": " + why + "; what was accepted is kept");
        waiters.forEach(w -> elsewhere(() -> {
            w.reply().completeExceptionally(failure);
            w.steer().complete(SteerAnswer.QUEUED);
        }));
        waiters.clear();
        forgetInternals();
        List.copyOf(settling.keySet()).forEach(number -> settled(number, false));
        awaiting.forEach(a -> elsewhere(() -> a.complete(false)));
        awaiting.clear();
    }

    /** Under the lock: they belong to the incarnation that was there (MB-16). */
    private void forgetInternals() {
        internals.values().forEach(i -> elsewhere(() -> i.answer.complete(Optional.empty())));
        internals.clear();
    }

    /** Callers are completed on a thread of their own: what hangs on them is somebody else's code. */
    void elsewhere(Runnable completion) {
        parts.options().surroundings().executor().execute(completion);
    }

    /** Ends the process and lets the owner go; what is open stays open. Completes when nothing runs any more. */
    CompletableFuture<Void> leave() {
        synchronized (lock) {
            closed = true;
            reading.ifPresent(r -> r.lost(FeedEnd.ENDED));
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
                internal(event);
                reading.ifPresent(r -> r.committed(event));
                settledByReader(event);
            }
        }
        feed.committed();
    }

    /** Under the lock: what an event means for readers that end messages. */
    private void settledByReader(Event event) {
        switch (event) {
            case Event.MessageEnded e -> settled(e.message().number(), e.inHand());
            case Event.MessagesReturned e -> e.messages().forEach(m -> settled(m.number(), false));
            default -> {}
        }
    }

    private void settled(long number, boolean done) {
        Optional.ofNullable(settling.remove(number))
                .ifPresent(all -> all.forEach(f -> elsewhere(() -> f.complete(done))));
    }

    /** Under the lock: what an event means for the host's own requests. */
    private void internal(Event event) {
        if (event instanceof Event.TurnOpened e && e.kind() == Told.Kind.INTERNAL) {
            Optional.ofNullable(internals.get(e.delivery())).ifPresent(i -> i.turn = e.turn());
        } else if (event instanceof Event.TurnSettled e && e.kind() == Told.Kind.INTERNAL) {
            var answer = e.outcome() == Outcome.ANSWERED ? Optional.of(e.text()) : Optional.<String>empty();
            internals.values().removeIf(i -> {
                if (i.turn == e.turn()) {
                    elsewhere(() -> i.answer.complete(answer));
                }
                return i.turn == e.turn();
            });
        }
    }

    @Override
    public void moved(Durable next, Live nextLive) {
        synchronized (lock) {
            state = next;
            live = nextLive;
            reading.ifPresent(r -> r.moved(nextLive));
            vanished();
            awaited();
        }
        observers.signal();
    }

    /** Under the lock: requests that neither wait nor have a turn are gone with their incarnation (MB-16). */
    private void vanished() {
        internals.entrySet().removeIf(entry -> {
            var request = entry.getValue();
            boolean gone = request.ticket <= live.asked()
                    && request.turn == 0
                    && !live.internal().contains(entry.getKey());
            if (gone) {
                elsewhere(() -> request.answer.complete(Optional.empty()));
            }
            return gone;
        });
    }

    /** Under the lock: whether something can be taken, for those who wait for it (MB-14). */
    private void awaited() {
        boolean something =
                state.phase() == Phase.OPEN && parts.options().core().waits(state, live);
        boolean never = state.phase() != Phase.OPEN;
        if (something || never) {
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
            var request = internals.get(id);
            return request == null ? "[holdfast] Nothing is asked." : request.text;
        }
    }

    @Override
    public boolean rejects(String text) {
        try {
            return taking.policy().boundary().filter(b -> b.test(text)).isPresent();
        } catch (RuntimeException e) {
            LOG.warn("the boundary of session {} failed; the message is let through", name, e);
            return false;
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
                List.of(new Reply(e.message().number(), 0, e.outcome(), e.text(), e.why(), Usage.unknown()));
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
        return accept(parts.envelope().message(name, message));
    }

    /** As {@link #accept}, and wakes an owner even where mail alone would not. */
    private CompletionStage<Receipt> acceptAndAct(Delivery delivery) {
        return accept(delivery).thenApply(receipt -> {
            if (receipt instanceof Receipt.Stored) {
                signal();
            }
            return receipt;
        });
    }

    CompletionStage<Receipt> accept(Delivery delivery) {
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.failedFuture(new HoldfastException("this host is closed; nothing was stored"));
            }
        }
        // Handed on, so that nobody's continuation can hold up the store.
        return onward(parts.journal().accept(delivery));
    }

    private <T> CompletionStage<T> onward(CompletionStage<T> stage) {
        return stage.thenApplyAsync(
                value -> value, parts.options().surroundings().executor());
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
        find(number, after, found)
                .whenComplete((reply, failure) -> elsewhere(() -> {
                    if (failure != null) {
                        found.completeExceptionally(failure);
                    } else if (reply.isPresent()) {
                        found.complete(reply.get());
                    } else {
                        notEndedYet(number, found);
                    }
                }));
    }

    private CompletionStage<Optional<Reply>> find(long number, long after, CompletableFuture<Reply> wanted) {
        return parts.journal().events(name, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                if (ends(stored)) {
                    var reply = replies(parts.codec().decode(stored)).stream()
                            .filter(r -> r.number() == number)
                            .findFirst();
                    if (reply.isPresent()) {
                        return CompletableFuture.completedFuture(reply);
                    }
                }
            }
            return page.isEmpty() || wanted.isDone()
                    ? CompletableFuture.completedFuture(Optional.<Reply>empty())
                    : find(number, page.getLast().seq(), wanted);
        });
    }

    /** Where another host owns the session its events are watched; here they come by themselves. */
    private void notEndedYet(long number, CompletableFuture<Reply> found) {
        boolean elsewhere;
        synchronized (lock) {
            elsewhere = owned;
        }
        if (elsewhere) {
            var unused = watch(
                            0,
                            event -> replies(event).stream()
                                    .filter(r -> r.number() == number)
                                    .findFirst(),
                            () -> {})
                    .thenAccept(found::complete);
        } else {
            stillParked();
        }
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
        return accept(parts.envelope().message(name, message.policy(DeliveryPolicy.STEER)))
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
        return acceptAndAct(parts.envelope()
                .payload(name, Payload.Cancel.any(), Author.host(), Optional.empty(), Optional.empty()));
    }

    @Override
    public CompletionStage<Receipt> evict() {
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.EVICT, ""));
    }

    @Override
    public Receipt close(String reason) {
        return Blocking.await(
                "closing session " + name, acceptAndAct(parts.envelope().control(name, ArrivalKind.CLOSE, reason)));
    }

    /** Takes a parked session up again; does nothing to any other. */
    @Override
    public CompletionStage<Receipt> resume() {
        synchronized (lock) {
            resuming = true;
        }
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.RESUME, ""));
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
                    state.finishing().map(Finish::reason),
                    summary.unread() + returned,
                    summary.openTurn(),
                    summary.summary().turnSince(),
                    state.consumed(),
                    summary.unread() + returned == 0 && summary.openTurn().isEmpty(),
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

    // ---- mail -----------------------------------------------------------------------------------------------------

    @Override
    public CompletionStage<List<Receipt>> sendAll(List<Message> messages) {
        if (messages.isEmpty()) {
            throw new IllegalArgumentException("a batch without messages cannot be sent");
        }
        if (closed()) {
            return CompletableFuture.failedFuture(new HoldfastException("this host is closed; nothing was stored"));
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

    @Override
    public CompletionStage<Receipt> cancel(Payload.Cancel cancel) {
        return submit(cancel, Author.host(), Optional.empty());
    }

    @Override
    public CompletionStage<Withdrawal> withdraw(long number) {
        return acceptAndWatch(
                parts.envelope().withdrawal(name, number),
                (own, event) -> event instanceof Event.ArrivalDone d && d.number() == own
                        ? Optional.of(withdrawal(number, d.what()))
                        : Optional.empty());
    }

    private static Withdrawal withdrawal(long number, String what) {
        return switch (what) {
            case Event.ArrivalDone.WITHDRAWN -> new Withdrawal.Withdrawn(number);
            case Event.ArrivalDone.UNKNOWN_MESSAGE -> new Withdrawal.Unknown(number);
            default -> new Withdrawal.TooLate(number, what);
        };
    }

    @Override
    public CompletionStage<Receipt> resend(long number) {
        return parts.journal()
                .arrivals(name, number - 1, 1, Selection.WITH_BODIES)
                .thenCompose(page -> {
                    if (page.isEmpty() || !page.getFirst().kind().speaks()) {
                        throw new HoldfastException("session " + name + " has no message " + number);
                    }
                    var first = parts.envelope().received(page.getFirst()).orElseThrow();
                    return ended(number).thenCompose(has -> {
                        if (!has) {
                            throw new HoldfastException("message " + number + " of session " + name
                                    + " has not ended: it runs by itself, or can be withdrawn");
                        }
                        var text = Envelope.text(page.getFirst());
                        return sendAsync(Message.of(text).author(first.author()));
                    });
                });
    }

    private CompletionStage<Boolean> ended(long number) {
        var found = new CompletableFuture<Reply>();
        return find(number, 0, found).thenApply(Optional::isPresent);
    }

    @Override
    public CompletionStage<List<Reply>> deadLetters(int max) {
        return deadLetters(max, 0, new ArrayList<>());
    }

    private CompletionStage<List<Reply>> deadLetters(int max, long after, List<Reply> found) {
        return parts.journal().events(name, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                if (ends(stored)) {
                    replies(parts.codec().decode(stored)).stream()
                            .filter(r -> r.outcome() == Outcome.DEAD_LETTER)
                            .limit((long) max - found.size())
                            .forEach(found::add);
                }
            }
            return page.isEmpty() || found.size() >= max
                    ? CompletableFuture.completedFuture(List.copyOf(found))
                    : deadLetters(max, page.getLast().seq(), found);
        });
    }

    // ---- phases ---------------------------------------------------------------------------------------------------

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
        return acceptAndWatch(
                        parts.envelope().control(name, ArrivalKind.DRAIN, "", Optional.of(by)), HeldSession::drained)
                .thenCompose(over -> parts.journal().session(name))
                .thenApply(summary -> new Drained(
                        summary.map(SessionSummary::openTurn).orElse(OptionalLong.empty()),
                        summary.map(SessionSummary::unread).orElse(0L)));
    }

    private static Optional<Boolean> drained(long own, Event event) {
        return switch (event) {
            case Event.ArrivalDone d when d.number() == own && !d.what().equals("draining") -> Optional.of(false);
            case Event.PhaseChanged p when p.trigger() != Phase.Trigger.DRAIN -> Optional.of(true);
            default -> Optional.empty();
        };
    }

    @Override
    public CompletionStage<Receipt> finish(String reason) {
        return acceptAndAct(parts.envelope().control(name, ArrivalKind.FINISH, reason));
    }

    @Override
    public CompletionStage<Receipt> reset() {
        return submit(new Payload.Reset(), Author.host(), Optional.empty());
    }

    @Override
    public CompletionStage<Receipt> clear() {
        return submit(new Payload.Clear(), Author.host(), Optional.empty());
    }

    @Override
    public CompletionStage<Boolean> awaitMessage() {
        var answer = new CompletableFuture<Boolean>();
        synchronized (lock) {
            if (closed) {
                return CompletableFuture.completedFuture(false);
            }
            awaiting.add(answer);
            if (owner.isPresent()) {
                awaited();
            }
        }
        signal();
        return answer;
    }

    // ---- questions and requests of the host -------------------------------------------------------------------------

    @Override
    public CompletionStage<Optional<String>> question(String id, String text, Duration deadline) {
        if (!Payload.ID.matcher(id).matches()) {
            throw new IllegalArgumentException(
                    "a question's id is 1 to 256 letters, digits or . _ - @ / : + =; got '" + id + "'");
        }
        var by = parts.options().surroundings().now().plus(deadline);
        return questionOver(id, 0)
                .thenCompose(over -> over.isPresent()
                        ? over.get()
                        : watch(
                                        0,
                                        event -> questionOver(id, event),
                                        () -> offer(new Input.QuestionRaised(id, text, by)))
                                .thenCompose(answer -> answer));
    }

    /** What became of the question before, if anything did. */
    private CompletionStage<Optional<CompletionStage<Optional<String>>>> questionOver(String id, long after) {
        return parts.journal().events(name, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                var over = questionOver(id, parts.codec().decode(stored));
                if (over.isPresent()) {
                    return CompletableFuture.completedFuture(over);
                }
            }
            return page.isEmpty()
                    ? CompletableFuture.completedFuture(Optional.empty())
                    : questionOver(id, page.getLast().seq());
        });
    }

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
    public CompletionStage<Receipt> answer(String question, String text) {
        return submit(new Payload.Answer(question, text), Author.host(), Optional.empty());
    }

    @Override
    public CompletableFuture<Optional<String>> internal(String text) {
        var id = new DeliveryId(
                UUID.nameUUIDFromBytes(parts.options().surroundings().random(16)));
        var request = new Internal(text);
        synchronized (lock) {
            if (owner.isEmpty()) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            internals.put(id, request);
            internalsAsked++;
            request.ticket = internalsAsked;
            owner.get().offer(new Input.InternalAsked(id));
        }
        var unused = request.answer.whenComplete((answer, failure) -> {
            if (request.answer.isCancelled()) {
                offer(new Input.InternalWithdrawn(id));
            }
        });
        return request.answer;
    }

    // ---- observing ------------------------------------------------------------------------------------------------

    @Override
    public Addresses addresses() {
        return addresses;
    }

    @Override
    public Subscription onInterrupt(Consumer<Received> handler) {
        return observers.onInterrupt(handler);
    }

    @Override
    public Subscription onDelivery(Consumer<Received> handler) {
        return observers.onDelivery(
                handler,
                parts.journal()
                        .session(name)
                        .thenApply(summary -> summary.map(this::begin)
                                .orElseThrow(() -> new HoldfastException("there is no session " + name))));
    }

    private Observers.Begin begin(SessionSummary summary) {
        synchronized (lock) {
            boolean known = owner.isPresent() && state.takenThrough() >= summary.takenThrough();
            return known
                    ? Observers.Begin.of(state, summary.lastArrival())
                    : new Observers.Begin(summary.takenThrough(), summary.lastArrival(), n -> false);
        }
    }

    /** The payloads of these arrivals, in their order. */
    CompletionStage<List<Received>> load(List<Taken> taken) {
        CompletionStage<List<Received>> all = CompletableFuture.completedFuture(List.of());
        for (Taken t : taken) {
            all = all.thenCombine(
                    parts.journal().arrivals(name, t.number() - 1, 1, Selection.WITH_BODIES), (before, page) -> {
                        var next = new ArrayList<>(before);
                        page.forEach(a -> parts.envelope().received(a).ifPresent(next::add));
                        return next;
                    });
        }
        return all;
    }

    CompletionStage<Long> lastArrival() {
        return parts.journal()
                .session(name)
                .thenApply(summary -> summary.map(SessionSummary::lastArrival).orElse(0L));
    }

    /** Whether something accepted by now is neither taken nor ended. */
    CompletionStage<Boolean> waits() {
        return waiting(1).thenApply(all -> !all.isEmpty());
    }

    /** What waits, in the order in which it is given: what was given back first; at most {@code max}. */
    CompletionStage<List<Received>> waiting(int max) {
        var front = state().front();
        return load(front.stream().limit(max).toList())
                .thenCompose(given -> unnamed(state().takenThrough(), max, new ArrayList<>(given)));
    }

    private CompletionStage<List<Received>> unnamed(long after, int max, List<Received> found) {
        if (found.size() >= max) {
            return CompletableFuture.completedFuture(List.copyOf(found));
        }
        return parts.journal()
                .arrivals(name, after, PAGE, Selection.WITH_BODIES)
                .thenCompose(page -> {
                    var now = state();
                    page.stream()
                            .filter(a -> !now.named(a.number()))
                            .flatMap(a -> parts.envelope().received(a).stream())
                            .limit((long) max - found.size())
                            .forEach(found::add);
                    return page.isEmpty()
                            ? CompletableFuture.completedFuture(List.copyOf(found))
                            : unnamed(page.getLast().number(), max, found);
                });
    }

    /** Closes the session; gives what was unread and in nobody's hand to the closer (CH-03). */
    CompletionStage<List<Received>> closeReturningUnread(String reason) {
        return parts.journal()
                .session(name)
                .thenCompose(before -> acceptAndAct(parts.envelope().control(name, ArrivalKind.CLOSE, reason))
                        .thenCompose(receipt -> switch (receipt) {
                            case Receipt.Stored r -> namedThrough(r.number());
                            case Receipt.Refusal r ->
                                throw new HoldfastException("session " + name + ": " + r.message());
                        })
                        .thenCompose(named ->
                                unreadAtClose(before.map(SessionSummary::seq).orElse(0L), new ArrayList<>()))
                        .thenCompose(this::load));
    }

    /** Completes once every arrival up to {@code number} is named by an event. */
    private CompletionStage<Void> namedThrough(long number) {
        return parts.journal().session(name).thenCompose(summary -> {
            if (summary.filter(s -> s.takenThrough() >= number).isPresent()) {
                return CompletableFuture.completedFuture(null);
            }
            var again = new CompletableFuture<Void>();
            var surroundings = parts.options().surroundings();
            surroundings.at(surroundings.now().plus(NAMED_POLL), () -> again.complete(null));
            signal();
            return again.thenCompose(now -> namedThrough(number));
        });
    }

    private CompletionStage<List<Taken>> unreadAtClose(long after, List<Taken> found) {
        return parts.journal().events(name, after, PAGE).thenCompose(page -> {
            for (StoredEvent stored : page) {
                if (parts.codec().decode(stored) instanceof Event.MessageEnded e
                        && e.outcome() == Outcome.CLOSED
                        && !e.inHand()) {
                    found.add(e.message());
                }
            }
            return page.isEmpty()
                    ? CompletableFuture.completedFuture(found)
                    : unreadAtClose(page.getLast().seq(), found);
        });
    }

    /** Ends a message that a reader took; false when it was not in flight there. */
    CompletionStage<Boolean> settle(long feedNumber, long number, Outcome outcome, String answer) {
        var end = new CompletableFuture<Boolean>();
        synchronized (lock) {
            if (state.reading().inHand().stream().noneMatch(m -> m.number() == number)) {
                return CompletableFuture.completedFuture(false);
            }
            settling.computeIfAbsent(number, n -> new ArrayList<>()).add(end);
        }
        offer(new Input.ReadSettled(feedNumber, number, outcome, answer));
        return end;
    }

    /** Puts released messages back in front (IN-11). */
    CompletionStage<Void> restore(List<Long> numbers) {
        return parts.journal()
                .session(name)
                .thenCompose(summary -> watch(
                        summary.map(SessionSummary::seq).orElse(0L),
                        event -> event instanceof Event.MessagesRestored ? Optional.of(Boolean.TRUE) : Optional.empty(),
                        () -> offer(new Input.RestoreWanted(numbers))))
                .thenApply(done -> null);
    }

    Durable state() {
        synchronized (lock) {
            return state;
        }
    }

    Live live() {
        synchronized (lock) {
            return live;
        }
    }

    private boolean closed() {
        synchronized (lock) {
            return closed;
        }
    }

    /** Makes {@code next} the one reading surface, or says who is (CH-09). */
    void read(Reading next) {
        synchronized (lock) {
            if (reading.filter(r -> !r.over()).isPresent()) {
                throw new HoldfastException("session " + name + " is read by its "
                        + reading.get().surface() + " already: close that first, or observe with onDelivery");
            }
            reading = Optional.of(next);
        }
    }

    /** Accepts a delivery and completes with what {@code match} makes of a later event. */
    <T> CompletionStage<T> acceptAndWatch(Delivery delivery, BiFunction<Long, Event, Optional<T>> match) {
        return parts.journal()
                .session(name)
                .thenCompose(summary -> accept(delivery).thenCompose(receipt -> switch (receipt) {
                    case Receipt.Stored r ->
                        watch(
                                summary.map(SessionSummary::seq).orElse(0L),
                                event -> match.apply(r.number(), event),
                                this::signal);
                    case Receipt.Refusal r -> throw new HoldfastException("session " + name + ": " + r.message());
                }));
    }

    /** Completes with what {@code match} makes of the first event after {@code after} that it takes. */
    private <T> CompletionStage<T> watch(long after, Function<Event, Optional<T>> match, Runnable then) {
        var found = new CompletableFuture<T>();
        var subscription = feed.subscribe(after, new EventListener() {
            @Override
            public void onEvent(SessionEvent event) {
                match.apply(parts.codec().decode(event)).ifPresent(value -> elsewhere(() -> found.complete(value)));
            }
        });
        var unused = found.whenComplete((value, failure) -> elsewhere(subscription::close));
        then.run();
        return found;
    }
}
