package dev.holdfast.runtime;

import dev.holdfast.Attachment;
import dev.holdfast.Author;
import dev.holdfast.CallRuling;
import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Outcome;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.TranscriptEntry;
import dev.holdfast.TranscriptTurn;
import dev.holdfast.TurnHarness;
import dev.holdfast.TurnIds;
import dev.holdfast.TurnMessage;
import dev.holdfast.TurnMessage.Role;
import dev.holdfast.TurnSettings;
import dev.holdfast.core.Told;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One incarnation of a thinker in this process: gives it each turn with our transcript, which is all it has (HN-15), and
 * makes reports of what it says. A cancelled turn that does not end by itself is interrupted, then given up. Its methods are
 * called by its owner's serial tasks; a turn runs on a thread of its own. {@code lock} guards what runs and what waits, and is
 * never held while a thinker is called.
 */
final class TurnAttachment implements Attachment {
    private static final Logger LOG = LoggerFactory.getLogger(TurnAttachment.class);
    /** How long a cancelled turn may take to end by itself, and how long after its thread was interrupted. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final TurnHarness harness;
    private final TurnSettings settings;
    private final Launch launch;
    private final TranscriptReader reader;
    private final Surroundings surroundings;
    private final ReportSink sink;

    private final Object lock = new Object();
    private final Map<DeliveryId, Said> waiting = new HashMap<>();
    private final Notes notes = new Notes();
    private final TranscriptIndex index = new TranscriptIndex();
    private final Map<Long, TranscriptTurn> read = new HashMap<>();
    private Optional<TurnRun> running = Optional.empty();
    private boolean stopping;
    private boolean over;

    /** A line with the turn it is for, or is steered into. */
    private record Said(long turn, Told told, Transcript.Telling telling) {
        Line line() {
            return telling.line();
        }

        String author() {
            return telling.sender()
                    .map(Transcript.Sender::author)
                    .orElse(Author.host())
                    .name();
        }
    }

    TurnAttachment(
            TurnHarness harness,
            TurnSettings settings,
            Launch launch,
            TranscriptReader reader,
            Surroundings surroundings,
            ReportSink sink) {
        this.harness = harness;
        this.settings = settings;
        this.launch = launch;
        this.reader = reader;
        this.surroundings = surroundings;
        this.sink = sink;
    }

    @Override
    public void know(KnowledgeQuestion question) {
        report(new Report.Known(Knowledge.nothing()));
    }

    @Override
    public void start(StartPlan plan) { // what it would be told again, each turn shows it
        report(new Report.Started(ProcessHandle.current().pid()));
        report(new Report.Verified(harness.name(), plan.nativeSession()));
    }

    @Override
    public void tell(Line line) {
        throw new IllegalStateException("a turn's number is needed to tell line " + line.id());
    }

    /** As {@link #tell(Line)}, of that turn. */
    void tell(long turn, Told told, Transcript.Telling telling) {
        var said = new Said(turn, told, telling);
        Optional<TurnRun> into;
        synchronized (lock) {
            if (told.kind() != Told.Kind.STEER) {
                begin(said);
                return;
            }
            into = running;
            waiting.put(said.line().id(), said);
        }
        into.ifPresent(run -> surroundings.toolExecutor().execute(() -> steer(run, said)));
    }

    /** A steer that did not land has a turn of its own now. */
    void opened(long turn, Told told) {
        synchronized (lock) {
            var said = told.kind() == Told.Kind.STEER ? null : waiting.remove(told.id());
            if (said != null) {
                begin(new Said(turn, told, said.telling()));
            }
        }
    }

    private void steer(TurnRun run, Said said) {
        run.steer(
                new TurnMessage(
                        Role.SENDER,
                        said.author(),
                        String.join("\n", said.line().texts())),
                () -> {
                    synchronized (lock) {
                        waiting.remove(said.line().id());
                    }
                    report(new Report.Landed(said.line().id()));
                });
    }

    // ---- turns ----------------------------------------------------------------------------------------------------

    /** Under the lock. */
    private void begin(Said said) {
        if (stopping || running.isPresent()) {
            return; // the core tells one line at a time; a process that is being ended takes none
        }
        long message =
                said.told().messages().stream().findFirst().map(m -> m.number()).orElse(0L);
        var run = new TurnRun(
                new TurnIds(launch.session(), said.turn(), message),
                said.line().id(),
                harness,
                settings,
                launch,
                notes,
                this::report);
        running = Optional.of(run);
        reader.index(launch.session(), index)
                .thenCompose(known -> past(said.turn()))
                .thenCombine(inputs(said), (past, now) -> shown(run, past, now))
                .whenComplete((shown, failure) -> surroundings.toolExecutor().execute(() -> {
                    if (failure == null) {
                        run(run);
                    } else {
                        LOG.warn("the transcript of session {} cannot be read", launch.session(), failure);
                        run.fail("the transcript could not be read: " + failure.getMessage());
                        report(new Report.Landed(run.delivery())); // else nothing says that this is its turn's end
                        ended(run);
                    }
                }));
    }

    private CompletionStage<List<TranscriptEntry>> inputs(Said said) {
        return said.told().messages().isEmpty()
                ? CompletableFuture.completedFuture(List.of(new TranscriptEntry(
                        Role.HOST,
                        Optional.empty(),
                        0,
                        Optional.empty(),
                        said.line().hostNote())))
                : reader.said(launch.session(), said.told().messages());
    }

