package dev.holdfast.testkit;

import dev.holdfast.Attachment;
import dev.holdfast.DeliveryId;
import dev.holdfast.Harness;
import dev.holdfast.Knowledge;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/**
 * The machine on which simulated agents live: their processes, and their records on its disk, both of which outlive a
 * host. By default as bad as the worst known agent: the record is written late, folded lines are filed under another kind
 * of id, the agent's own de-duplication forgets them, an interrupt hits whatever runs when it arrives, an orphan works on.
 * Not thread-safe.
 */
final class SimulatedAgents {
    private final VirtualTime.Group machine;
    private final Random random;
    private final Watcher watcher;
    private Faults now;
    private final Map<String, List<Entry>> records = new HashMap<>();
    private final List<AgentProcess> processes = new ArrayList<>();
    private long counter;
    private long newestEpoch;

    /** Hears what an agent does, to judge it. */
    interface Watcher {
        /** What a model was shown, as one list of user texts in order. */
        void modelCall(SessionName session, List<String> userTexts, boolean ownTurn);

        void violation(String what);

        /** For a person who replays a seed. */
        void trace(String what);
    }

    /** How likely things go wrong, each from 0 to 1. */
    record Faults(double die, double hang, double failStart, double apiError, double ownTurn, double loseRecord) {
        static Faults none() {
            return new Faults(0, 0, 0, 0, 0, 0);
        }
    }

    /** One entry of an agent's record, and of its context. */
    private record Entry(Kind kind, String id, List<String> texts, boolean complete) {
        enum Kind {
            USER,
            STEER,
            ASSISTANT
        }
    }

    SimulatedAgents(VirtualTime.Group machine, Random random, Watcher watcher, Faults faults) {
        this.machine = machine;
        this.random = random;
        this.watcher = watcher;
        this.now = faults;
    }

    void stopFaults() {
        now = Faults.none();
        processes.forEach(p -> {
            if (p.hanging) {
                p.die("killed at the end of the faults", false);
            }
        });
    }

    /** kill -9 of a random living agent. */
    void killOne() {
        var alive = processes.stream().filter(p -> !p.dead).toList();
        if (!alive.isEmpty()) {
            alive.get(random.nextInt(alive.size())).die("signal 9", false);
        }
    }

    Harness harness() {
        return new Harness() {
            @Override
            public String name() {
                return "simulated";
            }

            @Override
            public Attachment attach(Launch launch, ReportSink sink) {
                return new Attached(launch, sink);
            }
        };
    }

    private boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    private Duration shortly() {
        return Duration.ofMillis(random.nextInt(20));
    }

    // ---- attachment -----------------------------------------------------------------------------------------------

    private final class Attached implements Attachment {
        private final Launch launch;
        private final ReportSink sink;
        private Optional<AgentProcess> process = Optional.empty();
        private boolean ended;
        private boolean stopped;

        Attached(Launch launch, ReportSink sink) {
            this.launch = launch;
            this.sink = sink;
        }

        private void end(String why) {
            if (!ended) {
                ended = true;
                sink.report(new Report.Ended(why, "", ""));
            }
        }

        @Override
        public void know(KnowledgeQuestion question) {
            machine.after(shortly(), () -> {
                newestEpoch = Math.max(newestEpoch, launch.epoch());
                for (AgentProcess p : processes) {
                    if (!p.dead && p.session.equals(launch.session()) && p.older(launch)) {
                        p.die("reaped", true);
                    }
                }
                if (!stopped) {
                    var known = read(question);
                    watcher.trace("agent " + launch.epoch() + "." + launch.incarnation() + " asked " + question + ": "
                            + known);
                    sink.report(new Report.Known(known));
                }
            });
        }

