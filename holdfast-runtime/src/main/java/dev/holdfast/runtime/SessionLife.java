package dev.holdfast.runtime;

import dev.holdfast.Agent;
import dev.holdfast.Binding;
import dev.holdfast.BindingMismatch;
import dev.holdfast.Claim;
import dev.holdfast.Drained;
import dev.holdfast.FeedEnd;
import dev.holdfast.Harness;
import dev.holdfast.HarnessNeed;
import dev.holdfast.HoldfastException;
import dev.holdfast.JournalException;
import dev.holdfast.Outcome;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SessionPolicy;
import dev.holdfast.SessionSummary;
import dev.holdfast.Tool;
import dev.holdfast.TurnHarness;
import dev.holdfast.TurnOptions;
import dev.holdfast.TurnSettings;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Settings;
import dev.holdfast.core.Settings.Taker;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of a session on this host: wakes its owner when there is something to do and lets it go when there is nothing.
 * What it does for its users is in {@link SessionMail} and {@link LiveSession}. Thread-safe; {@code lock} guards which
 * owner is current and who waits for what, is held only for moments, and of other locks only a reading's and the store's
 * are taken under it.
 */
abstract class SessionLife implements Session, Owner.Audience {
    private static final Logger LOG = LoggerFactory.getLogger(LiveSession.class);
    /** How long somebody who needs the owner waits while another host has the session (IN-18), and how often it is tried. */
    private static final Duration HAND_OFF_WAIT = Duration.ofSeconds(5);

    private static final Duration HAND_OFF_RETRY = Duration.ofMillis(250);

    final SessionName name;
    final Holdfast.Parts parts;
    final Feed feed;
    final Observers observers;
    final Chronicle chronicle;
    final Watches watches;

    final Object lock = new Object();
    Taking taking;
    Optional<Owner> owner = Optional.empty();
    /** The end of the last owner's work on the claim: the next claim is taken after it. */
    CompletionStage<?> released = CompletableFuture.completedFuture(null);

    boolean waking;
    /** The owner is told to go, since somebody else takes the mail from now on. */
    boolean changing;

    boolean closed;
    /** Another host owns it, or will: it was let go here. */
    boolean owned;

    boolean letGo;
    Optional<Instant> refusedSince = Optional.empty();
    /** How many wishes to resume are being stored, and the number of the newest that was. */
    int resumesStoring;

    long resumeStored;
    final List<CompletableFuture<Void>> down = new ArrayList<>();
    /** What the present owner has said of its state; meaningless before it said something. */
    Durable state = Durable.empty();

    Live live = Live.none();
    boolean told;
    /** Observers that begin with the state of the owner that is being woken. */
    final List<CompletableFuture<Durable>> begins = new ArrayList<>();

    /** Inputs for an owner that is not awake yet. */
    final List<Input> early = new ArrayList<>();

    final Callers callers;
    final Internals internals;
    final QuestionListeners listeners;
    final Beats beats = new Beats();
    final List<CompletableFuture<Boolean>> awaiting = new ArrayList<>();
    final Map<Long, List<Ending>> settling = new LinkedHashMap<>();
    Optional<Reading> reading = Optional.empty();
    Optional<CompletableFuture<Drained>> releasing = Optional.empty();
    long takesAsked;
    /** Who waits for an end was looked up in the events up to here, while there is no owner. */
    private long searchedThrough;
    /** The last event and the last arrival that the last owner here knew when it went to rest. */
    private long restedAt;

    private long restedThrough;
    /** Something may have come in while the owner left. */
    private boolean missed;

