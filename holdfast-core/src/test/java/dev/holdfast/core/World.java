package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.DeliveryId;
import dev.holdfast.Limits;
import dev.holdfast.MessageId;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * A whole small world for the explorer: store, owner, clock, agent and reader. What can happen next is in
 * {@link WorldSteps}, what must hold in {@link WorldRules}. Copied for each step; a step that leads to a state which must
 * not be throws {@link AssertionError}.
 */
final class World {
    /**
     * What kind of world it is.
     *
     * @param settings of its owner
     * @param batches inputs may be decided together, before any effect of the first is seen to
     * @param readsAtOnce what is accepted is read in the same moment
     * @param allLosses a record may also be behind by just its last entry
     */
    record Shape(Settings settings, boolean batches, boolean readsAtOnce, boolean allLosses) {
        static Shape whole(Settings settings) {
            return new Shape(settings, true, false, true);
        }

        /** Fewer ways in which the same things can happen. */
        static Shape plain(Settings settings) {
            return new Shape(settings, false, true, false);
        }
    }

    /** A change of a world. */
    interface Step {
        void change(World world);
    }

    static final Core CORE = Core.standard(Limits.standard());
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final Duration DRAIN = Duration.ofMinutes(7);

    // What happened so far, newest first.
    private record Past<T>(T last, Optional<Past<T>> before) {}

    final Shape shape;
    Durable durable = Durable.empty();
    Live live = Live.none();
    ModelAgent agent = ModelAgent.none();
    ModelReader reader = ModelReader.none();
    ModelReader stale = ModelReader.none();
    List<Report> reports = List.of();
    List<Header> store = List.of();
    long read;
    Map<Happening, Integer> left;
    Ledger ledger = Ledger.empty();
    Map<Long, List<Long>> told = Map.of();
    Set<Long> opened = Set.of();
    /** The incarnation each request of the host was made to. */
    Map<DeliveryId, Long> asked = Map.of();

    private Instant now = START;
    private Set<Effect.Key> started = Set.of();
    private Map<String, List<Long>> lines = Map.of();
    private boolean inBatch;
    private Optional<Past<Event>> journal = Optional.empty();
    private Optional<Past<String>> path = Optional.empty();

    private World(Shape shape, Map<Happening, Integer> left) {
        this.shape = shape;
        this.left = left;
    }

    /** An empty session whose owner has just woken, and how often each thing may happen. */
    static World begin(Shape shape, Map<Happening, Integer> budget) {
        var world = new World(shape, budget);
        world.decide(new Input.Awake(CoreDriver.SEED, "model", 1, shape.settings()));
        world.decide(new Input.Arrived(List.of(), 0));
        return world;
    }

    private World copy() {
        var w = new World(shape, left);
        w.durable = durable;
        w.live = live;
        w.now = now;
        w.agent = agent;
        w.reader = reader;
        w.stale = stale;
        w.reports = reports;
        w.store = store;
        w.read = read;
        w.started = started;
        w.told = told;
        w.lines = lines;
        w.opened = opened;
        w.asked = asked;
        w.ledger = ledger.copy();
        w.journal = journal;
        w.path = path;
        return w;
    }

    /** Two inputs decided one after the other and committed together: no effect is seen to between them. */
    void batch(Step first, Step second) {
        inBatch = true;
        first.change(this);
        inBatch = false;
        second.change(this);
    }

    World after(String name, Step step) {
        var next = copy();
        next.path = Optional.of(new Past<>(name, path));
        try {
            step.change(next);
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError(e + "\nafter " + next.pathNames() + "\n" + next, e);
        }
        return next;
    }

    // ---- the parts ------------------------------------------------------------------------------------------------

    void hear() {
        var report = reports.getFirst();
        reports = reports.subList(1, reports.size());
        report(report);
    }

    boolean endIsReported() {
        return reports.stream().anyMatch(r -> r instanceof Report.Ended);
    }