    /** The newest turns before this one, newest first, as many as may be shown and one more. */
    private CompletionStage<List<TranscriptTurn>> past(long turn) {
        var numbers =
                new ArrayDeque<>(index.turns().tailSet(index.forgotten(), false).headSet(turn));
        return past(numbers, new ArrayList<>(), 0);
    }

    private CompletionStage<List<TranscriptTurn>> past(Deque<Long> numbers, List<TranscriptTurn> all, long before) {
        long length = before;
        while (!numbers.isEmpty() && length <= settings.retold()) {
            long number = numbers.removeLast();
            var known = read.get(number);
            if (known == null) {
                long soFar = length;
                return reader.turn(launch.session(), index, number).thenCompose(t -> {
                    read.put(number, t);
                    all.add(t);
                    return past(numbers, all, soFar + length(t));
                });
            }
            all.add(known);
            length += length(known);
        }
        read.keySet().retainAll(all.stream().map(TranscriptTurn::number).toList());
        return CompletableFuture.completedFuture(all);
    }

    private static long length(TranscriptTurn turn) {
        return turn.entries().stream().mapToLong(e -> e.text().length()).sum();
    }

    /** HN-05: what this turn asks is always shown whole; of what was before, the newest, and that something was cut. */
    private Void shown(TurnRun run, List<TranscriptTurn> newestFirst, List<TranscriptEntry> inputs) {
        var shown = new ArrayDeque<TurnMessage>();
        var asked = inputs.stream().map(e -> e.shown(harness.name())).toList();
        shown.addAll(asked);
        long room = settings.retold();
        boolean cut = false;
        for (TranscriptTurn turn : newestFirst) {
            if (turn.outcome() != Outcome.ANSWERED && !cut) {
                shown.addFirst(new TurnMessage(Role.HOST, "holdfast", Transcript.notAnswered(turn.outcome())));
            }
            for (TranscriptEntry entry : turn.entries().reversed()) {
                cut = cut || entry.text().length() > room;
                if (!cut) {
                    room -= entry.text().length();
                    shown.addFirst(entry.shown(harness.name()));
                }
            }
        }
        if (cut) {
            shown.addFirst(new TurnMessage(
                    Role.HOST,
                    "holdfast",
                    "[holdfast] What was said before this is left out: the bound is " + settings.retold()
                            + " characters."));
        }
        run.shown(List.copyOf(shown), asked, (int) Math.min(Integer.MAX_VALUE, index.messages() + inputs.size()));
        return null;
    }

    private void run(TurnRun run) {
        synchronized (lock) {
            if (stopping) {
                finish("stopped before its turn began");
                return;
            }
        }
        report(new Report.Landed(run.delivery()));
        report(new Report.Busy());
        try {
            run.run();
        } finally {
            ended(run);
        }
    }

    private void ended(TurnRun run) {
        synchronized (lock) {
            running = Optional.empty();
            if (stopping) { // an open turn is for the next incarnation: what it said on the way out does not end it
                finish("stopped");
                return;
            }
        }
        report(new Report.Result(run.result()));
        report(new Report.Idle());
    }

    // ---- ending ---------------------------------------------------------------------------------------------------

    @Override
    public void interrupt(long turn) {
        Optional<TurnRun> run;
        synchronized (lock) {
            run = running.filter(r -> r.ids().turn() == turn);
        }
        run.ifPresent(r -> {
            surroundings.toolExecutor().execute(r::cancelNow);
            surroundings.at(surroundings.now().plus(PATIENCE), r::interrupt);
        });
        report(new Report.InterruptAnswered());
    }

    @Override
    public void answer(String callId, ToolAnswer answer) {
        answered(r -> r.answered(callId, answer));
    }

    @Override
    public void refuse(String callId, CallRuling ruling, String reason) {
        answered(r -> r.refused(callId, ruling, reason));
    }

    private void answered(Consumer<TurnRun> answer) {
        Optional<TurnRun> run;
        synchronized (lock) {
            run = running;
        }
        run.ifPresent(r -> surroundings.toolExecutor().execute(() -> answer.accept(r))); // hooks may block
    }

    @Override
    public void stop(StopMode mode) {
        Optional<TurnRun> run;
        synchronized (lock) {
            if (stopping) {
                return;
            }
            stopping = true;
            run = running;
            if (run.isEmpty()) {
                finish("stopped");
                return;
            }
        }
        var open = run.get();
        surroundings.toolExecutor().execute(() -> {
            open.cancelNow();
            open.interrupt();
        });
        surroundings.at(surroundings.now().plus(PATIENCE), () -> {
            synchronized (lock) {
                if (!over) {
                    report(new Report.Noticed(
                            "abandoned",
                            "turn " + open.ids().turn() + " of harness '" + harness.name() + "' did not end within "
                                    + PATIENCE + " of being interrupted; its thread is left"));
                    finish("given up");
                }
            }
        });
    }

    /** Under the lock: the last report. */
    private void finish(String why) {
        if (!over) {
            report(new Report.Ended(why, "", ""));
            over = true;
        }
    }

    private void report(Report report) {
        synchronized (lock) {
            if (over) {
                LOG.debug("session {}: {} after the end is dropped", launch.session(), report);
            } else {
                sink.report(report);
            }
        }
    }
}
