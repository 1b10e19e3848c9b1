package dev.holdfast.core;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Limits;
import dev.holdfast.MessageId;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * A whole small world for the explorer: store, owner, clock and agent, with everything that can happen next. Copied for
 * each step; a step that leads to a state which must not be throws {@link AssertionError}.
 */
final class World {
    /** What happens only so many times. */
    enum Happening {
        MESSAGE,
        STEER,
        CANCEL,
        AGENT_DEATH,
        HOST_DEATH,
        LEAVING,
        TICK,
        OWN_TURN
    }

    /** A change of a world. */
    interface Step {
        void change(World world);
    }

    private static final Limits LIMITS = Limits.standard();
    private static final Core CORE = Core.standard(LIMITS);
    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    // What happened so far, newest first.
    private record Past<T>(T last, Optional<Past<T>> before) {}

    private Durable durable = Durable.empty();
    private Live live = Live.none();
    private Instant now = START;
    private ModelAgent agent = ModelAgent.none();
    private List<Report> reports = List.of();
    private List<Header> store = List.of();
    private long read;
    private Set<Effect.Key> started = Set.of();
    private Map<Long, List<Long>> told = Map.of();
    private Map<String, List<Long>> lines = Map.of();
    private Set<Long> opened = Set.of();
    private Set<Long> ended = Set.of();
    private long lastOpened;
    private boolean inBatch;
    private Map<Happening, Integer> left;
    private Optional<Past<Event>> journal = Optional.empty();
    private Optional<Past<String>> path = Optional.empty();

    private World(Map<Happening, Integer> left) {
        this.left = left;
    }

    /** An empty session whose owner has just woken, and how often each thing may happen. */
    static World begin(Map<Happening, Integer> budget) {
        var world = new World(budget);
        world.decide(new Input.Awake(CoreDriver.SEED, "model", 1, Settings.standard()));
        return world;
    }

    private World copy() {
        var w = new World(left);
        w.durable = durable;
        w.live = live;
        w.now = now;
        w.agent = agent;
        w.reports = reports;
        w.store = store;
        w.read = read;
        w.started = started;
        w.told = told;
        w.lines = lines;
        w.opened = opened;
        w.ended = ended;
        w.lastOpened = lastOpened;
        w.journal = journal;
        w.path = path;
        return w;
    }

    // ---- what can happen ------------------------------------------------------------------------------------------

    /** Everything that can happen next, by name. */
    Map<String, Step> steps() {
        var steps = willing();
        together(steps);
        once(steps, Happening.MESSAGE, "message", true, w -> w.accept(ArrivalKind.MESSAGE));
        once(steps, Happening.STEER, "steer", true, w -> w.accept(ArrivalKind.STEER));
        once(steps, Happening.CANCEL, "cancel", !store.isEmpty(), w -> w.accept(ArrivalKind.CANCEL));
        once(steps, Happening.LEAVING, "leave", true, w -> w.decide(new Input.Leaving()));
        once(steps, Happening.TICK, "tick", CORE.dueAt(durable, live).isPresent(), World::tick);
        once(steps, Happening.OWN_TURN, "own turn", agent.up() && !agent.works(), w -> {
            w.agent = w.agent.beginOwnTurn();
            w.says(new Report.Busy());
        });
        for (int lost : agent.losses()) {
            once(
                    steps,
                    Happening.AGENT_DEATH,
                    "agent dies, loses " + lost,
                    attached(),
                    w -> w.agentEnds(lost, "killed"));
            once(steps, Happening.HOST_DEATH, "host dies, agent loses " + lost, true, w -> w.hostDies(lost));
        }
        return steps;
    }

    private void once(Map<String, Step> steps, Happening what, String name, boolean can, Step step) {
        int more = left.getOrDefault(what, 0);
        if (can && more > 0) {
            steps.put(name, w -> {
                var rest = new EnumMap<>(w.left);
                rest.put(what, more - 1);
                w.left = rest;
                step.change(w);
            });
        }
    }

    /** Inputs decided one after the other and committed together: no effect is seen to between them. */
    private void together(Map<String, Step> steps) {
        var inputs = new LinkedHashMap<String, Step>();
        if (!reports.isEmpty()) {
            inputs.put("hear", World::hear);
        }
        if (read < store.size()) {
            inputs.put("read", World::read);
        }
        if (reports.size() > 1) {
            steps.put("hear and hear", w -> w.batch(World::hear, World::hear));
        }
        if (inputs.size() > 1) {
            steps.put("hear and read", w -> w.batch(World::hear, World::read));
            steps.put("read and hear", w -> w.batch(World::read, World::hear));
        }
    }

