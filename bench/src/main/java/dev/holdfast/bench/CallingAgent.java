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
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** An agent without a process, whose turn lasts until it is told to end, and whose calls are made by the bench. */
final class CallingAgent implements Agent, Harness, Attachment {
    private static final int PATIENCE_S = 30;

    private final List<Object> tools;
    private final CountDownLatch working = new CountDownLatch(1);
    private final Map<String, CompletableFuture<ToolAnswer>> calls = new ConcurrentHashMap<>();
    private volatile ReportSink sink = report -> {};

    CallingAgent(Tool... tools) {
        this.tools = List.of((Object[]) tools);
    }

    /** Waits until its turn has begun. */
    void begun() throws InterruptedException {
        if (!working.await(PATIENCE_S, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the turn did not begin");
        }
    }

    CompletableFuture<ToolAnswer> call(String id, String tool, String input) {
        var answer = new CompletableFuture<ToolAnswer>();
        calls.put(id, answer);
        sink.report(new Report.CallRequested(id, tool, input));
        return answer;
    }

    void end() {
        sink.report(new Report.Result(new TurnResult(
                TurnResult.Ending.ANSWERED, "ok", "", Usage.unknown(), List.of(), "answer", "request", false)));
        sink.report(new Report.Idle());
    }

    @Override
    public Harness harness() {
        return this;
    }

    @Override
    public List<Object> tools() {
        return tools;
    }

    @Override
    public String name() {
        return "calling";
    }

    @Override
    public Attachment attach(Launch launch, ReportSink reports) {
        sink = reports;
        return this;
    }

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
        working.countDown();
    }

    @Override
    public void interrupt(long turn) {
        sink.report(new Report.InterruptAnswered());
    }

    @Override
    public void answer(String callId, ToolAnswer answer) {
        var call = calls.remove(callId);
        if (call != null) {
            call.complete(answer);
        }
    }

    @Override
    public void stop(StopMode mode) {
        sink.report(new Report.Ended("asked to", "", ""));
    }
}
