package dev.holdfast.runtime;

import dev.holdfast.AgentUnavailable;
import dev.holdfast.CallRuling;
import dev.holdfast.DeliveryId;
import dev.holdfast.Launch;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.Skill;
import dev.holdfast.Subscription;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolOutcome;
import dev.holdfast.ToolSpec;
import dev.holdfast.Turn;
import dev.holdfast.TurnCancel;
import dev.holdfast.TurnEvent;
import dev.holdfast.TurnHarness;
import dev.holdfast.TurnIds;
import dev.holdfast.TurnMemory;
import dev.holdfast.TurnMessage;
import dev.holdfast.TurnOptions;
import dev.holdfast.TurnResult;
import dev.holdfast.TurnResult.Ending;
import dev.holdfast.TurnSettings;
import dev.holdfast.TurnTools;
import dev.holdfast.Usage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One turn of a thinker in this process, from its side: what it may ask, and the sink of what it says, which is this turn's
 * alone (HN-07). Thread-safe: {@code lock} guards the turn's end and what it has said, {@code landing} keeps a steer from
 * landing in a turn that ends.
 */
final class TurnRun implements Turn, TurnTools, TurnCancel {
    private static final Logger LOG = LoggerFactory.getLogger(TurnRun.class);
    /** Events after the end that are recorded; the rest is dropped, so that a flood cannot fill the journal. */
    private static final int LATE_MAX = 10;

    private static final ToolOutcome CANCELLED = new ToolOutcome.Failed("the turn was cancelled");
    private static final ToolOutcome OVER = new ToolOutcome.Failed("the turn is over");

    private final TurnIds ids;
    private final DeliveryId delivery;
    private final TurnHarness harness;
    private final TurnSettings settings;
    private final TurnOptions options;
    private final List<ToolSpec> tools;
    private final Notes notes;
    private final ReportSink sink;

    private final Object lock = new Object();
    private final Object landing = new Object();
    private final Map<String, CompletableFuture<ToolOutcome>> calls = new HashMap<>();
    private final List<Runnable> onCancel = new ArrayList<>();
    private final StringBuilder text = new StringBuilder();
    private List<TurnMessage> messages = List.of();
    private List<TurnMessage> asked = List.of();
    private int length;
    private Optional<SteerHandler> steers = Optional.empty();
    private Optional<TurnEvent.Failure> failure = Optional.empty();
    private Optional<Thread> thread = Optional.empty();
    private volatile Optional<HotPaths> hot = Optional.empty();
    private Usage usage = Usage.unknown();
    private int callsMade;
    private int late;
    private boolean cancelled;
    private boolean over;

    TurnRun(
            TurnIds ids,
            DeliveryId delivery,
            TurnHarness harness,
            TurnSettings settings,
            Launch launch,
            Notes notes,
            ReportSink sink) {
        this.ids = ids;
        this.delivery = delivery;
        this.harness = harness;
        this.settings = settings;
        this.options = new TurnOptions(settings.options());
        var withheld = harness.surface().withheld();
        this.tools = launch.tools().stream()
                .filter(t -> !withheld.contains(t.name()))
                .toList();
        this.notes = notes;
        this.sink = sink;
    }

    DeliveryId delivery() {
        return delivery;
    }

    /** What the thinker is shown, once it was read. */
    void shown(List<TurnMessage> conversation, List<TurnMessage> inputs, int count) {
        synchronized (lock) {
            messages = conversation;
            asked = inputs;
            length = count;
        }
    }

    /** Lets the thinker think, to its end. */
    void run() {
        synchronized (lock) {
            thread = Optional.of(Thread.currentThread());
        }
        try {
            hot = HotPaths.of(settings, sink);
            harness.run(this);
            repair();
        } catch (AgentUnavailable e) {
            emit(new TurnEvent.Failure(TurnEvent.Cause.FATAL, e.reason() + ": " + e.getMessage()));
        } catch (Exception | Error e) { // somebody else's code: its turn has failed, and nothing else has (HN-10)
            boolean wanted;
            synchronized (lock) {
                wanted = !cancelled;
            }
            if (wanted) {
                LOG.warn("harness {} failed in turn {} of session {}", harness.name(), ids.turn(), ids.session(), e);
            }
            fail("the harness '" + harness.name() + "' failed: " + e);
        } finally {
            end();
        }
    }

    /** HN-08: one more round with what the validator finds in what was written. */
    private void repair() throws Exception {
        var findings = findings();
        if (findings.isEmpty()) {
            return;
        }
        synchronized (lock) {
            if (cancelled || failure.isPresent()) {
                return;
            }
            var more = new ArrayList<>(messages);
            more.add(new TurnMessage(TurnMessage.Role.AGENT, harness.name(), text.toString()));
            asked = List.of(new TurnMessage(TurnMessage.Role.HOST, "holdfast", findings.get()));
            more.addAll(asked);
            messages = List.copyOf(more);
            length += 2;
        }
        harness.run(this);
        findings().ifPresent(left -> sink.report(new Report.Noticed("validation", left)));
    }

