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
import dev.holdfast.SessionName;
import dev.holdfast.SessionPolicy;
import dev.holdfast.SessionStatus;
import dev.holdfast.SessionSummary;
import dev.holdfast.SteerAnswer;
import dev.holdfast.Subscription;
import dev.holdfast.Tool;
import dev.holdfast.Withdrawal;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Settings;
import dev.holdfast.core.Settings.Taker;
import dev.holdfast.core.Taken;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A session of this host: wakes its owner when there is something to do, lets it go when there is nothing, and completes
 * callers from committed events only. Thread-safe; {@code lock} guards which owner is current and who waits for what, is
 * held only for moments, and of other locks only a reading's and the store's are taken under it.
 *
 * <p>Longer than other files, since it is all of {@link Session}: what waits, watches and reads is in parts of its own
 * ({@link Callers}, {@link Internals}, {@link Watches}, {@link Chronicle}, {@link Reading}, {@link Observers}).
 */
final class HeldSession implements Session, Owner.Audience {
    private static final Logger LOG = LoggerFactory.getLogger(HeldSession.class);
    private static final Set<String> UNAVAILABLE = Set.of("not_found", "not_logged_in", "wrong_version");
    private static final Duration STEER_WAIT = Duration.ofSeconds(5);
    /** How long somebody who needs the owner waits while another host has the session (IN-18), and how often it is tried. */
    private static final Duration HAND_OFF_WAIT = Duration.ofSeconds(5);

    private static final Duration HAND_OFF_RETRY = Duration.ofMillis(250);

    private final SessionName name;
    private final Holdfast.Parts parts;
    private final Feed feed;
    private final Observers observers;
    private final SessionAddresses addresses;
    private final Chronicle chronicle;
    private final Watches watches;

    private final Object lock = new Object();
    private Taking taking;
    private Optional<Owner> owner = Optional.empty();
    /** The end of the last owner's work on the claim: the next claim is taken after it. */
    private CompletionStage<?> released = CompletableFuture.completedFuture(null);

    private boolean waking;
    /** The owner is told to go, since somebody else takes the mail from now on. */
    private boolean changing;

    private boolean closed;
    /** Another host owns it, or will: it was let go here. */
    private boolean owned;

    private boolean letGo;
    private Optional<Instant> refusedSince = Optional.empty();
    /** How many wishes to resume are being stored, and the number of the newest that was. */
    private int resumesStoring;

    private long resumeStored;
    private final List<CompletableFuture<Void>> down = new ArrayList<>();
    /** What the present owner has said of its state; meaningless before it said something. */
    private Durable state = Durable.empty();

    private Live live = Live.none();
    private boolean told;
    /** Observers that begin with the state of the owner that is being woken. */
    private final List<CompletableFuture<Durable>> begins = new ArrayList<>();

    /** Inputs for an owner that is not awake yet. */
    private final List<Input> early = new ArrayList<>();

    private final Callers callers;
    private final Internals internals;
    private final List<CompletableFuture<Boolean>> awaiting = new ArrayList<>();
    private final Map<Long, List<CompletableFuture<Boolean>>> settling = new LinkedHashMap<>();
    private Optional<Reading> reading = Optional.empty();
    private Optional<CompletableFuture<Drained>> releasing = Optional.empty();
    private long takesAsked;

    /** Who takes the session's mail here, and how. */
    record Taking(Harness harness, Map<String, Tool> tools, SessionPolicy policy, Taker taker) {
        static Taking agent(Harness harness, Map<String, Tool> tools, SessionPolicy policy) {
            return new Taking(harness, tools, policy, Taker.AGENT);
        }