    /** A delivery is committed; with some shapes the owner reads it in the same moment. */
    void accept(ArrivalKind kind, Header.Wish wish) {
        long number = store.size() + 1L;
        boolean urgent = kind.urgent();
        var header = new Header(
                number,
                new MessageId(new UUID(7, number)),
                kind,
                1,
                urgent
                        ? durable.turn().map(t -> OptionalLong.of(t.number())).orElse(OptionalLong.empty())
                        : OptionalLong.empty(),
                urgent ? durable.takenThrough() : 0,
                wish);
        store = plus(store, header);
        if (shape.readsAtOnce()) {
            read();
        }
    }

    Header.Wish drainWish() {
        var none = OptionalLong.empty();
        return new Header.Wish("", false, none, none, none, "", "", Optional.of(now.plus(DRAIN)));
    }

    void read() {
        var unread = store.subList((int) read, store.size());
        read = store.size();
        decide(new Input.Arrived(unread, read));
    }

    void tick() {
        var due = CORE.dueAt(durable, live).orElseThrow();
        now = due.isAfter(now) ? due : now;
        decide(new Input.Tick());
    }

    boolean sleepable() {
        return CORE.sleepable(durable, live, now);
    }

    boolean due() {
        return CORE.dueAt(durable, live).isPresent();
    }

    void start() {
        var run = effect(Effect.RunAgent.class).orElseThrow();
        var catchUp = run.catchUp()
                .map(c -> new ModelAgent.Item(
                        ModelAgent.Kind.TOLD, c.delivery().toString(), wordsOf(c.from(), c.through(), c.known())));
        agent = agent.started(run.nativeSession(), run.resume(), catchUp);
        WorldRules.context(this, live.toldThrough());
        says(new Report.Verified("1", run.nativeSession()));
    }

    private List<Long> wordsOf(long from, long through, List<String> known) {
        var words = new ArrayList<Long>();
        for (long turn = from; turn <= through; turn++) {
            words.addAll(told.getOrDefault(turn, List.of()));
        }
        known.forEach(line -> words.removeAll(lines.getOrDefault(line, List.of())));
        return List.copyOf(words);
    }

    void take() {
        var line = agent.written().getFirst();
        agent = agent.take();
        WorldRules.context(this, durable.lastSettled());
        says(new Report.Landed(line.told().id()));
    }

    void obey() {
        if (!agent.written().isEmpty()) {
            throw new AssertionError("an interrupt is read while a line waits to be taken (TN-14)");
        }
        var open = durable.turn().map(Turn::ids).orElse(List.of());
        if (!agent.working().isEmpty() && agent.working().stream().noneMatch(open::contains)) {
            boolean settling = reports.stream().anyMatch(r -> r instanceof Report.Result);
            if (!settling) {
                throw new AssertionError("an interrupt hits " + agent.working() + ", which is not the open turn");
            }
        }
        boolean worked = agent.works();
        var id = agent.answerId();
        agent = agent.obey();
        says(new Report.InterruptAnswered());
        if (worked) {
            says(new Report.Result(ModelAgent.result(TurnResult.Ending.INTERRUPTED, id)));
            says(new Report.Idle());
        }
    }

    void agentEnds(int lost, String why) {
        agent = agent.gone(lost);
        says(new Report.Ended(why, "", ""));
    }

    void hostDies(int lost) {
        agent = agent.gone(lost);
        reports = List.of();
        wakeAnother();
    }

    /** The owner is gone; another wakes, and reads what is urgent ahead of the rest. */
    void wakeAnother() {
        long epoch = live.epoch() + 1;
        live = Live.none();
        started = Set.of();
        reader = ModelReader.none();
        stale = ModelReader.none();
        read = durable.takenThrough();
        decide(new Input.Awake(CoreDriver.SEED, "model", epoch, shape.settings()));
        var urgent = store.stream()
                .filter(h -> h.kind().urgent() && h.number() > durable.takenThrough())
                .toList();
        decide(new Input.Arrived(urgent, 0));
        if (shape.readsAtOnce() && read < store.size()) {
            read();
        }
    }

    /** The host asks something of the present process. */
    void askInternally() {
        var id = new DeliveryId(new UUID(99, asked.size()));
        asked = new HashMap<>(asked);
        asked.put(id, durable.incarnation());
        decide(new Input.InternalAsked(id));
    }