    private Optional<String> findings() {
        var lost = hot.map(HotPaths::hand).orElse("");
        var found = hot.flatMap(HotPaths::findings);
        return lost.isEmpty()
                ? found
                : Optional.of(found.map(f -> lost + "\n" + f).orElse(lost));
    }

    private void end() {
        List<CompletableFuture<ToolOutcome>> open;
        synchronized (landing) {
            synchronized (lock) {
                over = true;
                thread = Optional.empty();
                open = takeCalls();
            }
        }
        open.forEach(c -> c.complete(OVER));
        var unused = Thread.interrupted(); // an interrupt was for the thinker
    }

    /** Under the lock; what they complete may come back here, so they are completed outside of it. */
    private List<CompletableFuture<ToolOutcome>> takeCalls() {
        var open = List.copyOf(calls.values());
        calls.clear();
        return open;
    }

    void fail(String why) {
        emit(new TurnEvent.Failure(TurnEvent.Cause.FAILED, why));
    }

    /** What became of it, once it is over. */
    TurnResult result() {
        synchronized (lock) {
            over = true;
            var ending = cancelled
                    ? Ending.INTERRUPTED
                    : failure.map(f -> f.cause() == TurnEvent.Cause.TURN_LIMIT ? Ending.TURN_LIMIT : Ending.FAILED)
                            .orElse(Ending.ANSWERED);
            return new TurnResult(
                    ending,
                    text.toString(),
                    failure.map(TurnEvent.Failure::reason).orElse(""),
                    usage,
                    List.of(delivery),
                    "",
                    delivery.toString(),
                    !cancelled
                            && failure.filter(f -> f.cause() == TurnEvent.Cause.FATAL)
                                    .isPresent());
        }
    }

    // ---- what the host does to it -----------------------------------------------------------------------------------

    /** Offers a message; {@code landed} is run before the turn can end, when the thinker took it. */
    void steer(TurnMessage message, Runnable landed) {
        synchronized (landing) {
            Optional<SteerHandler> handler;
            synchronized (lock) {
                handler = over || cancelled ? Optional.empty() : steers;
            }
            try {
                if (handler.filter(h -> h.land(message)).isPresent()) {
                    landed.run();
                }
            } catch (RuntimeException | Error e) {
                LOG.warn("harness {} failed on a steer; it waits for a turn of its own", harness.name(), e);
            }
        }
    }

    void answered(String callId, ToolAnswer answer) {
        complete(callId, lost -> {
            boolean well = lost.isEmpty() && !answer.error();
            return well ? new ToolOutcome.Ok(answer) : new ToolOutcome.Failed(told(answer.text(), lost));
        });
    }

    /** It was not let through, or nobody could judge it. */
    void refused(String callId, CallRuling ruling, String reason) {
        complete(callId, lost -> {
            var text = told(reason, lost);
            return denial(ruling)
                    .<ToolOutcome>map(why -> new ToolOutcome.Denied(why, text))
                    .orElseGet(() -> new ToolOutcome.Failed(text));
        });
    }

    /** Absent for a call that was not kept back by anybody. */
    private static Optional<ToolOutcome.Denial> denial(CallRuling ruling) {
        return switch (ruling) {
            case DENIED -> Optional.of(ToolOutcome.Denial.BY_RULE);
            case REFUSED, LAPSED -> Optional.of(ToolOutcome.Denial.NEEDS_APPROVAL);
            case UNATTENDED -> Optional.of(ToolOutcome.Denial.UNATTENDED);
            case UNCONNECTED -> Optional.of(ToolOutcome.Denial.NEEDS_CONNECTION);
            case STOPPED -> Optional.of(ToolOutcome.Denial.STOPPED);
            case ALLOWED, APPROVED, NONE -> Optional.empty();
        };
    }

    private static String told(String text, String lost) {
        return lost.isEmpty() ? text : text + "\n" + lost;
    }

    /** @param outcome of what could not be taken of the files that were written meanwhile; empty for nothing */
    private void complete(String callId, Function<String, ToolOutcome> outcome) {
        CompletableFuture<ToolOutcome> call;
        synchronized (lock) {
            call = calls.remove(callId);
        }
        if (call != null) {
            call.complete(outcome.apply(hot.map(HotPaths::hand).orElse("")));
        }
    }

    /** Fires the cancel signal. */
    void cancelNow() {
        List<Runnable> actions;
        List<CompletableFuture<ToolOutcome>> open;
        synchronized (lock) {
            if (cancelled || over) {
                return;
            }
            cancelled = true;
            actions = List.copyOf(onCancel);
            onCancel.clear();
            open = takeCalls();
        }
        open.forEach(c -> c.complete(CANCELLED));
        actions.forEach(this::guarded);
    }

    /** Interrupts the thinker's thread, while it thinks. */
    void interrupt() {
        synchronized (lock) {
            thread.ifPresent(Thread::interrupt);
        }
    }

