package dev.holdfast.testkit;

import dev.holdfast.DeliveryId;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import dev.holdfast.testkit.SimulatedRecord.Entry;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * One process of a simulated agent: takes lines, thinks, calls tools, folds in what waits, ends turns in every way there is,
 * starts some by itself, and dies. Not thread-safe.
 */
final class SimulatedProcess {
    /** What a process holds that has grown too big. */
    static final long BIG = 1_000;

    private final SimulatedAgents agents;
    private final SessionName session;
    private final long epoch;
    private final long incarnation;
    private final String nativeSession;
    private final ReportSink sink;
    private final Runnable gone;
    private final List<Entry> context = new ArrayList<>();
    private final Set<String> seen = new HashSet<>();
    private final Deque<Line> queue = new ArrayDeque<>();
    private int flushed;
    private boolean dead;
    private boolean hanging;
    private boolean running;
    private boolean interrupted;
    private Optional<String> openCall = Optional.empty();
    private List<Line> turnLines = new ArrayList<>();
    private boolean window;
    private boolean answeredInWindow;
    private final Set<DeliveryId> unacknowledged = new HashSet<>();
    private String why = "";

    /** @param gone what is told that it is dead and seen dead */
    SimulatedProcess(SimulatedAgents agents, Launch launch, StartPlan plan, ReportSink sink, Runnable gone) {
        this.agents = agents;
        this.sink = sink;
        this.gone = gone;
        session = launch.session();
        epoch = launch.epoch();
        incarnation = launch.incarnation();
        nativeSession = plan.nativeSession();
        var record = agents.record(nativeSession);
        if (plan.resume() && record.isPresent()) {
            resume(record.get().entries);
        } else if (record.isPresent()) {
            agents.watcher.violation("a native session is created over an existing record");
        }
        plan.catchUp().ifPresent(c -> {
            agents.watcher.retold(c.text());
            context.add(new Entry(Entry.Kind.USER, c.id().toString(), List.of(c.text()), true));
            flushLater();
        });
    }

    private void resume(List<Entry> record) {
        context.addAll(record);
        flushed = context.size();
        record.forEach(e -> {
            if (e.kind() == Entry.Kind.USER) {
                seen.add(e.id()); // folded lines are not known any more after a resume
            }
        });
        if (!context.isEmpty() && context.getLast().kind() != Entry.Kind.ASSISTANT) {
            context.add(new Entry(Entry.Kind.ASSISTANT, "filler" + agents.nextNumber(), List.of("filler"), false));
        }
    }

    boolean alive() {
        return !dead;
    }

    boolean hanging() {
        return hanging;
    }

    boolean of(SessionName name) {
        return session.equals(name);
    }

    boolean older(Launch launch) {
        return epoch < launch.epoch() || (epoch == launch.epoch() && incarnation < launch.incarnation());
    }

    /** Why it died. */
    String why() {
        return why;
    }

    private void report(Report report) {
        agents.watcher.trace(() -> "agent " + epoch + "." + incarnation + " reports " + report);
        sink.report(report);
    }

    void write(Line line) {
        if (dead) {
            return;
        }
        agents.watcher.told(session, incarnation, line);
        if (window) {
            agents.watcher.violation("TN-14: a line is written inside an interrupt window");
        }
        if (!unacknowledged.isEmpty()) {
            agents.watcher.violation("TN-13: a line is written while another is not acknowledged");
        }
        unacknowledged.add(line.id());
        queue.add(line);
        agents.after(agents.shortly(), this::work);
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
        turnLines = new ArrayList<>(List.of(line));
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
        if (agents.chance(agents.faults().die()) || poisoned()) {
            agents.after(agents.shortly(), () -> die("crashed", false));
            return;
        }
        if (agents.chance(agents.faults().hang())) {
            hanging = true;
            return;
        }
        agents.after(Duration.ofMillis(agents.below(2_000)), () -> next(calls));
    }

    /** Some messages kill any agent that reads them, or goes on with them after it was begun anew. */
    private boolean poisoned() {
        return goesOn() ? poisonous(lastWords()) : turnLines.stream().anyMatch(l -> poisonous(l.texts()));
    }

    private boolean goesOn() {
        return turnLines.stream().allMatch(l -> l.texts().isEmpty());
    }

    private static boolean poisonous(List<String> texts) {
        return texts.stream().anyMatch(t -> t.contains(SimulatedAgents.POISON) && !t.startsWith("[holdfast]"));
    }

    private List<String> lastWords() {
        return context.reversed().stream()
                .filter(e -> e.kind() != Entry.Kind.ASSISTANT)
                .map(Entry::texts)
                .filter(texts -> texts.stream().anyMatch(t -> !t.startsWith("[holdfast]")))
                .findFirst()
                .orElse(List.of());
    }

    private void modelCall(boolean own) {
        var texts = new ArrayList<String>();
        context.forEach(e -> {
            if (e.kind() != Entry.Kind.ASSISTANT) {
                texts.addAll(e.texts());
            }
        });
        agents.watcher.modelCall(session, incarnation, texts, own);
    }

