package dev.holdfast.claude;

import dev.holdfast.Report;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Interrupts an agent's work. An agent answers an interrupt that comes before it has begun the line, and may run the line
 * all the same or never begin it; so such an interrupt is asked again as soon as the turn begins. Every interrupt ends as
 * answered or, at its deadline, as a breach. Not thread-safe: its owner calls it under its lock.
 */
final class Interrupts {
    private final ControlChannel control;
    private final Conversation conversation;
    private final Duration deadline;
    private final Consumer<Report> reports;
    private final Consumer<JsonNode> receipts;
    private final LongSupplier clock;
    private OptionalLong waitingUntil = OptionalLong.empty();

    /** What was answered while the line was not begun. */
    private JsonNode early = MissingNode.getInstance();

    /** @param receipts takes the agent's own words on each answered interrupt */
    Interrupts(
            ControlChannel control,
            Conversation conversation,
            Duration deadline,
            Consumer<Report> reports,
            Consumer<JsonNode> receipts,
            LongSupplier clock) {
        this.control = control;
        this.conversation = conversation;
        this.deadline = deadline;
        this.reports = reports;
        this.receipts = receipts;
        this.clock = clock;
    }

    void ask() {
        ObjectNode request = ControlChannel.request("interrupt");
        control.ask(request, clock.getAsLong(), deadline, this::answered);
    }

    private void answered(ControlChannel.Answer answer) {
        switch (answer) {
            case ControlChannel.Answer.Success success -> {
                if (conversation.notBegun()) {
                    early = success.response();
                    waitingUntil = OptionalLong.of(clock.getAsLong() + deadline.toNanos());
                } else {
                    receipts.accept(success.response());
                    reports.accept(new Report.InterruptAnswered());
                }
            }
            case ControlChannel.Answer.Refused refused -> {
                reports.accept(new Report.Noticed("interrupt_refused", refused.error()));
                reports.accept(new Report.InterruptAnswered());
            }
            case ControlChannel.Answer.Expired expired -> reports.accept(new Report.Breached("interrupt"));
            case ControlChannel.Answer.Closed closed -> {}
        }
    }

    /** A turn has begun: what came too early for it is asked again. */
    void turnBegan() {
        if (waitingUntil.isPresent()) {
            waitingUntil = OptionalLong.empty();
            ask();
        }
    }

    /** The agent rests: there is nothing to interrupt any more. */
    void rested() {
        if (waitingUntil.isPresent()) {
            waitingUntil = OptionalLong.empty();
            receipts.accept(early);
            reports.accept(new Report.InterruptAnswered());
        }
    }

    OptionalLong dueNanos() {
        return waitingUntil;
    }

    void expire(long nowNanos) {
        if (waitingUntil.isPresent() && nowNanos - waitingUntil.getAsLong() >= 0) {
            waitingUntil = OptionalLong.empty();
            reports.accept(new Report.Breached("interrupt"));
        }
    }
}