    private void batch(Step first, Step second) {
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

    /** What happens when everyone does their part. */
    private Map<String, Step> willing() {
        var steps = bound();
        if (agent.up() && !agent.written().isEmpty()) {
            steps.put("take", World::take);
        }
        if (agent.up() && agent.works()) {
            steps.put("finish", w -> {
                var id = w.agent.answerId();
                w.agent = w.agent.finish();
                w.says(new Report.Result(ModelAgent.result(TurnResult.Ending.ANSWERED, id)));
                w.says(new Report.Idle());
            });
        }
        if (agent.up() && agent.interrupted()) {
            steps.put("obey", World::obey);
        }
        return steps;
    }

    /** What happens even when the agent does nothing any more: reports made, the store, the slots, the stop ladder. */
    private Map<String, Step> bound() {
        var steps = new LinkedHashMap<String, Step>();
        if (!reports.isEmpty()) {
            steps.put("hear " + reports.getFirst().getClass().getSimpleName(), World::hear);
        }
        if (read < store.size()) {
            steps.put("read", World::read);
        }
        if (CORE.sleepable(durable, live, now) && (live.leaving() || read < store.size())) {
            steps.put("another owner", World::wakeAnother);
        }
        switch (live.stage()) {
            case PLANNED ->
                steps.put(
                        "slot",
                        w -> w.decide(
                                new Input.Slot(w.live.epoch(), w.durable.incarnation(), Input.SlotAnswer.GRANTED)));
            case ASKING -> {
                if (!endIsReported()) {
                    steps.put(
                            "know",
                            w -> w.report(new Report.Known(w.agent.knowledge(
                                    w.effect(Effect.AskKnowledge.class).orElseThrow()))));
                }
            }
            case STARTING -> {
                if (!agent.up() && reports.isEmpty()) {
                    steps.put("start", World::start);
                }
            }
            case STOPPING -> {
                if (!endIsReported()) {
                    steps.put("stopped", w -> w.agentEnds(0, "asked to"));
                }
            }
            case DOWN, READY -> {}
        }
        return steps;
    }

    private void hear() {
        var report = reports.getFirst();
        reports = reports.subList(1, reports.size());
        report(report);
    }

    private boolean attached() {
        return live.stage() != AgentStage.DOWN && live.stage() != AgentStage.PLANNED && !endIsReported();
    }

    private boolean endIsReported() {
        return reports.stream().anyMatch(r -> r instanceof Report.Ended);
    }

    // ---- the parts ------------------------------------------------------------------------------------------------

    private void accept(ArrivalKind kind) {
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
                Header.Wish.none());
        store = plus(store, header);
    }

    private void read() {
        var unread = store.subList((int) read, store.size());
        read = store.size();
        decide(new Input.Arrived(unread, read));
    }

    private void tick() {
        var due = CORE.dueAt(durable, live).orElseThrow();
        now = due.isAfter(now) ? due : now;
        decide(new Input.Tick());
    }