    /**
     * Who takes the session's mail here, and how.
     *
     * @param found it is the agent that the host was told of for the session; one given explicitly wins over it (HN-09)
     */
    record Taking(
            Harness harness,
            Map<String, Tool> tools,
            Binding binding,
            TurnSettings settings,
            SessionPolicy policy,
            Taker taker,
            boolean found) {
        static Taking agent(Agent agent, SessionPolicy policy) {
            var tools = Tools.of(agent.tools());
            var settings = agent.turnSettings();
            if (agent.harness() instanceof TurnHarness thinker) {
                check(thinker, settings);
            }
            return new Taking(
                    agent.harness(), tools, Tools.binding(agent, tools), settings, policy, Taker.AGENT, false);
        }

        Taking found(boolean answer) {
            return new Taking(harness, tools, binding, settings, policy, taker, answer);
        }

        private static void check(TurnHarness thinker, TurnSettings settings) {
            var unused = TurnOptions.of(thinker.name(), settings.options(), thinker.turnOptions());
            if (thinker.requires().contains(HarnessNeed.SANDBOX)) {
                throw new IllegalArgumentException("harness '" + thinker.name()
                        + "' needs a sandbox, and this host has none: use a harness that does without");
            }
        }

        /** A reading surface, or nobody. */
        static Taking without(Taker taker) {
            return new Taking(
                    NoAgent.INSTANCE,
                    Map.of(),
                    Binding.none(),
                    TurnSettings.standard(),
                    SessionPolicy.standard(),
                    taker,
                    false);
        }

        Settings ofMail() {
            return new Settings(
                    policy.stay() == SessionPolicy.Stay.STAY_OPEN,
                    policy.combine(),
                    policy.boundary().isPresent(),
                    taker,
                    binding.recorded());
        }

        /** Every difference to the taking in force, the policy's included: who asks again must not be ignored (HS-03). */
        List<String> differences(Taking inForce) {
            return bound().differences(inForce.bound());
        }

        private Binding bound() {
            return binding.shown("policy: stay", policy.stay())
                    .shown("policy: combine", policy.combine())
                    .shown("policy: boundary", policy.boundary().isPresent() ? "asked" : "none");
        }
    }

