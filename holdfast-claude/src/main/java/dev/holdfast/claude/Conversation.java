package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import dev.holdfast.claude.BeatSigns.Sign;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import tools.jackson.databind.JsonNode;

/**
 * Reads turns out of the frames of a verified agent: what landed, when it works and rests, how a turn ended. Not
 * thread-safe: its owner calls it under its lock.
 */
final class Conversation {
    private final Consumer<Report> reports;
    private final LongSupplier clock;
    private final Vigil vigil;
    private final BeatSigns beats;
    private final CostMeter cost = new CostMeter();
    /** Lines that were told, by their ids. */
    private final Map<String, Line> unacknowledged = new LinkedHashMap<>();

    private final Set<String> noticesTold = new LinkedHashSet<>();
    private final boolean startsTurnsItself;
    private boolean announcesStates;
    private boolean busy;

    /** The one line told while the agent rested: a turn that begins now is its turn. Empty for none. */
    private String onlyLine = "";

    private boolean landedSinceResult;
    private boolean skippedLine;

    /** Why the message of this turn was kept from the model; empty while it was not. */
    private String keptBack = "";

    private String repeated = "";
    private String answerId = "";
    private String assistantError = "";

    /** @param startsTurnsItself whether the agent has tools of its own whose work can wake it */
    Conversation(Deadlines deadlines, boolean startsTurnsItself, Consumer<Report> reports, LongSupplier clock) {
        this.startsTurnsItself = startsTurnsItself;
        this.reports = reports;
        this.clock = clock;
        this.vigil = new Vigil(deadlines);
        this.beats = new BeatSigns(beat -> reports.accept(new Report.Doing(beat)));
    }

    Vigil vigil() {
        return vigil;
    }

    /** Whether the agent says by itself when it works and rests. */
    boolean announcesStates() {
        return announcesStates;
    }

    /** Before the tool list is checked only the agent's state and its cost counter matter. */
    void beforeVerified(Frame frame) {
        switch (frame) {
            case Frame.State state -> {
                announcesStates = true;
                busy = !state.resting();
            }
            case Frame.Result result -> cost.baseline(result.raw().path("total_cost_usd"));
            default -> {}
        }
    }

    void told(Line line) {
        String id = line.id().toString();
        unacknowledged.put(id, line);
        boolean only = announcesStates && !busy && !startsTurnsItself && unacknowledged.size() == 1;
        onlyLine = only ? id : "";
        vigil.told(clock.getAsLong());
    }

    /** Whether the agent was told a line that it has not begun, while it works on nothing else of ours. */
    boolean notBegun() {
        return !landedSinceResult && !unacknowledged.isEmpty();
    }

    /** A line of the agent was too long to be read: the turn cannot be told truthfully any more (HS-10). */
    void lineSkipped() {
        skippedLine = true;
        vigil.life(clock.getAsLong());
    }

    /**
     * A hook of ours keeps a prompt from the model: the agent ends its turn and never acknowledges it. It may be one that the
     * agent made by itself, such as news of work in the background, while a line of ours waits: then that goes on waiting.
     *
     * @param prompt what the agent was about to show: the blocks of a line, joined
     */
    void keptBack(String prompt, String why) {
        var ours = unacknowledged.values().stream()
                .filter(line -> isOf(line, prompt))
                .map(line -> line.id().toString())
                .findFirst();
        if (ours.isPresent()) {
            keptBack = why;
            landed(ours.get());
        } else {
            reports.accept(new Report.Noticed("prompt_kept_back", why + " (no message of ours)"));
        }
    }

    /** The host's own block is in none that the agent makes by itself; short words may be. */
    private static boolean isOf(Line line, String prompt) {
        return prompt.contains(line.hostNote().strip())
                || prompt.strip().equals(String.join("\n", line.texts()).strip());
    }

    void frame(Frame frame) {
        switch (frame) {
            case Frame.State state -> state(state);
            case Frame.Init init -> began();
            case Frame.Partial partial -> {
                vigil.life(clock.getAsLong());
                beats.seen(partial.text().isEmpty() ? Sign.THOUGHT : Sign.WORDS);
                if (!partial.text().isEmpty()) {
                    reports.accept(new Report.Text(partial.text()));
                }
            }
            case Frame.Assistant assistant -> assistant(assistant);
            case Frame.User user -> user(user);
            case Frame.Result result -> result(result);
            case Frame.Notice notice -> notice(notice);
            case Frame.Other other -> other(other);
            case Frame.ControlRequest request -> {}
            case Frame.ControlResponse response -> {}
            case Frame.ControlCancel cancel -> {}
        }
    }

    private void state(Frame.State state) {
        announcesStates = true;
        if (state.resting()) {
            idle();
        } else if (!busy) {
            busy = true;
            repeated = "";
            reports.accept(new Report.Busy());
            if (landedSinceResult) {
                beats.seen(Sign.LANDED);
            }
        }
    }

    private void began() {
        repeated = "";
        if (!busy) {
            busy = true;
            reports.accept(new Report.Busy());
        }
        landed(onlyLine); // an older agent acknowledges it only behind its first words, too late for an interrupt
        onlyLine = "";
    }

