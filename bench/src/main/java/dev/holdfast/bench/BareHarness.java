package dev.holdfast.bench;

import dev.holdfast.Attachment;
import dev.holdfast.DeliveryId;
import dev.holdfast.Harness;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The Claude harness driven by hand: codec, pipes and threads of Holdfast, no core and no journal. */
final class BareHarness implements Lane {
    private static final int PATIENCE_S = 30;

    private final AgentHome home;
    private final Harness harness;
    private final BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
    private final Attachment attachment;

    BareHarness(AgentHome home) throws InterruptedException {
        this.home = home;
        harness = home.agent().harness();
        var launch = new Launch("bench", new SessionName("bare"), 1, 1, home.home(), List.of());
        attachment = harness.attach(launch, reports::add);
        attachment.know(new KnowledgeQuestion(Optional.empty(), List.of(), List.of()));
        await(Report.Known.class);
        attachment.start(new StartPlan(UUID.randomUUID().toString(), false, Optional.empty()));
        await(Report.Verified.class);
    }

    @Override
    public String name() {
        return "harness, no journal";
    }

    @Override
    public void turn(int i) throws InterruptedException {
        attachment.tell(new Line(new DeliveryId(UUID.randomUUID()), List.of(TurnBench.text(i)), "(host)", false));
        await(Report.Result.class);
        await(Report.Idle.class);
    }

    private void await(Class<? extends Report> kind) throws InterruptedException {
        while (true) {
            Report report = reports.poll(PATIENCE_S, TimeUnit.SECONDS);
            if (report == null || (report instanceof Report.Ended && kind != Report.Ended.class)) {
                throw new IllegalStateException("waited for " + kind.getSimpleName() + ", got " + report);
            }
            if (kind.isInstance(report)) {
                return;
            }
        }
    }

    @Override
    public void close() {
        attachment.stop(StopMode.IDLE);
        try {
            await(Report.Ended.class);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        harness.release(home.home());
    }
}