    SessionLife(SessionName name, Taking taking, Holdfast.Parts parts) {
        this.name = name;
        this.taking = taking;
        this.parts = parts;
        var executor = parts.options().surroundings().executor();
        this.feed = new Feed(name, parts.journal(), parts.options().surroundings());
        this.observers = new Observers(name, parts);
        this.chronicle = new Chronicle(name, parts);
        this.watches = new Watches(feed, parts);
        this.callers = new Callers(executor);
        this.internals = new Internals(executor);
        this.listeners = new QuestionListeners(executor);
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

    /**
     * A reader's wish to end a message.
     *
     * @param end whether the record is of it
     */
    record Ending(Outcome outcome, String text, CompletableFuture<Boolean> end) {}

    abstract LiveSession self();

    /** Looks for the end of what a caller waits for in what is recorded. */
    abstract void search(Callers.Caller caller);

    /** Under the lock: whoever wants to end a message that a reader has taken is told whether he did. */
    abstract void settled(long number, Predicate<Ending> his);

    /** Under the lock: who waits for something to take is told. */
    abstract void awaited(Phase phase, boolean waits);

    // ---- the owner's life -----------------------------------------------------------------------------------------

    /** Under the lock: mail alone need not wake an owner, since nobody here takes it. */
    boolean sleepsOnMail() {
        return taking.taker() == Taker.NOBODY;
    }

    /**
     * As {@link #signal}, each second while the journal says that something is open. What the last owner here saw when it
     * went to rest is no reason to wake another: only what came after, from a sender or another host (IN-21).
     */
    void sweep() {
        synchronized (lock) {
            if (owner.isEmpty() && sleepsOnMail()) {
                return;
            }
            boolean due = parts.options()
                    .core()
                    .wakeAt(state, live)
                    .filter(at -> !at.isAfter(parts.options().surroundings().now()))
                    .isPresent();
            if (owner.isPresent() || !told || due) {
                signal();
                return;
            }
        }
        logged(parts.journal().session(name).thenAccept(summary -> {
            if (summary.filter(this::wentOn).isPresent()) {
                signal();
            }
        }));
    }

    private boolean wentOn(SessionSummary summary) {
        synchronized (lock) {
            return summary.seq() != restedAt || summary.lastArrival() > restedThrough;
        }
    }

    /** Another host may own the session, now or again: what it records is looked for each second. */
    void poll() {
        synchronized (lock) {
            forgetIfPossible();
            boolean waited = !awaiting.isEmpty() || watches.anyStates() || !callers.isEmpty();
            boolean watched = observers.any() || feed.isFollowed();
            if (owner.isPresent() || !(elsewhere() || waited || watched)) {
                return;
            }
        }
        feed.committed();
        observers.signal();
        lookForState();
        lookForEnds();
    }

    /** An owner that does not hold the session any more ends, also while it has nothing to write (P3). */
    void endIfLost() {
        synchronized (lock) {
            owner.ifPresent(Owner::endIfLost);
        }
    }

    /** For those who wait for an end in a session that rested here: another host may have taken it up since. */
    private void lookForEnds() {
        synchronized (lock) {
            if (callers.isEmpty()) {
                return;
            }
        }
        logged(parts.journal().session(name).thenAccept(summary -> {
            synchronized (lock) {
                long seq = summary.map(SessionSummary::seq).orElse(0L);
                if (owner.isEmpty() && !waking && seq > searchedThrough) {
                    searchedThrough = seq;
                    callers.waiting().stream().filter(c -> !c.watched()).forEach(this::search);
                }
            }
        }));
    }

    private void logged(CompletionStage<?> look) {
        look.whenComplete((done, failure) -> {
            if (failure != null && !closed) {
                LOG.warn("session {} could not be looked at; it is tried again", name, failure);
            }
        });
    }

    /** Under the lock: what happens to the session is not told here by an owner. */
    boolean elsewhere() {
        return owned || sleepsOnMail();
    }

    /** For those who wait for a state of a session that is not owned here. */
    void lookForState() {
        synchronized (lock) {
            if (awaiting.isEmpty() && !watches.anyStates()) {
                return;
            }
        }
        logged(chronicle.state().thenAcceptBoth(parts.journal().session(name), (now, summary) -> {
            watches.reached(now);
            synchronized (lock) {
                if (!(owner.isPresent() && told)) {
                    boolean unread = summary.filter(s -> s.unread() > 0).isPresent()
                            || !now.front().isEmpty();
                    awaited(now.phase(), unread);
                }
            }
        }));
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
            if (closed || waking) {
                return; // an owner being woken reads everything anyway
            }
            if (changing && owner.isPresent()) {
                missed = true; // it leaves, and reads no more
                return;
            }
            if (owner.isPresent()) {
                owner.get().signal();
                return;
            }
            waking = true;
            parts.sessions().keep(self());
            released = released.handle((ok, failure) -> null)
                    .thenCompose(ignored -> parts.journal().claim(name, parts.node()))
                    .handle((claim, failure) -> {
                        claimed(claim, failure);
                        return null;
                    });
        }
    }

