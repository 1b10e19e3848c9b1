package dev.holdfast.testkit;

import dev.holdfast.Attachment;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;

/**
 * The machine on which simulated agents live: their processes, and their records on its disk, both of which outlive a
 * host. By default as bad as the worst known agent: the record is written late, folded lines are filed under another kind
 * of id, the agent's own de-duplication forgets them, an interrupt hits whatever runs when it arrives, an orphan works on.
 * Not thread-safe.
 */
final class SimulatedAgents {
    /** A word that kills an agent that is told it in a message. */
    static final String POISON = "[poison]";

    final Watcher watcher;
    private final VirtualTime.Group machine;
    private final Random random;
    private Faults now;
    private final Map<String, SimulatedRecord> records = new HashMap<>();
    private final List<SimulatedProcess> processes = new ArrayList<>();
    private long counter;
    private long newestEpoch;

    /** Hears what an agent does, to judge it. */
    interface Watcher {
        /** What a model was shown, as one list of user texts in order. */
        void modelCall(SessionName session, long incarnation, List<String> userTexts, boolean ownTurn);

        /** What is written to an agent. */
        void told(SessionName session, long incarnation, Line line);

        /** What an agent is told again when it starts. */
        void retold(String text);

        void violation(String what);

        /** For a person who replays a seed. */
        void trace(Supplier<String> what);
    }

    /**
     * How likely things go wrong, each from 0 to 1.
     *
     * @param filingMillis how late a record is written at most
     * @param silence of a turn's end: the agent rests and tells no result
     * @param grows of a process, with a turn, beyond what it may hold
     */
    record Faults(
            double die,
            double hang,
            double failStart,
            double apiError,
            double turnLimit,
            double ownTurn,
            double loseRecord,
            int filingMillis,
            double silence,
            double grows) {
        static Faults none() {
            return new Faults(0, 0, 0, 0, 0, 0, 0, 25, 0, 0);
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
            if (p.hanging()) {
                p.die("killed at the end of the faults", false);
            }
        });
    }

    /** kill -9 of a random living agent. */
    void killOne() {
        var alive = processes.stream().filter(SimulatedProcess::alive).toList();
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

    // ---- what processes use ---------------------------------------------------------------------------------------

    Faults faults() {
        return now;
    }

    boolean chance(double probability) {
        return probability > 0 && random.nextDouble() < probability;
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    Duration shortly() {
        return Duration.ofMillis(random.nextInt(20));
    }

    Duration filing() {
        return Duration.ofMillis(random.nextInt(now.filingMillis()));
    }

    void after(Duration delay, Runnable task) {
        machine.after(delay, task);
    }

    long nextNumber() {
        return ++counter;
    }

    Optional<SimulatedRecord> record(String nativeSession) {
        return Optional.ofNullable(records.get(nativeSession));
    }

    SimulatedRecord recordToWrite(String nativeSession) {
        return records.computeIfAbsent(nativeSession, n -> new SimulatedRecord());
    }

    // ---- attachment -----------------------------------------------------------------------------------------------

    private final class Attached implements Attachment {
        private final Launch launch;
        private final ReportSink sink;
        private Optional<SimulatedProcess> process = Optional.empty();
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
                for (SimulatedProcess p : List.copyOf(processes)) {
                    if (p.alive() && p.of(launch.session()) && p.older(launch)) {
                        p.die("reaped", true);
                    }
                }
                processes.removeIf(p -> !p.alive());
                if (!stopped) {
                    var known = read(question);
                    watcher.trace(() -> "agent " + launch.epoch() + "." + launch.incarnation() + " asked " + question
                            + ": " + known);
                    sink.report(new Report.Known(known));
                }
            });
        }

        private Knowledge read(KnowledgeQuestion question) {
            question.nativeSession().filter(n -> chance(now.loseRecord())).ifPresent(records::remove);
            return question.nativeSession()
                    .flatMap(SimulatedAgents.this::record)
                    .map(r -> r.read(question))
                    .orElseGet(Knowledge::nothing);
        }

        @Override
        public void start(StartPlan plan) {
            machine.after(shortly(), () -> {
                if (stopped || chance(now.failStart())) {
                    end("could not be started");
                } else if (plan.resume() && !records.containsKey(plan.nativeSession())) {
                    end("no conversation found");
                } else if (launch.epoch() < newestEpoch) {
                    end("a newer owner has the session: its lease fences this start");
                } else {
                    begin(plan);
                }
            });
        }

        private void begin(StartPlan plan) {
            if (processes.stream().anyMatch(p -> p.alive() && p.of(launch.session()))) {
                watcher.violation("O1: an agent of " + launch.session() + " is started while another lives");
            }
            var begun = new SimulatedProcess(
                    SimulatedAgents.this,
                    launch,
                    plan,
                    sink,
                    () -> end(process.map(SimulatedProcess::why).orElse("")));
            processes.add(begun);
            process = Optional.of(begun);
            sink.report(new Report.Started(++counter));
            machine.after(shortly(), () -> {
                if (begun.alive()) {
                    sink.report(new Report.Verified("simulated 1", plan.nativeSession()));
                }
            });
        }

        @Override
        public void tell(Line line) {
            process.ifPresent(p -> p.write(line));
        }

        @Override
        public void interrupt(long turn) {
            process.ifPresent(SimulatedProcess::interrupt);
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
            if (mode == StopMode.IDLE) {
                process.ifPresent(SimulatedProcess::endOfInput);
            }
            machine.after(shortly(), () -> {
                process.ifPresent(p -> p.die("stopped", true));
                end("stopped");
            });
        }
    }
}
