package dev.holdfast.it;

import dev.holdfast.Agent;
import dev.holdfast.Attachment;
import dev.holdfast.Binding;
import dev.holdfast.Harness;
import dev.holdfast.Knowledge;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * An agent that takes no time: each thing it does is a task of its own, so that it can come before or after anything else
 * that happens. It answers every line, unless an interrupt comes before it has. Used on one thread.
 */
final class InstantAgent implements Agent {
    private final Executor executor;
    private final Binding binding;
    private final List<Object> tools;
    private int results;

    InstantAgent(Executor executor) {
        this(executor, Binding.none(), List.of());
    }

    InstantAgent(Executor executor, Binding binding, List<Object> tools) {
        this.executor = executor;
        this.binding = binding;
        this.tools = tools;
    }

    @Override
    public List<Object> tools() {
        return tools;
    }

    @Override
    public Binding binding() {
        return binding;
    }

    @Override
    public Harness harness() {
        return new Harness() {
            @Override
            public String name() {
                return "instant";
            }

            @Override
            public Attachment attach(Launch launch, ReportSink sink) {
                return new Running(sink);
            }
        };
    }

    private final class Running implements Attachment {
        private final ReportSink sink;
        private boolean works;
        private boolean stopped;

        Running(ReportSink sink) {
            this.sink = sink;
        }

        /** In a task of its own. */
        private void then(Runnable act) {
            executor.execute(() -> {
                if (!stopped) {
                    act.run();
                }
            });
        }

        @Override
        public void know(KnowledgeQuestion question) {
            then(() -> sink.report(new Report.Known(Knowledge.nothing())));
        }

        @Override
        public void start(StartPlan plan) {
            then(() -> {
                sink.report(new Report.Started(1));
                then(() -> sink.report(new Report.Verified("instant 1", plan.nativeSession())));
            });
        }

        @Override
        public void tell(Line line) {
            then(() -> {
                works = true;
                sink.report(new Report.Landed(line.id()));
                sink.report(new Report.Busy());
                then(() -> finish(TurnResult.Ending.ANSWERED));
            });
        }

        private void finish(TurnResult.Ending ending) {
            if (!works) {
                return;
            }
            works = false;
            results++;
            sink.report(new Report.Result(new TurnResult(
                    ending, "done", "", Usage.unknown(), List.of(), "answer-" + results, "request-" + results, false)));
            sink.report(new Report.Idle());
        }

        @Override
        public void interrupt(long turn) {
            then(() -> {
                sink.report(new Report.InterruptAnswered());
                finish(TurnResult.Ending.INTERRUPTED);
            });
        }

        @Override
        public void answer(String callId, ToolAnswer answer) {
            throw new AssertionError("it called no tool, and is answered " + callId);
        }

        @Override
        public void stop(StopMode mode) {
            then(() -> {
                stopped = true;
                sink.report(new Report.Ended("stopped", "", ""));
            });
        }
    }
}