    void says(Report report) {
        reports = plus(reports, report);
    }

    void report(Report report) {
        decide(new Input.Reported(live.epoch(), durable.incarnation(), report));
    }

    <E extends Effect> Optional<E> effect(Class<E> type) {
        return CORE.effects(durable, live).stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst();
    }

    // ---- deciding, committing, running effects --------------------------------------------------------------------

    void decide(Input input) {
        var decision = CORE.decide(durable, live, input, now);
        for (Event event : decision.events()) {
            WorldRules.before(this, event);
            durable = CORE.apply(durable, event);
            journal = Optional.of(new Past<>(event, journal));
            ledger.add(event);
            committed(event);
        }
        boolean stops = decision.live().stage() == AgentStage.STOPPING && live.stage() != AgentStage.STOPPING;
        live = decision.live();
        if (stops) {
            WorldRules.stop(this, live.stop().orElseThrow());
        }
        if (!inBatch) {
            reconcile();
            if (!(input instanceof Input.Awake)) { // what is urgent is read right behind it
                WorldRules.state(this);
            }
        }
    }

    private void committed(Event event) {
        switch (event) {
            case Event.TurnOpened e -> {
                opened = plus(opened, e.messages());
                lines = plus(lines, e.delivery().toString(), e.messages());
            }
            case Event.SteerPlanned e -> {
                opened = plus(opened, List.of(e.message()));
                lines = plus(lines, e.delivery().toString(), List.of(e.message()));
            }
            case Event.TurnSettled e -> {
                told = new HashMap<>(told);
                told.put(e.turn(), CoreDriver.numbers(e.messages()));
            }
            case Event.FeedOpened e -> {
                stale = reader.feed() > 0 ? reader : stale;
                reader = new ModelReader(e.feed(), true, false, List.of());
            }
            case Event.MessagesTaken e -> {
                var words = e.messages().stream().filter(m -> m.kind().speaks()).toList();
                reader = reader.given(CoreDriver.numbers(words));
            }
            case Event.MessagesReturned e -> e.messages().forEach(m -> reader = reader.without(m.number()));
            case Event.MessageEnded e -> reader = reader.without(e.message().number());
            case Event.FeedEnded e -> reader = e.feed() == reader.feed() ? reader.over() : reader;
            default -> {}
        }
    }

    /** Starts what is new, as the runner does; only what the agent sees matters here. */
    private void reconcile() {
        int lines = 0;
        var keys = new HashSet<Effect.Key>();
        for (Effect effect : CORE.effects(durable, live)) {
            keys.add(effect.key());
            boolean fresh = !started.contains(effect.key());
            switch (effect) {
                case Effect.Tell e -> {
                    lines++;
                    if (fresh) {
                        tell(e);
                    }
                }
                case Effect.Interrupt e -> {
                    if (fresh) {
                        interrupt(e);
                    }
                }
                default -> {}
            }
        }
        if (lines > 1) {
            throw new AssertionError("two lines are told at once (TN-13)");
        }
        keys.addAll(started);
        started = keys;
    }

    private void tell(Effect.Tell tell) {
        boolean other = tell.told().kind() == Told.Kind.INTERNAL
                && !Long.valueOf(durable.incarnation())
                        .equals(asked.get(tell.told().id()));
        if (other) {
            throw new AssertionError("a request is told to a process it was not made to (MB-16)");
        }
        if (live.interrupt() != Live.InterruptWindow.CLOSED || agent.interrupted()) {
            throw new AssertionError("a line is told inside an interrupt window (TN-14)");
        }
        if (!agent.written().isEmpty()) {
            throw new AssertionError("a line is told while another is not acknowledged (TN-13)");
        }
        var words = new ArrayList<Long>();
        if (tell.retellFrom() > 0) {
            words.addAll(wordsOf(tell.retellFrom(), tell.turn() - 1, List.of()));
        }
        tell.told().messages().forEach(m -> words.add(m.number()));
        agent = agent.write(new ModelAgent.Line(tell.told(), List.copyOf(words)));
    }