        /** A reading surface, or nobody. */
        static Taking without(Taker taker) {
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

    HeldSession(SessionName name, Taking taking, Holdfast.Parts parts) {
        this.name = name;
        this.taking = taking;
        this.parts = parts;
        var executor = parts.options().surroundings().executor();
        this.feed = new Feed(name, parts.journal(), parts.options().surroundings());
        this.observers = new Observers(name, parts);
        this.addresses = new SessionAddresses(this, parts);
        this.chronicle = new Chronicle(name, parts);
        this.watches = new Watches(feed, parts);
        this.callers = new Callers(executor);
        this.internals = new Internals(executor);
    }

    Harness harness() {
        synchronized (lock) {
            return taking.harness();
        }
    }

    boolean isTakenUp() {
        synchronized (lock) {
            return taking.taker() != Taker.NOBODY;
        }
    }

    /** Given to another host on purpose. */
    boolean isLetGo() {
        synchronized (lock) {
            return letGo;
        }
    }

    // ---- the owner's life -----------------------------------------------------------------------------------------

    /** Under the lock: mail alone need not wake an owner, since nobody here takes it. */
    private boolean sleepsOnMail() {
        return taking.taker() == Taker.NOBODY;
    }

    /** As {@link #signal}, each second while the journal says that something is open: a parked session stays asleep. */
    void sweep() {
        boolean rests;
        synchronized (lock) {
            boolean due = parts.options()
                    .core()
                    .wakeAt(state, live)
                    .filter(at -> !at.isAfter(parts.options().surroundings().now()))
                    .isPresent();
            if (owner.isEmpty() && sleepsOnMail()) {
                return;
            }
            rests = owner.isEmpty() && told && !due && !runs(state.phase().name());
        }
        if (!rests) {
            signal();
            return;
        }
        // It rested when its last owner here let go; another host may have taken it up again since.
        parts.journal().session(name).thenAccept(summary -> {
            if (summary.filter(s -> runs(s.summary().phase())).isPresent()) {
                signal();
            }
        });
    }

    private static boolean runs(String phase) {
        return !phase.equals(Phase.PARKED.name()) && !phase.equals(Phase.PAUSED.name());
    }

    /** Another host may own the session, now or again: what it records is looked for each second. */
    void poll() {
        synchronized (lock) {
            if (owner.isPresent()) {
                owner.get().endIfLost();
                return;
            }
            if (!elsewhere() && !observers.any() && !feed.isFollowed()) {
                return;
            }
        }
        feed.committed();
        observers.signal();
        lookForState();
    }

    /** Under the lock: what happens to the session is not told here by an owner. */
    private boolean elsewhere() {
        return owned || sleepsOnMail();
    }

    /** For those who wait for a state of a session that is not owned here. */
    private void lookForState() {
        synchronized (lock) {
            if (awaiting.isEmpty() && !watches.anyStates()) {
                return;
            }
        }
        chronicle.state().thenAcceptBoth(parts.journal().session(name), (now, summary) -> {
            watches.reached(now);
            synchronized (lock) {
                if (!(owner.isPresent() && told)) {
                    boolean unread = summary.filter(s -> s.unread() > 0).isPresent()
                            || !now.front().isEmpty();
                    awaited(now.phase(), unread);
                }
            }
        });
    }

    /** For the owner, which is woken when there is none. False when this host stops. */
    boolean offer(Input input) {
        synchronized (lock) {
            if (closed) {
                return false;
            }
            if (owner.isPresent() && !changing) {
                owner.get().offer(input);
                return true;
            }
            early.add(input);
            signal();
            return true;
        }
    }

    /** As {@link #offer}, to the owner there is, or is about to be: without one it is of no use. */
    void offerIfAwake(Input input) {
        synchronized (lock) {
            if (owner.isPresent() || waking) {
                offer(input);
            }
        }
    }

    /** As {@link #offer}, for a take, which learns when the owner has looked at it. */
    void offer(Reading.Take take, Input.TakeWanted wanted) {
        synchronized (lock) {
            if (owner.isPresent() && !changing) { // else its feed is over, which it learns
                takesAsked++;
                take.ticket(takesAsked);
                owner.get().offer(wanted);
            }
        }
    }

    /** Mail may have come in. */
    void arrived() {
        observers.signal();
        boolean sleeps;
        synchronized (lock) {
            sleeps = sleepsOnMail() && owner.isEmpty();
        }
        if (sleeps) {
            lookForState();
        } else {
            signal();
        }
    }

    /** Something may have come in: the owner is told, or woken. */
    void signal() {
        synchronized (lock) {
            if (closed || waking || (changing && owner.isPresent())) {
                return; // an owner being woken reads everything anyway
            }
            if (owner.isPresent()) {
                owner.get().signal();
                return;
            }
            waking = true;
            parts.sessions().keep(this);
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
            refusedSince = Optional.empty();
            told = false;
            takesAsked = 0;
            internals.forget();
            var next = owner(claim);
            owner = Optional.of(next);
            next.wake(taking.harness().name(), taking.settings());
            if (closed || changing) {
                next.offer(new Input.Leaving());
            } else {
                early.forEach(next::offer);
                early.clear();
            }
        }
    }

    private Owner owner(Claim claim) {
        return new Owner(
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
    }

    /** Under the lock. Owned by another host, it is acted on there, and what is waited for is read from the journal. */
    private void unclaimed(@Nullable Throwable failure) {
        boolean refused =
                Blocking.cause(failure) instanceof JournalException j && j.problem() == JournalException.Problem.OWNED;
        changing = false;
        told = false;
        departed(released);
        if (refused && !early.isEmpty() && !closed && triesAgain()) {
            return;
        }
        refusedSince = Optional.empty();
        early.clear();
        reading.ifPresent(r -> r.lost(FeedEnd.FENCED));
        beginFromJournal();
        if (refused) {
            LOG.debug("session {}: {}", name, reason(failure));
            owned = true;
            resumeStored = 0;
            watches.failOwners(new HoldfastException("session " + name + ": " + reason(failure)
                    + "; nothing was done, try again when it was let go there"));
            callers.waiting().stream().filter(c -> !c.watched()).forEach(this::search);
            return;
        }
        LOG.error("session {} cannot be claimed", name, failure);
        failAll("the session cannot be taken up: " + reason(failure));
    }

    /** Under the lock: no owner here will say where those who observe begin. */
    private void beginFromJournal() {
        begins.forEach(b -> follow(chronicle.state(), b));
        begins.clear();
    }

    private static <T> void follow(CompletionStage<T> stage, CompletableFuture<T> follower) {
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                follower.complete(value);
            } else {
                follower.completeExceptionally(failure);
            }
        });
    }