        @Override
        public void start(StartPlan plan) {
            machine.after(shortly(), () -> {
                if (stopped || chance(now.failStart())) {
                    end("could not be started");
                    return;
                }
                if (plan.resume() && !records.containsKey(plan.nativeSession())) {
                    end("no conversation found");
                    return;
                }
                if (launch.epoch() < newestEpoch) {
                    end("a newer owner has the session: its lease fences this start");
                    return;
                }
                if (processes.stream().anyMatch(p -> !p.dead && p.session.equals(launch.session()))) {
                    watcher.violation("O1: an agent of " + launch.session() + " is started while another lives");
                }
                var p = new AgentProcess(launch, this, plan);
                processes.add(p);
                process = Optional.of(p);
                sink.report(new Report.Started(++counter));
                machine.after(shortly(), () -> {
                    if (!p.dead) {
                        sink.report(new Report.Verified("simulated 1", plan.nativeSession()));
                    }
                });
            });
        }

        @Override
        public void tell(Line line) {
            process.ifPresent(p -> p.write(line));
        }

        @Override
        public void interrupt(long turn) {
            process.ifPresent(AgentProcess::interrupt);
        }

        @Override
        public void answer(String callId, ToolAnswer answer) {
            process.ifPresent(p -> p.answered(callId));
        }

        @Override
        public void stop(StopMode mode) {
            if (stopped) {
                return;
            }
            stopped = true;
            machine.after(shortly(), () -> {
                process.ifPresent(p -> p.die("stopped", true));
                end("stopped");
            });
        }
    }

    // ---- what a record tells --------------------------------------------------------------------------------------

    private Knowledge read(KnowledgeQuestion question) {
        if (question.nativeSession().isPresent() && chance(now.loseRecord())) {
            records.remove(question.nativeSession().get());
        }
        var record = question.nativeSession().map(records::get);
        if (record.isEmpty()) {
            return Knowledge.nothing();
        }
        var entries = record.get();
        var ids = new HashSet<String>();
        entries.forEach(e -> ids.add(e.id()));
        long covers = 0;
        List<String> askedNext = List.of();
        var turns = new TreeMap<Long, Boolean>();
        long retold = 0;
        for (TurnMark m : question.marks()) {
            boolean there = ids.containsAll(m.asked()) && (m.answered().isEmpty() || ids.contains(m.answered()));
            if (there && turns.containsKey(m.turn())) {
                retold = m.turn(); // a catch-up, which told every turn that was missing then
            }
            turns.merge(m.turn(), there, Boolean::logicalOr);
        }
        boolean gap = false;
        boolean hole = false;
        for (var turn : turns.entrySet()) {
            if (turn.getValue() || turn.getKey() <= retold) {
                hole |= gap;
                covers = turn.getKey();
            } else {
                if (!gap) {
                    askedNext = question.marks().stream()
                            .filter(m -> m.turn() == turn.getKey())
                            .flatMap(m -> m.asked().stream())
                            .filter(ids::contains)
                            .toList();
                }
                gap = true;
            }
        }
        if (hole) {
            return new Knowledge(Knowledge.RecordState.DAMAGED, 0, List.of(), List.of(), new Knowledge.Tail.None());
        }
        var present =
                question.open().stream().filter(d -> ids.contains(d.toString())).toList();
        return new Knowledge(Knowledge.RecordState.PRESENT, covers, askedNext, present, tail(entries, present));
    }

