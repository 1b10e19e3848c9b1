package dev.holdfast.bench;

import dev.holdfast.Message;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.GuardPolicy;
import dev.holdfast.runtime.GuardRule;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * What the door costs a call of a tool, from the moment the agent's wish is read to the moment its answer is handed over for
 * writing: reading and writing pipes is the same with and without it, and is left out of both. Beside it the least there can
 * be, the tool on another thread and back, and one commit of the same journal.
 */
final class ToolBench {
    private static final int SESSIONS = 50;
    private static final int CALLS_EACH = 20;
    private static final String RAW = "raw hand-over";
    private static final String COMMIT = "one commit";

    private final Path directory;
    private final int perRound;
    private final int rounds;

    ToolBench(Path directory, boolean quick) {
        this.directory = directory;
        this.perRound = quick ? 20 : 200;
        this.rounds = quick ? 2 : 20;
    }

    /** A tool that says which session and call it was. */
    private record Say(String name, ToolEffects effects) implements Tool {
        @Override
        public ToolSpec spec() {
            return new ToolSpec(name, "says who asked", "{\"type\":\"object\"}");
        }

        @Override
        public ToolAnswer call(ToolCall call) {
            return ToolAnswer.text(words(call.session(), call.callId()));
        }
    }

    private static String words(SessionName session, String callId) {
        return session + " " + callId;
    }

    private static CallingAgent agent() {
        return new CallingAgent(new Say("look", ToolEffects.READ), new Say("change", ToolEffects.WRITE));
    }

    void run(Figures figures) throws Exception {
        var rules = GuardPolicy.of(
                GuardRule.of("never", GuardRule.Decision.DENY).tool("drop_*"),
                GuardRule.of("pattern", GuardRule.Decision.DENY).tool("look").input("to", "^evil$"));
        try (var open = new InTurn(directory.resolve("open"), Options.standard());
                var guarded = new InTurn(
                        directory.resolve("guarded"), Options.standard().guard(rules));
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var raw = new Latencies();
            var read = new Latencies();
            var judged = new Latencies();
            var write = new Latencies();
            var commit = new Latencies();
            var time = new Allowance();
            for (int round = 0; round <= rounds && time.allowsAnother(); round++) {
                if (round == 1) { // the first one warms up
                    List.of(raw, read, judged, write, commit).forEach(Latencies::clear);
                }
                for (int i = 0; i < perRound; i++) {
                    timed(raw, () -> CompletableFuture.supplyAsync(() -> ToolAnswer.text("x"), threads));
                }
                open.calls("look", perRound, read);
                guarded.calls("look", perRound, judged);
                open.calls("change", perRound, write);
                open.commits(perRound, commit);
            }
            figures.row(RAW, raw);
            figures.row("read-only call", read);
            figures.put("read-only call", "events", Figures.round(open.eventsPerCall("look", perRound)));
            figures.row("read-only call, guard with a pattern", judged);
            figures.row(COMMIT, commit);
            figures.row("call with side effects", write);
            figures.put("call with side effects", "events", Figures.round(open.eventsPerCall("change", perRound)));
            over(figures, "read-only call", RAW);
            over(figures, "read-only call, guard with a pattern", RAW);
            over(figures, "call with side effects", COMMIT);
        }
        parallel(figures);
        figures.remark("over_us: p50 above the row it is compared with (" + RAW + ", or " + COMMIT + ")."
                + " events: appended to the journal for each call; a call without one costs no fsync.");
        figures.remark(
                "A call with side effects is in the journal before it runs; its end is written beside its answer.");
    }

    private static void over(Figures figures, String row, String base) {
        figures.put(row, "over_us", Figures.round(figures.number(row, "p50_us") - figures.number(base, "p50_us")));
    }

    /** Something that is asked for now and comes. */
    private interface Asked {
        CompletableFuture<?> ask();
    }

