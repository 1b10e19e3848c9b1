package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.EventRecord;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Core;
import dev.holdfast.core.Durable;
import dev.holdfast.core.Event;
import dev.holdfast.core.Input;
import dev.holdfast.core.Live;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Turn;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
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

    private final List<Input> inputs = new ArrayList<>();
    private Durable durable = Durable.empty();
    private Live live = Live.none();
    private long seq;
    private boolean appending;
    private boolean reading;
    private boolean readAgain;
    private long readThrough;
    private boolean over;
    private int eventsSinceSnapshot;
    private long bytesSinceSnapshot;
    private Optional<Surroundings.Alarm> alarm = Optional.empty();
    private Optional<Instant> alarmAt = Optional.empty();

    /** Who hears of committed events. Called from the owner's serial task; never blocks. */
    interface Audience {
        /** After each commit. */
        void committed(List<Event> events, Durable state, Live live);

        /** After each change of what is live only. */
        void moved(Durable state, Live live);

        void text(long turn, String fragment);

        /** Nothing is left to do; true when the owner was let go, false when something came in. */
        boolean mayRest(Owner owner);

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
    void wake(String harness) {
        later(() -> {
            recover();
            var seed = HexFormat.of().formatHex(surroundings.random(16));
            inputs.add(new Input.Awake(seed, harness, claim.epoch()));
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

    private void readArrivals() {
        if (reading) {
            readAgain = true;
            return;
        }
        reading = true;
        readAgain = false;
        long after = Math.max(readThrough, durable.takenThrough());
        journal.arrivals(session, after, ARRIVALS_PAGE, Selection.HEADERS)
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
        inputs.add(new Input.Arrived(page.stream().map(envelope::header).toList(), through));
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
        var state = durable;
        var next = live;
        var events = new ArrayList<Event>();
        for (Input input : inputs) {
            var decision = core.decide(state, next, input, surroundings.now());
            for (Event event : decision.events()) {
                state = core.apply(state, event);
                events.add(event);
            }
            next = decision.live();
        }
        boolean nothing = inputs.isEmpty();
        inputs.clear();
        if (!events.isEmpty()) {
            append(events, state, next);
        } else {
            if (!nothing) {
                live = next;
                follow();
            }
            rest();
        }
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
        boolean quiet = state.turn().isEmpty() && !core.waits(state, next);
        Optional<Instant> due = state.phase() == Phase.OPEN ? state.restartAt() : Optional.empty();
        var admission = state.phase() == Phase.CLOSED && durable.phase() != Phase.CLOSED
                ? Optional.of(new Batch.Admission(false, "the session is closed: " + state.phaseReason()))
                : Optional.<Batch.Admission>empty();
        return new Batch(
                UUID.nameUUIDFromBytes(surroundings.random(16)),
                seq,
                records,
                admission,
                state.takenThrough(),
                state.ordinaryDone(),
                state.ordinaryDoneBytes(),
                quiet ? OptionalLong.of(Math.max(next.seenThrough(), state.takenThrough())) : OptionalLong.empty(),
                due,
                state.turn().map(t -> OptionalLong.of(t.number())).orElse(OptionalLong.empty()),
                new Batch.Summary(
                        state.phase().name(),
                        shortened(state.phaseReason()),
                        state.turn().map(Turn::openedAt),
                        state.costMicros(),
                        state.lastWords()),
                snapshot);
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
                durable = state;
                live = next;
                audience.committed(events, durable, live);
                follow();
            }
            case Claim.Appended.Fenced f ->
                stop("another owner has taken the session over (epoch " + f.newerEpoch() + ")", Optional.empty());
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
            audience.text(durable.turn().map(Turn::number).orElse(0L), fragment);
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