    private void assistant(Frame.Assistant frame) {
        long now = clock.getAsLong();
        vigil.life(now);
        frame.toolUses().forEach(id -> vigil.toolBegan(id, now));
        beats.seen(frame.toolUses().isEmpty() ? Sign.WORDS : Sign.CALL);
        if (!frame.sidechain()) {
            answerId = frame.uuid();
            assistantError = frame.error();
        }
    }

    private void user(Frame.User frame) {
        long now = clock.getAsLong();
        if (frame.replay()) {
            landed(frame.uuid());
        } else {
            vigil.life(now);
        }
        frame.toolResults().forEach(id -> {
            vigil.toolEnded(id, now);
            beats.seen(Sign.CALL_ENDED);
        });
    }

    /** A line of ours that comes back while the agent rests was in its memory before; whether so, the next state tells. */
    private void landed(String uuid) {
        if (unacknowledged.remove(uuid) == null) {
            return;
        }
        landedSinceResult = true;
        if (busy || !announcesStates) {
            vigil.life(clock.getAsLong());
        } else {
            repeated = uuid;
        }
        reports.accept(new Report.Landed(DeliveryId.parse(uuid)));
        if (repeated.isEmpty()) {
            beats.seen(Sign.LANDED);
        }
    }

    private void idle() {
        if (!repeated.isEmpty()) {
            reports.accept(new Report.Noticed("deduplicated", repeated));
            repeated = "";
            landedSinceResult = false;
        }
        if (skippedLine && landedSinceResult) {
            report(unreadable());
        }
        rest();
    }

    private void rest() {
        busy = false;
        skippedLine = false; // it belonged to what is over
        vigil.quiet();
        if (!unacknowledged.isEmpty()) {
            vigil.told(clock.getAsLong());
        }
        reports.accept(new Report.Idle());
    }

    private static TurnResult unreadable() {
        return new TurnResult(
                TurnResult.Ending.FAILED,
                "",
                "the agent wrote a line over the limit, which was skipped",
                Usage.unknown(),
                List.of(),
                "",
                "",
                false);
    }

    private void result(Frame.Result frame) {
        OptionalLong micros = cost.turn(frame.raw().path("total_cost_usd"));
        boolean ofOthers = frame.origin().filter(kind -> !kind.equals("human")).isPresent();
        if (ofOthers && landedSinceResult) {
            reports.accept(new Report.Noticed("agent_started_turn", Connection.shortened(frame.text())));
            return;
        }
        TurnResult result = TurnEnd.of(frame, micros, answerId, assistantError);
        if (skippedLine) {
            report(failed(result, unreadable().reason()));
        } else {
            report(keptBack.isEmpty() ? result : failed(result, keptBack));
        }
        vigil.life(clock.getAsLong());
        if (!announcesStates) {
            rest();
        }
    }

    private static TurnResult failed(TurnResult result, String why) {
        return new TurnResult(
                TurnResult.Ending.FAILED,
                "",
                why,
                result.usage(),
                result.lines(),
                result.answerId(),
                result.requestId(),
                result.fatal());
    }

    private void report(TurnResult result) {
        answerId = "";
        assistantError = "";
        landedSinceResult = false;
        skippedLine = false;
        keptBack = "";
        if (result.ending() == TurnResult.Ending.ANSWERED) {
            beats.seen(Sign.ANSWER);
        }
        beats.turnOver();
        reports.accept(new Report.Result(result));
    }

    private void notice(Frame.Notice frame) {
        JsonNode raw = frame.raw();
        switch (frame.subtype()) {
            case "status", "hook_started", "hook_progress", "hook_response", "thinking_tokens" ->
                vigil.life(clock.getAsLong());
            case "api_retry" -> {
                vigil.life(clock.getAsLong());
                reports.accept(new Report.Noticed(
                        "api_retry",
                        "attempt " + raw.path("attempt").longValue(0) + " of "
                                + raw.path("max_retries").longValue(0) + ", status "
                                + raw.path("error_status").longValue(0) + " " + StreamJson.text(raw, "error")));
            }
            case "compact_boundary" -> {
                vigil.life(clock.getAsLong());
                reports.accept(
                        new Report.Noticed("compacted", StreamJson.text(raw.path("compact_metadata"), "trigger")));
            }
            case "session_writes_lost", "permission_denied", "model_fallback", "model_refusal_fallback" ->
                reports.accept(new Report.Noticed(frame.subtype(), Connection.shortened(raw.toString())));
            default -> {
                if (noticesTold.size() < Connection.TYPES_TOLD_MAX
                        && noticesTold.add(Connection.shortened(frame.subtype()))) {
                    reports.accept(
                            new Report.Noticed("system_" + frame.subtype(), Connection.shortened(raw.toString())));
                }
            }
        }
    }

    private void other(Frame.Other frame) {
        switch (frame.type()) {
            case "tool_progress" -> vigil.life(clock.getAsLong());
            case "rate_limit_event" ->
                reports.accept(new Report.Noticed(
                        "rate_limit", Connection.shortened(frame.raw().toString())));
            case "conversation_reset" ->
                reports.accept(new Report.Noticed(
                        "native_session_reset", Connection.shortened(frame.raw().toString())));
            default -> {}
        }
    }
}