    private static void timed(Latencies latencies, Asked asked) throws Exception {
        long began = System.nanoTime();
        var unused = asked.ask().get(30, TimeUnit.SECONDS);
        long took = System.nanoTime() - began;
        latencies.add(took);
        latencies.elapsed(took);
    }

    /** One session in one turn. */
    private static final class InTurn implements AutoCloseable {
        private final SqliteJournal journal;
        private final Holdfast host;
        private final CallingAgent agent = agent();
        private final Session session;
        private final Session mailbox;
        private long made;

        InTurn(Path data, Options options) throws Exception {
            journal = SqliteJournal.at(Files.createDirectories(data));
            host = Holdfast.open(journal, options);
            session = host.session("calling", agent);
            var other = new SessionName("other");
            host.inbox(other).toCompletableFuture().get(30, TimeUnit.SECONDS);
            mailbox = host.mail(other);
            session.send(Message.of("begin"));
            agent.begun();
        }

        void calls(String tool, int count, Latencies latencies) throws Exception {
            for (int i = 0; i < count; i++) {
                var id = "call-" + made++;
                timed(latencies, () -> agent.call(id, tool, "{\"to\":\"me\"}"));
                if (tool.equals("change")) {
                    quiet();
                }
            }
        }

        /** Until the end of the last call is written, as it is long before a model calls again. */
        private void quiet() throws Exception {
            commits(2, new Latencies()); // the first may have been quicker than what was to be written
        }

        /** What one commit takes, from asking for it to being told. */
        void commits(int count, Latencies latencies) throws Exception {
            for (int i = 0; i < count; i++) {
                timed(latencies, () -> mailbox.sendAsync(Message.of("x")).toCompletableFuture());
            }
        }

        double eventsPerCall(String tool, int count) throws Exception {
            calls("change", 1, new Latencies()); // takes along what waits for a commit
            quiet();
            long before = seq();
            calls(tool, count, new Latencies());
            return (seq() - before) / (double) count;
        }

        private long seq() throws Exception {
            return journal.session(session.name())
                    .toCompletableFuture()
                    .get(30, TimeUnit.SECONDS)
                    .orElseThrow()
                    .seq();
        }

        @Override
        public void close() {
            agent.end();
            host.close();
        }
    }

    private void parallel(Figures figures) throws Exception {
        var journal = SqliteJournal.at(Files.createDirectories(directory.resolve("many")));
        try (var host = Holdfast.open(journal, Options.standard().processes(SESSIONS))) {
            var agents = new ArrayList<CallingAgent>();
            for (int i = 0; i < SESSIONS; i++) {
                var agent = agent();
                agents.add(agent);
                host.session("s" + i, agent).send(Message.of("begin"));
            }
            for (CallingAgent agent : agents) {
                agent.begun();
            }
            long began = System.nanoTime();
            var answers = new ArrayList<CompletableFuture<ToolAnswer>>();
            var wanted = new ArrayList<String>();
            for (int c = 0; c < CALLS_EACH; c++) {
                for (int s = 0; s < SESSIONS; s++) {
                    var id = "c" + c;
                    wanted.add(words(new SessionName("s" + s), id));
                    answers.add(agents.get(s).call(id, c % 2 == 0 ? "look" : "change", "{\"n\":" + c + "}"));
                }
            }
            CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).get(60, TimeUnit.SECONDS);
            double seconds = (System.nanoTime() - began) / 1e9;
            int right = 0;
            for (int i = 0; i < wanted.size(); i++) {
                right += answers.get(i).join().text().equals(wanted.get(i)) ? 1 : 0;
            }
            var row = wanted.size() + " calls at once over " + SESSIONS + " sessions";
            figures.put(row, "count", wanted.size());
            figures.put(row, "per_s", Figures.round(wanted.size() / seconds));
            figures.put(row, "right", right);
            agents.forEach(CallingAgent::end);
        }
    }
}