    private void guarded(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException | Error e) {
            LOG.warn("harness {} failed when its turn was cancelled", harness.name(), e);
        }
    }

    // ---- what the thinker says ------------------------------------------------------------------------------------

    @Override
    public void emit(TurnEvent event) {
        Report report;
        synchronized (lock) {
            if (over || failure.isPresent()) {
                late++;
                if (late > LATE_MAX) {
                    return;
                }
                report = new Report.Noticed(
                        "event_after_end",
                        "turn " + ids.turn() + ": " + event.getClass().getSimpleName()
                                + (late == LATE_MAX ? ", and further ones are not recorded" : ""));
            } else {
                var made = take(event);
                if (made.isEmpty()) {
                    return;
                }
                report = made.get();
            }
        }
        sink.report(report);
    }

    private Optional<Report> take(TurnEvent event) {
        return switch (event) {
            case TurnEvent.Text t -> {
                text.append(t.fragment());
                yield Optional.of(new Report.Text(t.fragment()));
            }
            case TurnEvent.Status s -> Optional.of(new Report.Doing(s.beat()));
            case TurnEvent.Notice n -> Optional.of(new Report.Noticed("notice", n.text()));
            case TurnEvent.Used u -> {
                usage = sum(usage, u.usage());
                yield Optional.empty();
            }
            case TurnEvent.Failure f -> {
                failure = Optional.of(f);
                yield Optional.empty();
            }
        };
    }

    private static Usage sum(Usage a, Usage b) {
        boolean known = a.costMicros().isPresent() || b.costMicros().isPresent();
        return new Usage(
                a.inputTokens() + b.inputTokens(),
                a.outputTokens() + b.outputTokens(),
                a.cacheReadTokens() + b.cacheReadTokens(),
                a.cacheCreationTokens() + b.cacheCreationTokens(),
                known
                        ? OptionalLong.of(
                                a.costMicros().orElse(0) + b.costMicros().orElse(0))
                        : OptionalLong.empty());
    }

    // ---- what the thinker asks ------------------------------------------------------------------------------------

    @Override
    public TurnIds ids() {
        return ids;
    }

    @Override
    public List<TurnMessage> messages() {
        synchronized (lock) {
            return messages;
        }
    }

    @Override
    public List<TurnMessage> asked() {
        synchronized (lock) {
            return asked;
        }
    }

    @Override
    public int length() {
        synchronized (lock) {
            return length;
        }
    }

    @Override
    public TurnTools tools() {
        return this;
    }

    @Override
    public List<ToolSpec> list() {
        return tools;
    }

    @Override
    public ToolOutcome call(String name, String input) {
        var answer = callAsync(name, input);
        try {
            return answer.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            answer.complete(CANCELLED);
            return CANCELLED;
        } catch (ExecutionException e) {
            return new ToolOutcome.Failed("the call failed: " + e.getCause());
        }
    }

    @Override
    public CompletableFuture<ToolOutcome> callAsync(String name, String input) {
        if (harness.surface().withheld().contains(name)) {
            return CompletableFuture.completedFuture(new ToolOutcome.Failed("there is no tool '" + name + "' here"));
        }
        var answer = new CompletableFuture<ToolOutcome>();
        String id;
        synchronized (lock) {
            if (over || cancelled || failure.isPresent()) {
                return CompletableFuture.completedFuture(cancelled ? CANCELLED : OVER);
            }
            callsMade++;
            id = delivery + "-" + callsMade;
            calls.put(id, answer);
        }
        sink.report(new Report.CallRequested(id, name, input));
        var unused = answer.whenComplete((outcome, failure) -> withdraw(id)); // when its thinker waits no more
        return answer;
    }

    private void withdraw(String id) {
        boolean waited;
        synchronized (lock) {
            waited = calls.remove(id) != null;
        }
        if (waited) {
            sink.report(new Report.CallWithdrawn(id));
        }
    }

    @Override
    public List<Skill> skills() {
        return settings.skills();
    }

    @Override
    public Optional<Path> workspace() {
        return settings.workspace();
    }

    @Override
    public TurnMemory state() {
        return notes.during(length());
    }

    @Override
    public TurnOptions options() {
        return options;
    }

    @Override
    public TurnCancel cancel() {
        return this;
    }

    @Override
    public boolean interactive() {
        return settings.interactive();
    }

    @Override
    public String brief() {
        return settings.brief();
    }

    @Override
    public void onSteer(SteerHandler handler) {
        synchronized (lock) {
            steers = Optional.of(handler);
        }
    }

    @Override
    public boolean isCancelled() {
        synchronized (lock) {
            return cancelled;
        }
    }

    @Override
    public Subscription onCancel(Runnable action) {
        synchronized (lock) {
            if (!cancelled) {
                onCancel.add(action);
                return () -> {
                    synchronized (lock) {
                        onCancel.remove(action);
                    }
                };
            }
        }
        guarded(action);
        return () -> {};
    }
}