    /** A hand-off takes moments: who needs the owner need not notice it (IN-18). */
    private boolean triesAgain() {
        var surroundings = parts.options().surroundings();
        var since = refusedSince.orElseGet(surroundings::now);
        refusedSince = Optional.of(since);
        if (surroundings.now().isAfter(since.plus(HAND_OFF_WAIT))) {
            return false;
        }
        surroundings.at(surroundings.now().plus(HAND_OFF_RETRY), this::signal);
        return true;
    }

    /** Under the lock: nobody waits for what this session does. */
    private boolean unwatched() {
        return callers.isEmpty()
                && awaiting.isEmpty()
                && internals.isEmpty()
                && settling.isEmpty()
                && early.isEmpty()
                && reading.isEmpty()
                && !watches.any()
                && !feed.isFollowed()
                && !observers.any();
    }

    @Override
    public boolean mayRest(Owner resting) {
        synchronized (lock) {
            if (owner.filter(o -> o == resting).isEmpty() || !resting.inboxEmpty()) {
                return false;
            }
            owner = Optional.empty();
            chronicle.remember(new Chronicle.Known(state, resting.seq()));
            internals.forget();
            released = resting.resign();
            gone(released);
            if (parts.options().resolves() && unwatched()) {
                parts.sessions().letGo(this);
            }
            return true;
        }
    }

    /** Under the lock: there is no owner any more once {@code end} is over. */
    private void gone(CompletionStage<?> end) {
        changing = false;
        departed(end);
        if (!early.isEmpty()) {
            signal();
        }
    }