    private void next(int calls) {
        if (dead || hanging) {
            return;
        }
        if (interrupted) {
            finish(TurnResult.Ending.INTERRUPTED);
        } else if (agents.chance(agents.faults().apiError())) {
            finish(TurnResult.Ending.FAILED);
        } else if (agents.chance(agents.faults().turnLimit())) {
            finish(TurnResult.Ending.TURN_LIMIT);
        } else if (agents.chance(agents.faults().silence())) {
            rest();
        } else if (calls > 0 && agents.below(goesOn() ? 2 : 3) == 0) {
            var id = "call" + agents.nextNumber();
            openCall = Optional.of(id);
            int kind = goesOn() ? 2 : agents.below(3); // one that goes on makes again what a person was asked about
            report(new Report.CallRequested(id, "work", "{\"n\":" + kind + "}"));
            agents.after(Duration.ofSeconds(30), () -> afterCall(id, calls));
        } else {
            finish(TurnResult.Ending.ANSWERED);
        }
    }

    void answered(String callId) {
        agents.after(agents.shortly(), () -> afterCall(callId, 2));
    }

    private void afterCall(String id, int calls) {
        if (dead || hanging || openCall.filter(id::equals).isEmpty()) {
            return;
        }
        openCall = Optional.empty();
        while (!queue.isEmpty() && !interrupted) { // between tool rounds the waiting lines are folded in
            var line = queue.removeFirst();
            turnLines.add(line);
            take(line, Entry.Kind.STEER);
        }
        if (interrupted) {
            finish(TurnResult.Ending.INTERRUPTED);
        } else {
            think(calls - 1);
        }
    }

    private void finish(TurnResult.Ending ending) {
        var id = "a" + agents.nextNumber();
        boolean answered = ending == TurnResult.Ending.ANSWERED;
        var words = words(id);
        if (answered) {
            context.add(new Entry(Entry.Kind.ASSISTANT, id, List.of(words), true));
        }
        running = false;
        var lines = agents.below(2) == 0 ? turnLines.stream().map(Line::id).toList() : List.<DeliveryId>of();
        report(new Report.Result(new TurnResult(
                ending,
                words,
                "",
                new Usage(1, 1, 0, 0, OptionalLong.empty()),
                lines,
                answered ? id : "",
                "r" + id,
                false)));
        flushLater();
        if (agents.chance(agents.faults().grows())) {
            report(new Report.Memory(BIG));
        }
        rest();
    }

    /** By itself, without a result before it, this is an agent that falls silent. */
    private void rest() {
        running = false;
        openCall = Optional.empty();
        report(new Report.Idle());
        closeWindow();
        if (!queue.isEmpty()) {
            agents.after(agents.shortly(), this::work);
        } else if (agents.chance(agents.faults().ownTurn())) {
            agents.after(agents.shortly(), this::ownTurn);
        }
    }

    /** Repeats what the host asked for itself, so that it can be seen where the answer goes. */
    private String words(String id) {
        var asked = turnLines.stream()
                .map(Line::hostNote)
                .filter(note -> note.contains(InvariantChecker.INTERNAL))
                .findFirst();
        return "answer " + id + asked.map(note -> " to " + note).orElse("");
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
        agents.after(Duration.ofMillis(agents.below(3) == 0 ? agents.below(3_000) : agents.below(20)), () -> {
            if (!dead && running) {
                finish(interrupted ? TurnResult.Ending.INTERRUPTED : TurnResult.Ending.ANSWERED);
            }
        });
    }

    /** Its input ends, which a turn of ours must not see. */
    void endOfInput() {
        if (!dead && (!queue.isEmpty() || (running && !turnLines.isEmpty()))) {
            agents.watcher.violation("MB-12: input ends in mid-turn");
        }
    }

    void interrupt() {
        window = true;
        answeredInWindow = false;
        var delay = agents.below(3) == 0 ? Duration.ofMillis(agents.below(3_000)) : agents.shortly();
        agents.after(delay, () -> {
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
                agents.after(agents.shortly(), () -> next(0));
            }
        });
    }

    private void closeWindow() {
        if (answeredInWindow && !running) {
            window = false;
        }
    }

    /** The worst known agent files a turn some time after it said that it is over. */
    private void flushLater() {
        int through = context.size();
        agents.after(agents.filing(), () -> {
            if (!dead) {
                flush(through);
            }
        });
    }

    private void flush(int through) {
        var record = agents.recordToWrite(nativeSession);
        while (flushed < through && flushed < context.size()) {
            record.entries.add(context.get(flushed++));
        }
    }

    void die(String cause, boolean terminated) {
        if (dead) {
            return;
        }
        agents.watcher.trace(() -> "agent " + epoch + "." + incarnation + " dies: " + cause);
        if (terminated) {
            flush(context.size());
        }
        dead = true;
        why = cause;
        agents.after(agents.shortly(), gone);
    }
}