    void claimed(@Nullable Claim claim, @Nullable Throwable failure) {
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
            next.wake(taking.harness().name(), taking.ofMail());
            if (closed || changing) {
                next.offer(new Input.Leaving());
            } else {
                early.forEach(next::offer);
                early.clear();
            }
        }
    }

    Owner owner(Claim claim) {
        parts.sessions().uses(taking.harness());
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
                        taking.settings(),
                        taking.tools(),
                        parts.slots(),
                        parts.transcript(),
                        parts.options(),
                        parts.journal().storeId(),
                        parts.home(),
                        outlet));
    }

    /** Under the lock. Owned by another host, it is acted on there, and what is waited for is read from the journal. */
    void unclaimed(@Nullable Throwable failure) {
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
    void beginFromJournal() {
        begins.forEach(b -> follow(chronicle.state(), b));
        begins.clear();
    }

    static <T> void follow(CompletionStage<T> stage, CompletableFuture<T> follower) {
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                follower.complete(value);
            } else {
                follower.completeExceptionally(failure);
            }
        });
    }

    /** A hand-off takes moments: who needs the owner need not notice it (IN-18). */
    boolean triesAgain() {
        var surroundings = parts.options().surroundings();
        var since = refusedSince.orElseGet(surroundings::now);
        refusedSince = Optional.of(since);
        if (surroundings.now().isAfter(since.plus(HAND_OFF_WAIT))) {
            return false;
        }
        surroundings.at(surroundings.now().plus(HAND_OFF_RETRY), this::signal);
        return true;
    }

    /** Somebody waits for what this session does: it is not forgotten before he has it. Called behind that he does. */
    void watched() {
        synchronized (lock) {
            parts.sessions().keep(self());
        }
    }

    /** Under the lock: one that sleeps unwatched and can be made again is kept only by those who refer to it. */
    private void forgetIfPossible() {
        boolean made = taking.taker() == Taker.NOBODY || taking.found();
        if (made && !letGo && !closed && owner.isEmpty() && !waking && unwatched()) {
            parts.sessions().letGo(self());
        }
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
            searchedThrough = resting.seq();
            restedAt = resting.seq();
            restedThrough = resting.readThrough();
            internals.forget();
            released = resting.resign();
            gone(released);
            forgetIfPossible();
            return true;
        }
    }

    /** Under the lock: there is no owner any more once {@code end} is over. */
    void gone(CompletionStage<?> end) {
        changing = false;
        departed(end);
        if (!early.isEmpty() || missed) {
            missed = false;
            signal();
        }
    }

    void departed(CompletionStage<?> end) {
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

    static String reason(@Nullable Throwable failure) {
        var cause = Blocking.cause(failure);
        return cause == null || cause.getMessage() == null ? String.valueOf(cause) : cause.getMessage();
    }

    /** Under the lock. */
    void failAll(String why) {
        var failure = new HoldfastException("session " + name + ": " + why + "; what was accepted is kept");
        callers.failAll(failure);
        watches.failAll(failure);
        nothingInHand();
    }

    /** Under the lock: what hangs on the owner there was is over. */
    void nothingInHand() {
        internals.forget();
        List.copyOf(settling.keySet()).forEach(number -> settled(number, ending -> false));
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
     * @throws BindingMismatch when the agent that has it is bound otherwise (HS-03)
     */
    CompletionStage<Void> become(Taking next) {
        synchronized (lock) {
            if (releasing.isPresent()) { // taken up again once it was let go
                return releasing.get().handle((drained, failure) -> null).thenCompose(over -> become(next));
            }
            if (taking.taker() == next.taker()) {
                var differences = next.differences(taking);
                boolean explicit = next.taker() == Taker.AGENT && !next.found();
                if (!differences.isEmpty() && explicit && taking.found()) {
                    return change(next);
                }
                if (!differences.isEmpty() && !next.found()) {
                    throw new BindingMismatch(name, differences);
                }
                taking = taking.found(taking.found() && next.found());
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

    /** Another agent takes the mail once {@code rest} has come; the owner there is goes first, with its process. */
    CompletionStage<Void> swapped(Agent agent, Supplier<CompletionStage<Void>> rest) {
        synchronized (lock) {
            checkAgent();
            var unused = Taking.agent(agent, taking.policy()); // refused now or not at all
        }
        return rest.get()
                .thenCompose(rested -> {
                    synchronized (lock) {
                        checkAgent();
                        return change(Taking.agent(agent, taking.policy()));
                    }
                })
                .thenRun(this::signal);
    }

    private void checkAgent() {
        if (taking.taker() != Taker.AGENT) {
            throw new HoldfastException(
                    "session " + name + " has no agent here that could be swapped: open it with one");
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
    CompletionStage<Void> letGo() {
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

    CompletableFuture<Void> change(Taking next) {
        taking = next;
        changing = owner.isPresent() || waking;
        told &= owner.isPresent();
        return depart();
    }

    /** Under the lock: completes once the owner there is has gone. */
    CompletableFuture<Void> depart() {
        if (owner.isEmpty() && !waking) {
            return released.handle((ok, failure) -> (Void) null).toCompletableFuture();
        }
        var gone = new CompletableFuture<Void>();
        down.add(gone);
        owner.ifPresent(o -> o.offer(new Input.Leaving()));
        return gone;
    }
}
