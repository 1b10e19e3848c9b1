package dev.holdfast.bench;

import dev.holdfast.Agent;
import dev.holdfast.Attachment;
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

/** An agent without a process: answers at once, or takes its line and says nothing until it is interrupted. */
record InProcess(boolean silent) implements Agent, Harness {
    @Override
    public Harness harness() {
        return this;
    }

    @Override
    public List<Object> tools() {
        return List.of();
    }

    @Override
    public String name() {
        return "in-process";
    }

    @Override
    public Attachment attach(Launch launch, ReportSink sink) {
        return new Attached(sink, silent);
    }

    private record Attached(ReportSink sink, boolean silent) implements Attachment {
        @Override
        public void know(KnowledgeQuestion question) {
            sink.report(new Report.Known(Knowledge.nothing()));
        }

        @Override
        public void start(StartPlan plan) {
            sink.report(new Report.Started(ProcessHandle.current().pid()));
            sink.report(new Report.Verified("1", plan.nativeSession()));
        }

        @Override
        public void tell(Line line) {
            sink.report(new Report.Landed(line.id()));
            if (!silent) {
                over(TurnResult.Ending.ANSWERED, List.of(line));
            }
        }

        private void over(TurnResult.Ending ending, List<Line> lines) {
            var ids = lines.stream().map(Line::id).toList();
            sink.report(new Report.Result(
                    new TurnResult(ending, "ok", ending.name(), Usage.unknown(), ids, "answer", "request", false)));
            sink.report(new Report.Idle());
        }

        @Override
        public void interrupt(long turn) {
            sink.report(new Report.InterruptAnswered());
            over(TurnResult.Ending.INTERRUPTED, List.of());
        }

        @Override
        public void answer(String callId, ToolAnswer answer) {
            throw new IllegalStateException("no tool is bound");
        }

        @Override
        public void stop(StopMode mode) {
            sink.report(new Report.Ended("asked to", "", ""));
        }
    }
}