    private void start() {
        var run = effect(Effect.RunAgent.class).orElseThrow();
        var catchUp = run.catchUp()
                .map(c -> new ModelAgent.Item(
                        ModelAgent.Kind.TOLD, c.delivery().toString(), wordsOf(c.from(), c.through(), c.known())));
        agent = agent.started(run.nativeSession(), run.resume(), catchUp);
        contextIsRight(live.toldThrough());
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

    private void take() {
        var line = agent.written().getFirst();
        agent = agent.take();
        contextIsRight(durable.lastSettled());
        says(new Report.Landed(line.told().id()));
    }

    private void obey() {
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

    private void agentEnds(int lost, String why) {
        agent = agent.gone(lost);
        says(new Report.Ended(why, "", ""));
    }

    private void hostDies(int lost) {
        agent = agent.gone(lost);
        reports = List.of();
        var folded = Durable.empty();
        for (Event event : events()) {
            folded = CORE.apply(folded, event);
        }
        if (!folded.equals(durable)) {
            throw new AssertionError("folded anew the state is " + folded);
        }
        wakeAnother();
    }

    /** The owner is gone; another wakes, and reads what is urgent ahead of the rest. */
    private void wakeAnother() {
        long epoch = live.epoch() + 1;
        live = Live.none();
        started = Set.of();
        read = durable.takenThrough();
        decide(new Input.Awake(CoreDriver.SEED, "model", epoch, Settings.standard()));
        var urgent = store.stream()
                .filter(h -> h.kind().urgent() && h.number() > durable.takenThrough())
                .toList();
        if (!urgent.isEmpty()) {
            decide(new Input.Arrived(urgent, 0));
        }
    }

    private void says(Report report) {
        reports = plus(reports, report);
    }

    private void report(Report report) {
        decide(new Input.Reported(live.epoch(), durable.incarnation(), report));
    }

    private <E extends Effect> Optional<E> effect(Class<E> type) {
        return CORE.effects(durable, live).stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst();
    }

    // ---- deciding, committing, running effects --------------------------------------------------------------------

    private void decide(Input input) {
        var decision = CORE.decide(durable, live, input, now);
        for (Event event : decision.events()) {
            durable = CORE.apply(durable, event);
            journal = Optional.of(new Past<>(event, journal));
            committed(event);
        }
        live = decision.live();
        if (!inBatch) {
            reconcile();
            waitsForSomething();
        }
    }

    private void committed(Event event) {
        switch (event) {
            case Event.TurnOpened e -> {
                opened = plus(opened, e.messages());
                e.messages().forEach(this::inOrder);
                lines = plus(lines, e.delivery().toString(), e.messages());
            }
            case Event.SteerPlanned e -> {
                opened = plus(opened, List.of(e.message()));
                lines = plus(lines, e.delivery().toString(), List.of(e.message()));
            }
            case Event.TurnSettled e -> {
                e.messages().forEach(this::end);
                told = new HashMap<>(told);
                told.put(e.turn(), e.messages().stream().map(Taken::number).toList());
            }
            case Event.MessageEnded e -> end(e.message());
            default -> {}
        }
    }

    private void inOrder(Taken message) {
        if (store.get((int) message.number() - 1).kind() == ArrivalKind.MESSAGE) {
            if (message.number() <= lastOpened) {
                throw new AssertionError("message " + message.number() + " is opened after " + lastOpened);
            }
            lastOpened = message.number();
        }
    }

    private void end(Taken message) {
        if (ended.contains(message.number())) {
            throw new AssertionError("message " + message.number() + " has two terminal records");
        }
        ended = plus(ended, List.of(message));
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

    // ---- what must hold -------------------------------------------------------------------------------------------

    /** P2: every message stands at most once in the context, and each one of a settled turn exactly once, in order. */
    private void contextIsRight(long settled) {
        var words = new ArrayList<Long>();
        agent.context().forEach(i -> words.addAll(i.messages()));
        var distinct = new HashSet<>(words);
        if (distinct.size() != words.size()) {
            throw new AssertionError("a message is twice in the context: " + agent.context());
        }
        for (long turn = 1; turn <= settled; turn++) {
            for (long message : told.getOrDefault(turn, List.of())) {
                if (!distinct.contains(message)) {
                    throw new AssertionError("message " + message + " of settled turn " + turn
                            + " is not in the context: " + agent.context());
                }
            }
        }
        if (!opened.containsAll(distinct)) {
            throw new AssertionError("words of a message that was not opened: " + words + ", opened " + opened);
        }
        long last = 0;
        for (long message : words) {
            if (store.get((int) message - 1).kind() == ArrivalKind.MESSAGE) {
                if (message < last) {
                    throw new AssertionError("messages out of order in the context: " + words);
                }
                last = message;
            }
        }
    }

    /** P4: with work to do there is something due, or an answer that must come. */
    private void waitsForSomething() {
        boolean work = durable.turn().isPresent()
                || !durable.front().isEmpty()
                || live.waiting().values().stream().anyMatch(h -> !h.kind().urgent() && !durable.named(h.number()));
        boolean answerComes = live.stage() != AgentStage.DOWN && live.stage() != AgentStage.READY;
        if (work
                && durable.phase() == Phase.OPEN
                && !live.leaving()
                && !answerComes
                && CORE.dueAt(durable, live).isEmpty()) {
            throw new AssertionError("stuck: work to do, nothing running and nothing due");
        }
        if (work && CORE.sleepable(durable, live, now) && durable.phase() == Phase.OPEN && !live.leaving()) {
            throw new AssertionError("an owner with work may go");
        }
    }

    /** Plays on until every message has its record, by the given steps and the clock. */
    void drain(boolean agentWilling) {
        var w = this;
        for (int i = 0; i < 300; i++) {
            if (w.done()) {
                return;
            }
            var steps = agentWilling ? w.willing() : w.bound();
            if (!steps.isEmpty()) {
                var first = steps.entrySet().iterator().next();
                w = w.after("drain: " + first.getKey(), first.getValue());
            } else if (w.durable.phase() == Phase.PARKED) {
                w = w.after("drain: resume", x -> {
                    x.accept(ArrivalKind.RESUME);
                    x.read();
                });
            } else if (CORE.dueAt(w.durable, w.live).isPresent()) {
                w = w.after("drain: tick", World::tick);
            } else {
                break;
            }
        }
        throw new AssertionError("messages without a terminal record: " + w.store.size() + " arrivals, ended " + w.ended
                + "\nafter " + w.pathNames() + "\n" + w);
    }

    private boolean done() {
        return read == store.size()
                && durable.takenThrough() == store.size()
                && durable.turn().isEmpty()
                && durable.front().isEmpty()
                && store.stream().allMatch(h -> h.kind().urgent() || ended.contains(h.number()));
    }

    // ---- identity -------------------------------------------------------------------------------------------------

    /** Two worlds with equal keys behave alike. */
    long key() {
        var key = new WorldKey(now).add(durable);
        key.add(live, durable.turn().map(Turn::ids).orElse(List.of())).add(agent);
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