    private void departed(CompletionStage<?> end) {
        var waiting = List.copyOf(down);
        down.clear();
        waiting.forEach(d -> end.whenComplete((ok, failure) -> elsewhere(() -> d.complete(null))));
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
            owned |= cause.isEmpty();
            told = false;
            reading.ifPresent(r -> r.lost(FeedEnd.FENCED));
            early.clear();
            beginFromJournal();
            failAll(why + cause.map(c -> ": " + reason(c)).orElse(""));
            gone(released);
        }
    }

    private static String reason(@Nullable Throwable failure) {
        var cause = Blocking.cause(failure);
        return cause == null || cause.getMessage() == null ? String.valueOf(cause) : cause.getMessage();
    }

    /** Under the lock. */
    private void failAll(String why) {
        var failure = new HoldfastException("session " + name + ": " + why + "; what was accepted is kept");
        callers.failAll(failure);
        watches.failAll(failure);
        nothingInHand();
    }

    /** Under the lock: what hangs on the owner there was is over. */
    private void nothingInHand() {
        internals.forget();
        List.copyOf(settling.keySet()).forEach(number -> settled(number, false));
        awaiting.forEach(a -> elsewhere(() -> a.complete(false)));
        awaiting.clear();
    }

    /** Callers are completed on a thread of their own: what hangs on them is somebody else's code. */
    void elsewhere(Runnable completion) {
        parts.options().surroundings().executor().execute(completion);
    }

    /** Ends the process and lets the owner go, for good; what is open stays open. Completes when nothing runs any more. */
    CompletableFuture<Void> leave() {
        synchronized (lock) {
            closed = true;
            early.clear();
            begins.forEach(b -> b.cancel(false));
            begins.clear();
            reading.ifPresent(r -> r.lost(FeedEnd.ENDED));
            failAll("the host stops");
            watches.stop(new HoldfastException("session " + name + ": this host is closed; what was accepted is kept"));
            return depart();
        }
    }

    /** The host is closed: nobody is told anything any more. */
    void stop() {
        feed.stop();
        observers.stop();
    }

    /**
     * Somebody else takes the mail here from now on; the owner there is goes first.
     *
     * @throws HoldfastException when an agent has it, or a reader that is not closed
     */
    CompletionStage<Void> become(Taking next) {
        synchronized (lock) {
            if (releasing.isPresent()) { // taken up again once it was let go
                return releasing.get().handle((drained, failure) -> null).thenCompose(over -> become(next));
            }
            if (taking.taker() == next.taker()) {
                return CompletableFuture.completedFuture(null);
            }
            if (taking.taker() == Taker.AGENT || reading.filter(r -> !r.over()).isPresent()) {
                throw new HoldfastException("session " + name + " is taken up here by "
                        + (taking.taker() == Taker.AGENT ? "an agent" : "a reader")
                        + " already: let it go first, with close of the reader or release of the session");
            }
            letGo = false;
            return change(next);
        }
    }

    /** Drains it, then lets it go (IN-18). Who asks while that is under way waits for the same. */
    CompletionStage<Drained> release(Duration within) {
        var drained = drain(within);
        var over = new CompletableFuture<Drained>();
        synchronized (lock) {
            if (releasing.isPresent()) {
                return releasing.get();
            }
            releasing = Optional.of(over);
        }
        var released = drained.thenCompose(left -> letGo().thenApply(gone -> left))
                .whenComplete((left, failure) -> {
                    synchronized (lock) {
                        releasing = Optional.empty();
                    }
                });
        follow(released, over);
        return over;
    }

    /** Nobody takes the mail here any more, so that another host can; senders and observers do not notice (IN-18). */
    private CompletionStage<Void> letGo() {
        synchronized (lock) {
            letGo = true;
            reading.ifPresent(r -> r.lost(FeedEnd.ENDED));
            nothingInHand();
            var gone = change(Taking.without(Taker.NOBODY));
            return gone.thenRun(() -> {
                synchronized (lock) {
                    callers.waiting().forEach(this::search);
                }
            });
        }
    }

    private CompletableFuture<Void> change(Taking next) {
        taking = next;
        changing = owner.isPresent() || waking;
        told &= owner.isPresent();
        return depart();
    }

    /** Under the lock: completes once the owner there is has gone. */
    private CompletableFuture<Void> depart() {
        if (owner.isEmpty() && !waking) {
            return released.handle((ok, failure) -> (Void) null).toCompletableFuture();
        }
        var gone = new CompletableFuture<Void>();
        down.add(gone);
        owner.ifPresent(o -> o.offer(new Input.Leaving()));
        return gone;
    }

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
                    case Event.SteerLanded e -> callers.steered(e.message().number(), SteerAnswer.LANDED);
                    case Event.TurnOpened e ->
                        e.messages().forEach(m -> callers.steered(m.number(), SteerAnswer.QUEUED));
                    case Event.PhaseChanged e -> phaseChanged(e);
                    case Event.ArrivalDone e -> {
                        wordless(e.number(), e.kind() + ": " + e.what());
                    }
                    case Event.MessagesTaken e ->
                        e.messages().stream()
                                .filter(m -> !m.kind().speaks())
                                .forEach(m -> wordless(m.number(), m.kind() + ", which a reader has taken"));
                    case Event.InterruptAsked e -> wordless(e.number(), "a cancel");
                    case Event.FinishAsked e -> wordless(e.number(), "a wish to finish");
                    case Event.QuestionAnswered e -> wordless(e.number(), "an answer to question " + e.id());
                    case Event.MessagesReleased e -> wordless(e.number(), "a release");
                    case Event.MessageEnded e -> settled(e.message().number(), e.inHand());
                    case Event.MessagesReturned e -> e.messages().forEach(m -> settled(m.number(), false));
                    default -> {}
                }
                internals.committed(event);
                reading.ifPresent(r -> r.committed(event));
            }
        }
        feed.committed();
    }

    /** Under the lock. */
    private void now(Durable next, Live nextLive) {
        state = next;
        live = nextLive;
        told = true;
    }

    private void phaseChanged(Event.PhaseChanged e) {
        if (e.trigger() == Phase.Trigger.PARK) {
            callers.parked(parkedFailure(e.reason()));
        } else if (e.trigger() == Phase.Trigger.CLOSE) {
            callers.waiting().forEach(this::search); // for a number that was never given nothing comes any more
        }
    }

    /** Of all who want to end a message that was taken, the first one did. */
    private void settled(long number, boolean done) {
        var all = Optional.ofNullable(settling.remove(number)).orElse(List.of());
        for (int i = 0; i < all.size(); i++) {
            var end = all.get(i);
            boolean his = done && i == 0;
            elsewhere(() -> end.complete(his));
        }
    }

    /** Under the lock: who waits for a reply to something that carries no words is told that none will come. */
    private void wordless(long number, String what) {
        callers.fail(wordlessFailure(number, what), c -> c.number() == number);
    }

    private HoldfastException wordlessFailure(long number, String what) {
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
    private void awaited() {
        if (told && !(resuming() && state.phase() != Phase.CLOSED)) {
            awaited(state.phase(), parts.options().core().waits(state, live));
        }
    }

    private void awaited(Phase phase, boolean waits) {
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
    public void text(long turn, String fragment) {
        feed.text(turn, fragment);
    }

    /** Typed when the agent cannot run here at all, which the reason's first word says (HN-12). */
    private HoldfastException parkedFailure(String reason) {
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
    private CompletionStage<Receipt> acceptAndAct(Delivery delivery) {
        return accept(delivery).thenApply(receipt -> {
            if (receipt instanceof Receipt.Stored) {
                signal();
            }
            return receipt;
        });
    }

    private CompletionStage<Receipt> accept(Delivery delivery) {
        if (closed()) {
            return hostClosed();
        }
        return onward(parts.journal().accept(delivery));
    }

    private boolean closed() {
        synchronized (lock) {
            return closed;
        }
    }

    private static <T> CompletableFuture<T> hostClosed() {
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

    private CompletionStage<Receipt> submit(Payload payload) {
        return submit(payload, Author.host(), Optional.empty());
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
    private Callers.Caller wait(long number, boolean failsWhenParked) {
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
    private void search(Callers.Caller caller) {
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

    private void forget(Callers.Caller caller) {
        synchronized (lock) {
            callers.remove(caller);
        }
    }

    /** Where another host owns the session its events are watched; here they come by themselves. */
    private void notEndedYet(Callers.Caller caller) {
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
    private void neverEnds(Callers.Caller caller) {
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
                    never.ifPresent(why -> {
                        forget(caller);
                        caller.reply().completeExceptionally(why);
                    });
                });
    }

    /** A message that has not ended will not while its session is parked: who asks is told. */
    private void stillParked() {
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

    private static Withdrawal withdrawal(long number, String what) {
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

    // ---- what is known --------------------------------------------------------------------------------------------

    @Override
    public Subscription events(long after, EventListener listener) {
        parts.sessions().keep(this);
        return feed.subscribe(after, listener);
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
    private CompletionStage<Durable> known() {
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
    private boolean resuming() {
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
        var over = watches.state(now -> now.phase() == Phase.CLOSED ? now.takenThrough() >= close : now.named(close));
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
        parts.sessions().keep(this);
        return observers.onInterrupt(handler);
    }

    @Override
    public Subscription onDelivery(Consumer<Received> handler) {
        parts.sessions().keep(this);
        return observers.onDelivery(
                handler,
                begin().thenCompose(now -> chronicle
                        .load(now.front())
                        .thenApply(front -> new Observers.Begin(front, now.takenThrough(), now::named))));
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
            settling.computeIfAbsent(number, n -> new ArrayList<>()).add(end);
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
                signal();
                return found;
            });
        });
    }
}
