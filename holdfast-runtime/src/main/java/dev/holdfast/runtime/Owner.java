package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.Batch;
import dev.holdfast.Beat;
import dev.holdfast.Claim;
import dev.holdfast.DeliveryId;
import dev.holdfast.EventRecord;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import dev.holdfast.ToolProgress;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Settings;
import dev.holdfast.core.Told;
import dev.holdfast.core.Turn;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The owner of one awake session: a passive serial object. Anything may {@link #offer}; {@code run} takes what is waiting,
 * decides, appends one batch, and goes on when the commit is reported. Until then neither state nor effects change. It
 * never waits for an agent and never blocks. All fields below the inbox are used by the serial task alone.
 */
final class Owner {
    private static final Logger LOG = LoggerFactory.getLogger(Owner.class);
    private static final int ARRIVALS_PAGE = 1_000;
    private static final long SNAPSHOT_BYTES = 1 << 20;
    private static final int REASON_MAX = 500;
    /** What an urgent arrival that was accepted before must come before: it cancels, withdraws, pauses (IN-13, IN-14). */
    private static final Set<String> AFTER_URGENT = Set.of(
            Event.TurnSettled.class.getSimpleName(),
            Event.TurnOpened.class.getSimpleName(),
            Event.MessagesTaken.class.getSimpleName(),
            Event.QuestionAsked.class.getSimpleName());

    private final SessionName session;
    private final Claim claim;
    private final Journal journal;
    private final Core core;
    private final EventCodec codec;
    private final Envelope envelope;
    private final Surroundings surroundings;
    private final int snapshotEvents;
    private final Audience audience;
    private final EffectRunner runner;

    private final Queue<Runnable> inbox = new ConcurrentLinkedQueue<>();
    private final AtomicInteger pending = new AtomicInteger();

    private final ArrayList<Input> inputs = new ArrayList<>();
    /** Those behind the append that is under way: decided again when it is refused as behind. */
    private List<Input> deciding = List.of();

    private Durable durable = Durable.empty();
    private Live live = Live.none();
    private long seq;
    private boolean appending;
    private boolean reading;
    private boolean readAgain;
    private final TreeSet<Long> announced = new TreeSet<>();
    private long readThrough;
    /** Every urgent arrival up to here was decided on. */
    private long urgentThrough;

    private boolean over;
    private int eventsSinceSnapshot;
    private long bytesSinceSnapshot;
    private Optional<Surroundings.Alarm> alarm = Optional.empty();
    private Optional<Instant> alarmAt = Optional.empty();

    /** Who hears of committed events. Called from the owner's serial task; never blocks. */
    interface Audience {
        /** Before anything else: the state the journal had. */
        void recovered(Durable state);

        /** After each commit. */
        void committed(List<Event> events, Durable state, Live live);

        /** After each change of what is live only. */
        void moved(Durable state, Live live);

        void text(long turn, String fragment);

        /** @param first whether no turn of the session has ended yet */
        void beat(long turn, boolean first, Beat beat);

        void progress(long turn, ToolProgress progress);

        /** Nothing is left to do; true when the owner was let go, false when something came in. */
        boolean mayRest(Owner owner);

        /** Urgent arrivals were read and are not acted on yet (IN-06). */
        void announce(List<Arrival> urgent);

        /** The words of an internal request (MB-16). */
        String internal(DeliveryId id);

        /** What the session's boundary says of a message (MB-10). */
        boolean rejects(String text);

        /** Whether somebody listens to questions (TL-04). */
        boolean listened();

        /** The ownership is lost or the store failed; the owner does nothing more. */
        void over(Owner owner, String why, Optional<Throwable> cause);
    }

    /** Makes the runner once the owner exists, since each needs the other. */
    interface RunnerFactory {
        EffectRunner create(EffectRunner.Outlet outlet);
    }

    Owner(
            SessionName session,
            Claim claim,
            Journal journal,
            EventCodec codec,
            Envelope envelope,
            Options options,
            Audience audience,
            RunnerFactory runners) {
        this.session = session;
        this.claim = claim;
        this.journal = journal;
        this.core = options.core();
        this.codec = codec;
        this.envelope = envelope;
        this.surroundings = options.surroundings();
        this.snapshotEvents = options.snapshotEvents();
        this.audience = audience;
        this.runner = runners.create(new RunnerOutlet());
    }

    /** Folds what the claim recovered, then begins as any owner begins. Called once, before anything is offered. */
    void wake(String harness, Settings settings) {
        later(() -> {
            recover();
            audience.recovered(durable);
            var seed = HexFormat.of().formatHex(surroundings.random(16));
            inputs.add(new Input.Awake(seed, harness, claim.epoch(), settings));
            readUrgent();
        });
    }

    void offer(Input input) {
        later(() -> inputs.add(input));
    }

    /** Arrivals may have come in. A signal, not data: losing one is healed by the next (IN-21). */
    void signal() {
        later(this::readArrivals);
    }

    /** One that has nothing to write would not learn from an append that it owns the session no more (P3). */
    void endIfLost() {
        if (!claim.holds()) {
            later(() ->
                    stop("this host's ownership has run out, or another owner has taken it over", Optional.empty()));
        }
    }

    /** True when nothing waits to be done; meaningful only while the caller keeps others from offering. */
    boolean inboxEmpty() {
        return inbox.isEmpty();
    }

    /** Runs a step in the serial task, then whatever follows from it. */
    private void later(Runnable step) {
        inbox.add(step);
        if (pending.getAndIncrement() == 0) {
            surroundings.executor().execute(this::run);
        }
    }

    private void run() {
        int taken = pending.get();
        do {
            Runnable step;
            while ((step = inbox.poll()) != null) {
                if (!over) {
                    guarded(step);
                }
            }
            if (!over) {
                guarded(this::decide);
            }
            taken = pending.addAndGet(-taken);
        } while (taken != 0);
    }

    /** A broken invariant stops this session, with its last state in the log; the host goes on. */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) { // an Error too: this session must not stay dead behind a live owner
            LOG.error("session {} stops: {} [state {}] [live {}]", session, e.getMessage(), durable, live, e);
            stop("internal error: " + e.getMessage(), Optional.of(e));
        }
    }

    private void recover() {
        var recovered = claim.recovered();
        var snapshot = recovered.snapshot().map(codec::restore);
        long from = snapshot.isPresent() ? recovered.snapshot().orElseThrow().seq() : 0;
        durable = snapshot.orElse(Durable.empty());
        for (StoredEvent stored : recovered.tail()) {
            if (stored.seq() > from) {
                durable = core.apply(durable, codec.decode(stored));
            }
        }
        seq = recovered.seq();
        eventsSinceSnapshot = (int) Math.min(Integer.MAX_VALUE, seq - from);
    }

    // ---- arrivals -------------------------------------------------------------------------------------------------

    /** A cancel behind ten thousand messages must not wait for them (IN-05). */
    private void readUrgent() {
        reading = true;
        journal.arrivals(session, durable.takenThrough(), ARRIVALS_PAGE, Selection.URGENT_HEADERS)
                .whenComplete((page, failure) -> later(() -> {
                    reading = false;
                    if (failed("read urgent arrivals", failure)) {
                        return;
                    }
                    arrived(page, 0);
                    readArrivals();
                }));
    }

    /** IN-13: an urgent arrival came first; it is read, and what was decided is decided again behind it. */
    private void behind() {
        journal.arrivals(session, urgentThrough, ARRIVALS_PAGE, Selection.URGENT_HEADERS)
                .whenComplete((page, failure) -> later(() -> {
                    if (failed("read urgent arrivals", failure)) {
                        return;
                    }
                    announce(page);
                    appending = false;
                    // Behind the arrivals that were decided on before, which are older; all of them come first again.
                    inputs.addFirst(new Input.Arrived(
                            page.stream().map(envelope::header).toList(), 0));
                    inputs.addAll(0, deciding);
                }));
    }

    private void readArrivals() {
        if (reading) {
            readAgain = true;
            return;
        }
        reading = true;
        readAgain = false;
        journal.arrivals(session, readThrough(), ARRIVALS_PAGE, Selection.HEADERS)
                .whenComplete((page, failure) -> later(() -> {
                    reading = false;
                    if (failed("read arrivals", failure)) {
                        return;
                    }
                    if (!page.isEmpty()) {
                        readThrough = page.getLast().number();
                        arrived(page, readThrough);
                    }
                    if (readAgain || !page.isEmpty()) { // only an empty page is the end
                        readArrivals();
                    }
                }));
    }

    private void arrived(List<Arrival> page, long through) {
        announce(page);
        inputs.add(new Input.Arrived(page.stream().map(envelope::header).toList(), through));
    }

    /** Each once by this owner, in order, before it can be acted on. */
    private void announce(List<Arrival> page) {
        var urgent = page.stream()
                .filter(a -> a.kind().urgent() && !durable.named(a.number()) && announced.add(a.number()))
                .toList();
        announced.headSet(durable.takenThrough(), true).clear();
        if (!urgent.isEmpty()) {
            audience.announce(urgent);
        }
    }

    private boolean failed(String what, @Nullable Throwable failure) {
        if (failure == null) {
            return false;
        }
        stop("could not " + what, Optional.of(failure));
        return true;
    }

    // ---- deciding -------------------------------------------------------------------------------------------------

    private void decide() {
        if (appending) {
            return;
        }
        urgentFirst();
        var state = durable;
        var next = live;
        var events = new ArrayList<Event>();
        boolean nothing = inputs.isEmpty();
        var decided = new ArrayList<Input>();
        while (!inputs.isEmpty()) {
            var input = inputs.removeFirst();
            decided.add(input);
            if (input instanceof Input.Arrived a && !a.headers().isEmpty()) {
                urgentThrough = Math.max(urgentThrough, a.headers().getLast().number());
            }
            var decision = core.decide(state, next, input, surroundings.now());
            for (Event event : decision.events()) {
                state = core.apply(state, event);
                events.add(event);
            }
            boolean interrupts = next.interrupt() == Live.InterruptWindow.CLOSED
                    && decision.live().interrupt() == Live.InterruptWindow.WRITTEN;
            next = decision.live();
            if (interrupts) {
                break; // it is written once this is committed, and what comes after is decided on that
            }
        }
        if (!events.isEmpty()) {
            deciding = decided;
            append(events, state, next);
        } else {
            if (!nothing) {
                live = next;
                follow();
            }
            if (inputs.isEmpty()) {
                rest();
            } else {
                decide();
            }
        }
    }

    /**
     * IN-13: what was accepted comes before what is to be committed now, in whatever order it was told here. Arrivals keep
     * their order: each page says up to where all were read.
     */
    private void urgentFirst() {
        if (inputs.stream().noneMatch(Owner::urgent)) {
            return;
        }
        int at = inputs.getFirst() instanceof Input.Awake ? 1 : 0;
        var arrived = inputs.stream().filter(Input.Arrived.class::isInstance).toList();
        inputs.removeIf(Input.Arrived.class::isInstance);
        inputs.addAll(at, arrived);
    }

    private static boolean urgent(Input input) {
        return input instanceof Input.Arrived a
                && a.headers().stream().anyMatch(h -> h.kind().urgent());
    }

    private void append(List<Event> events, Durable state, Live next) {
        var records = events.stream().map(codec::encode).toList();
        eventsSinceSnapshot += events.size();
        for (EventRecord r : records) {
            bytesSinceSnapshot += r.body().length;
        }
        Optional<SnapshotRecord> snapshot = Optional.empty();
        if (eventsSinceSnapshot >= snapshotEvents || bytesSinceSnapshot >= SNAPSHOT_BYTES) {
            snapshot = Optional.of(codec.snapshot(seq + events.size(), state));
            eventsSinceSnapshot = 0;
            bytesSinceSnapshot = 0;
        }
        appending = true;
        claim.append(batch(records, state, next, snapshot))
                .whenComplete((answer, failure) -> later(() -> appended(events, state, next, answer, failure)));
    }

    private Batch batch(List<EventRecord> records, Durable state, Live next, Optional<SnapshotRecord> snapshot) {
        boolean quiet = state.turn().isEmpty()
                && state.continueAfter().isEmpty()
                && state.reading().inHand().isEmpty()
                && !core.waits(state, next);
        boolean waits = records.stream().anyMatch(r -> AFTER_URGENT.contains(r.type()));
        return new Batch(
                UUID.nameUUIDFromBytes(surroundings.random(16)),
                seq,
                records,
                admission(state),
                state.takenThrough(),
                state.ordinaryDone(),
                state.ordinaryDoneBytes(),
                quiet ? OptionalLong.of(Math.max(next.seenThrough(), state.takenThrough())) : OptionalLong.empty(),
                dueAt(state, next),
                state.openTurn(),
                waits ? OptionalLong.of(Math.max(urgentThrough, state.takenThrough())) : OptionalLong.empty(),
                new Batch.Summary(
                        state.phase().name(),
                        shortened(state.phaseReason()),
                        state.turn().map(Turn::openedAt),
                        state.costMicros(),
                        state.lastWords()),
                snapshot);
    }

    /** Messages given back are no arrivals that set the mark: for their sake the session is due at once (IN-21). */
    private Optional<Instant> dueAt(Durable state, Live next) {
        boolean waits = state.phase() == Phase.OPEN
                && state.turn().isEmpty()
                && !state.front().isEmpty();
        return waits ? Optional.of(surroundings.now()) : core.wakeAt(state, next);
    }

    /** Whether senders are let in, when that changes now (MB-07). */
    private Optional<Batch.Admission> admission(Durable state) {
        boolean shuts = state.phase() == Phase.CLOSED && durable.phase() != Phase.CLOSED;
        if (shuts) {
            return Optional.of(new Batch.Admission(false, "the session is closed: " + state.phaseReason()));
        }
        return state.finishing()
                .filter(f -> durable.finishing().isEmpty())
                .map(f -> new Batch.Admission(false, "the session is being finished: " + f.reason()));
    }

    private static String shortened(String reason) {
        return reason.length() > REASON_MAX ? reason.substring(0, REASON_MAX - 1) + "…" : reason;
    }

    private void appended(
            List<Event> events,
            Durable state,
            Live next,
            Claim.@Nullable Appended answer,
            @Nullable Throwable failure) {
        appending = false;
        if (failed("write to the journal", failure)) {
            return;
        }
        switch (answer) {
            case Claim.Appended.Committed c -> {
                seq = c.seq();
                deciding = List.of();
                durable = state;
                live = next;
                audience.committed(events, durable, live);
                follow();
            }
            case Claim.Appended.Fenced f ->
                stop("another owner has taken the session over (epoch " + f.newerEpoch() + ")", Optional.empty());
            case Claim.Appended.Behind ignored -> {
                appending = true; // until it is read
                behind();
            }
            case null -> stop("the journal gave no answer to an append", Optional.empty());
        }
    }

    /** Brings effects and alarm in step with the committed state. */
    private void follow() {
        runner.reconcile(core.effects(durable, live));
        runner.idle(core.idle(durable, live));
        audience.moved(durable, live);
        var due = core.dueAt(durable, live);
        if (!due.equals(alarmAt)) {
            alarm.ifPresent(Surroundings.Alarm::cancel);
            alarmAt = due;
            alarm = due.map(at -> surroundings.at(at, () -> {
                later(() -> alarmAt = Optional.empty());
                offer(new Input.Tick());
            }));
        }
    }

    private void rest() {
        if (!reading
                && inbox.isEmpty()
                && core.sleepable(durable, live, surroundings.now())
                && audience.mayRest(this)) {
            over = true;
            alarm.ifPresent(Surroundings.Alarm::cancel);
            runner.abandon();
        }
    }

    /** The last event in its state; called once the owner is over by its own will. */
    long seq() {
        return seq;
    }

    /** Every arrival up to here was read or is named by an event. */
    long readThrough() {
        return Math.max(readThrough, durable.takenThrough());
    }

    /** Gives the claim back, with the last state; called once the owner is over by its own will. */
    CompletionStage<Void> resign() {
        return claim.resign(Optional.of(codec.snapshot(seq, durable)));
    }

    private void stop(String why, Optional<Throwable> cause) {
        over = true;
        alarm.ifPresent(Surroundings.Alarm::cancel);
        try {
            runner.abandon();
        } finally {
            audience.over(this, why, cause);
        }
    }

    private final class RunnerOutlet implements EffectRunner.Outlet {
        @Override
        public void offer(Input input) {
            Owner.this.offer(input);
        }

        @Override
        public void text(String fragment) {
            if (!internal()) { // its words are for who asked (MB-16)
                audience.text(durable.turn().map(Turn::number).orElse(0L), fragment);
            }
        }

        @Override
        public void beat(Beat beat) {
            durable.turn()
                    .filter(t -> t.original().kind() != Told.Kind.INTERNAL)
                    .ifPresent(t -> audience.beat(t.number(), durable.lastSettled() == 0, beat));
        }

        @Override
        public void progress(ToolProgress progress) {
            if (!internal()) {
                audience.progress(durable.turn().map(Turn::number).orElse(0L), progress);
            }
        }

        private boolean internal() {
            return durable.turn()
                    .filter(t -> t.original().kind() == Told.Kind.INTERNAL)
                    .isPresent();
        }

        @Override
        public String internal(DeliveryId id) {
            return audience.internal(id);
        }

        @Override
        public boolean rejects(String text) {
            return audience.rejects(text);
        }

        @Override
        public boolean listened() {
            return audience.listened();
        }

        @Override
        public boolean holds() {
            return claim.holds();
        }

        @Override
        public void later(Runnable step) {
            Owner.this.later(step);
        }

        @Override
        public void failed(String what, Throwable cause) {
            stop(what, Optional.of(cause instanceof JournalException j ? j : cause));
        }
    }
}