    private void interrupt(Effect.Interrupt interrupt) {
        if (durable.turn().filter(t -> t.number() == interrupt.turn()).isEmpty()
                || live.told().isPresent()) {
            throw new AssertionError("an interrupt is written outside of its turn, or beside a line (TN-14)");
        }
        agent = agent.interrupt();
    }

    // ---- playing on -----------------------------------------------------------------------------------------------

    /** Plays on until every message has its record, by the given steps and the clock. */
    void drain(boolean agentWilling) {
        var folded = Durable.empty();
        for (Event event : events()) {
            folded = CORE.apply(folded, event);
        }
        if (!folded.equals(durable)) {
            throw new AssertionError("folded anew the state is " + folded + "\nafter " + pathNames() + "\n" + this);
        }
        var w = this;
        for (int i = 0; i < 300; i++) {
            if (w.done()) {
                return;
            }
            var steps = agentWilling ? WorldSteps.willing(w) : WorldSteps.bound(w);
            var phase = w.durable.phase();
            if (steps.isEmpty()) {
                steps = WorldSteps.willingReader(w);
            }
            if (!steps.isEmpty()) {
                var first = steps.entrySet().iterator().next();
                w = w.after("drain: " + first.getKey(), first.getValue());
            } else if (phase == Phase.PARKED || phase == Phase.PAUSED) {
                w = w.after("drain: resume", x -> {
                    x.accept(ArrivalKind.RESUME, Header.Wish.none());
                    if (!x.shape.readsAtOnce()) {
                        x.read();
                    }
                });
            } else if (w.due()) {
                w = w.after("drain: tick", World::tick);
            } else if (w.live.stage() == AgentStage.READY && w.live.busy()) {
                w = w.after("drain: silence", x -> x.report(new Report.Breached("silence")));
            } else {
                break;
            }
        }
        throw new AssertionError("not over: " + w.store + ", read " + w.read + ", ended "
                + w.ledger.in(Ledger.Place.ENDED) + "\nafter " + w.pathNames() + "\n" + w);
    }

    private boolean done() {
        boolean rests = durable.phase() == Phase.CLOSED
                || (durable.phase() == Phase.OPEN
                        && durable.finishing().isEmpty()
                        && durable.continueAfter().isEmpty());
        return rests
                && read == store.size()
                && durable.takenThrough() == store.size()
                && durable.turn().isEmpty()
                && store.stream().allMatch(h -> !h.kind().speaks() || ledger.ended(h.number()));
    }

    // ---- identity -------------------------------------------------------------------------------------------------

    /** Two worlds with equal keys behave alike. */
    long key() {
        var key = new WorldKey(now).add(durable, CORE.wakeAt(durable, live));
        key.add(live, durable.turn().map(Turn::ids).orElse(List.of())).add(agent);
        key.add(reader).add(stale);
        reports.forEach(key::add);
        store.forEach(key::add);
        key.add(read).turns(told);
        left.forEach((what, more) -> key.add(what).add(more));
        return key.value();
    }

    private List<Event> events() {
        return unwound(journal);
    }

    List<String> pathNames() {
        return unwound(path);
    }

    private static <T> List<T> unwound(Optional<Past<T>> newest) {
        var all = new ArrayList<T>();
        for (var p = newest; p.isPresent(); p = p.get().before()) {
            all.add(p.get().last());
        }
        return all.reversed();
    }

    @Override
    public String toString() {
        var text = new StringBuilder("events:\n");
        events().forEach(e -> text.append("  ").append(e).append('\n'));
        return text.append(durable)
                .append('\n')
                .append(live)
                .append('\n')
                .append(agent)
                .append('\n')
                .append(reports)
                .toString();
    }

    private static <T> List<T> plus(List<T> list, T last) {
        var all = new ArrayList<T>(list);
        all.add(last);
        return List.copyOf(all);
    }

    private static Map<String, List<Long>> plus(Map<String, List<Long>> lines, String id, List<Taken> messages) {
        var all = new HashMap<>(lines);
        all.put(id, messages.stream().map(Taken::number).toList());
        return all;
    }

    private static Set<Long> plus(Set<Long> numbers, List<Taken> more) {
        var all = new HashSet<>(numbers);
        more.forEach(m -> all.add(m.number()));
        return all;
    }
}