    private static Knowledge.Tail tail(List<Entry> entries, List<DeliveryId> present) {
        if (present.isEmpty()) {
            return new Knowledge.Tail.None();
        }
        int last = -1;
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).id().equals(present.getLast().toString())) {
                last = i;
            }
        }
        for (int i = last + 1; i < entries.size(); i++) {
            var e = entries.get(i);
            if (e.kind() == Entry.Kind.ASSISTANT && e.complete()) {
                return new Knowledge.Tail.Answered(result(TurnResult.Ending.ANSWERED, e.id(), List.of()));
            }
        }
        return new Knowledge.Tail.Open(List.of(), List.of());
    }

    private static TurnResult result(TurnResult.Ending ending, String answer, List<DeliveryId> lines) {
        return new TurnResult(
                ending,
                "answer " + answer,
                "",
                new Usage(1, 1, 0, 0, OptionalLong.empty()),
                lines,
                answer,
                "r" + answer,
                false);
    }

    // ---- a process ------------------------------------------------------------------------------------------------

    private final class AgentProcess {
        private final SessionName session;
        private final long epoch;
        private final long incarnation;
        private final String nativeSession;
        private final Attached attached;
        private final List<Entry> context = new ArrayList<>();
        private final Set<String> seen = new HashSet<>();
        private final Deque<Line> queue = new ArrayDeque<>();
        private int flushed;
        private boolean dead;
        private boolean hanging;
        private boolean running;
        private boolean interrupted;
        private Optional<String> openCall = Optional.empty();
        private List<DeliveryId> turnLines = new ArrayList<>();
        private boolean window;
        private boolean answeredInWindow;
        private final Set<DeliveryId> unacknowledged = new HashSet<>();

        AgentProcess(Launch launch, Attached attached, StartPlan plan) {
            session = launch.session();
            epoch = launch.epoch();
            incarnation = launch.incarnation();
            nativeSession = plan.nativeSession();
            this.attached = attached;
            var record = records.get(nativeSession);
            if (plan.resume() && record != null) {
                context.addAll(record);
                flushed = context.size();
                record.forEach(e -> {
                    if (e.kind() == Entry.Kind.USER) {
                        seen.add(e.id()); // folded lines are not known any more after a resume
                    }
                });
                if (!context.isEmpty() && context.getLast().kind() != Entry.Kind.ASSISTANT) {
                    context.add(new Entry(Entry.Kind.ASSISTANT, "filler" + ++counter, List.of(), false));
                }
            } else if (record != null) {
                watcher.violation("a native session is created over an existing record");
            }
            plan.catchUp().ifPresent(c -> {
                context.add(new Entry(Entry.Kind.USER, c.id().toString(), List.of(c.text()), true));
                flushLater();
            });
        }

        boolean older(Launch launch) {
            return epoch < launch.epoch() || (epoch == launch.epoch() && incarnation < launch.incarnation());
        }

        private void report(Report report) {
            watcher.trace("agent " + epoch + "." + incarnation + " reports " + report);
            attached.sink.report(report);
        }

        void write(Line line) {
            if (dead) {
                return;
            }
            watcher.trace("agent " + epoch + "." + incarnation + " is told " + line);
            if (window) {
                watcher.violation("TN-14: a line is written inside an interrupt window");
            }
            if (!unacknowledged.isEmpty()) {
                watcher.violation("TN-13: a line is written while another is not acknowledged");
            }
            unacknowledged.add(line.id());
            queue.add(line);
            machine.after(shortly(), this::work);
        }

        private void work() {
            if (dead || hanging || running || queue.isEmpty()) {
                return;
            }
            var line = queue.removeFirst();
            if (seen.contains(line.id().toString())) {
                acknowledge(line);
                report(new Report.Noticed("deduplicated", line.id().toString()));
                report(new Report.Idle());
                return;
            }
            running = true;
            interrupted = false;
            turnLines = new ArrayList<>(List.of(line.id()));
            report(new Report.Busy());
            take(line, Entry.Kind.USER);
            think(3);
        }

        private void acknowledge(Line line) {
            unacknowledged.remove(line.id());
            report(new Report.Landed(line.id()));
        }

        private void take(Line line, Entry.Kind kind) {
            var texts = new ArrayList<>(line.texts());
            texts.add(line.hostNote());
            context.add(new Entry(kind, line.id().toString(), texts, true));
            seen.add(line.id().toString());
            flushLater();
            acknowledge(line);
        }

        private void think(int calls) {
            if (dead) {
                return;
            }
            modelCall(false);
            if (chance(now.die())) {
                machine.after(shortly(), () -> die("crashed", false));
                return;
            }
            if (chance(now.hang())) {
                hanging = true;
                return;
            }
            machine.after(Duration.ofMillis(random.nextInt(2_000)), () -> next(calls));
        }

        private void modelCall(boolean own) {
            var texts = new ArrayList<String>();
            context.forEach(e -> {
                if (e.kind() != Entry.Kind.ASSISTANT) {
                    texts.addAll(e.texts());
                }
            });
            watcher.modelCall(session, texts, own);
        }

        private void next(int calls) {
            if (dead || hanging) {
                return;
            }
            if (interrupted) {
                finish(TurnResult.Ending.INTERRUPTED);
            } else if (chance(now.apiError())) {
                finish(TurnResult.Ending.FAILED);
            } else if (calls > 0 && random.nextInt(3) == 0) {
                var id = "call" + ++counter;
                openCall = Optional.of(id);
                report(new Report.CallRequested(id, "work", "{\"n\":" + random.nextInt(3) + "}"));
                machine.after(Duration.ofSeconds(30), () -> afterCall(id, calls));
            } else {
                finish(TurnResult.Ending.ANSWERED);
            }
        }

        void answered(String callId) {
            machine.after(shortly(), () -> afterCall(callId, 2));
        }

        private void afterCall(String id, int calls) {
            if (dead || hanging || openCall.filter(id::equals).isEmpty()) {
                return;
            }
            openCall = Optional.empty();
            while (!queue.isEmpty() && !interrupted) { // between tool rounds the waiting lines are folded in
                var line = queue.removeFirst();
                turnLines.add(line.id());
                take(line, Entry.Kind.STEER);
            }
            if (interrupted) {
                finish(TurnResult.Ending.INTERRUPTED);
            } else {
                think(calls - 1);
            }
        }

        private void finish(TurnResult.Ending ending) {
            var id = "a" + ++counter;
            boolean answered = ending == TurnResult.Ending.ANSWERED;
            if (answered) {
                context.add(new Entry(Entry.Kind.ASSISTANT, id, List.of(), true));
            }
            running = false;
            openCall = Optional.empty();
            var lines = random.nextBoolean() ? turnLines : List.<DeliveryId>of();
            report(new Report.Result(result(ending, answered ? id : "", lines)));
            flushLater();
            report(new Report.Idle());
            closeWindow();
            if (!queue.isEmpty()) {
                machine.after(shortly(), this::work);
            } else if (chance(now.ownTurn())) {
                machine.after(shortly(), this::ownTurn);
            }
        }

        private void ownTurn() {
            if (dead || running || hanging) {
                return;
            }
            running = true;
            interrupted = false;
            turnLines = new ArrayList<>();
            report(new Report.Busy());
            modelCall(true);
            machine.after(shortly(), () -> {
                if (!dead && running) {
                    finish(TurnResult.Ending.ANSWERED);
                }
            });
        }

        void interrupt() {
            window = true;
            answeredInWindow = false;
            machine.after(random.nextInt(3) == 0 ? Duration.ofMillis(random.nextInt(3_000)) : shortly(), () -> {
                if (dead || hanging) {
                    return;
                }
                interrupted = running; // not scoped: whatever runs now
                answeredInWindow = true;
                report(new Report.InterruptAnswered());
                if (!running) {
                    closeWindow();
                } else if (openCall.isPresent()) {
                    openCall = Optional.empty();
                    machine.after(shortly(), () -> next(0));
                }
            });
        }

        private void closeWindow() {
            if (answeredInWindow && !running) {
                window = false;
            }
        }

        /** The worst known agent files a turn up to 25 ms after it said that it is over. */
        private void flushLater() {
            int through = context.size();
            machine.after(Duration.ofMillis(random.nextInt(25)), () -> {
                if (!dead) {
                    flush(through);
                }
            });
        }

        private void flush(int through) {
            var record = records.computeIfAbsent(nativeSession, n -> new ArrayList<>());
            while (flushed < through && flushed < context.size()) {
                record.add(context.get(flushed++));
            }
        }

        void die(String why, boolean terminated) {
            if (dead) {
                return;
            }
            watcher.trace("agent " + epoch + "." + incarnation + " dies: " + why);
            if (terminated) {
                flush(context.size());
            }
            dead = true;
            machine.after(shortly(), () -> attached.end(why));
        }
    }
}
