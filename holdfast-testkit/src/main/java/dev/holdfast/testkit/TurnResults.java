package dev.holdfast.testkit;

import java.util.List;

/** The result frames of turns, by how a turn ended. Prints them, on the turn thread. */
final class TurnResults {
    private final AgentParts parts;

    TurnResults(AgentParts parts) {
        this.parts = parts;
    }

    /** For a message that called no model. */
    void plain(Turn turn, String text) {
        Json.Obj frame = base("success", false, 0).with("result", text).with("stop_reason", Json.Nil.NIL);
        print(turn, complete(turn, frame));
    }

    void success(Turn turn) {
        print(turn, complete(turn, answered(turn, false, turn.text, "completed")));
    }

    void apiError(Turn turn) {
        String reason = parts.has(AgentQuirk.API_ERROR_REASON) ? "api_error" : "completed";
        Json.Obj frame = answered(turn, true, turn.apiError, reason);
        print(turn, complete(turn, frame.with("api_error_status", turn.apiStatus)));
    }

    /** Another message took this turn's place: not an error in this agent's eyes. */
    void replaced(Turn turn, String reason) {
        print(turn, complete(turn, answered(turn, false, turn.text, reason)));
    }

    void interrupted(Turn turn, String reason, int extra) {
        Json.Obj frame = base("error_during_execution", true, 1 + extra)
                .with("stop_reason", turn.stopReason.isEmpty() ? Json.Nil.NIL : new Json.Str(turn.stopReason))
                .with("terminal_reason", reason)
                .with("errors", Json.texts(List.of("[ede_diagnostic] result_type=user last_content_type=n/a")));
        print(turn, complete(turn, frame));
    }

    void maxTurns(Turn turn, long limit) {
        Json.Obj frame = base("error_max_turns", true, turn.modelCalls + 1)
                .with("stop_reason", turn.stopReason)
                .with("terminal_reason", "max_turns")
                .with("errors", Json.texts(List.of("Reached maximum number of turns (" + limit + ")")));
        print(turn, complete(turn, frame));
    }

    void overBudget(Turn turn) {
        Json.Obj frame = base("error_max_budget_usd", true, turn.modelCalls)
                .with("stop_reason", Json.Nil.NIL)
                .with("terminal_reason", "budget_exhausted")
                .with("errors", Json.texts(List.of("Reached maximum budget")));
        print(turn, complete(turn, frame));
    }

    private Json.Obj base(String subtype, boolean isError, int numTurns) {
        return Json.object()
                .with("type", "result")
                .with("subtype", subtype)
                .with("is_error", isError)
                .with("duration_ms", 1)
                .with("duration_api_ms", 1)
                .with("num_turns", numTurns);
    }

    private Json.Obj answered(Turn turn, boolean isError, String text, String reason) {
        return base("success", isError, Math.max(1, turn.modelCalls))
                .with("api_error_status", Json.Nil.NIL)
                .with("result", text)
                .with("stop_reason", turn.stopReason.isEmpty() ? Json.Nil.NIL : new Json.Str(turn.stopReason))
                .with("terminal_reason", reason);
    }

    private Json.Obj complete(Turn turn, Json.Obj frame) {
        frame.with("session_id", parts.sessionId())
                .with("total_cost_usd", parts.ledger.total())
                .with("usage", AgentFrames.usage(turn.inputTokens, turn.outputTokens))
                .with("modelUsage", parts.ledger.modelUsage(parts.model()))
                .with("permission_denials", turn.denials)
                .with("fast_mode_state", "off")
                .with("uuid", parts.machine.uuid());
        if (parts.has(AgentQuirk.LIFECYCLE)) {
            List<String> uuids = new java.util.ArrayList<>(turn.uuids);
            uuids.addAll(turn.folded);
            if (uuids.isEmpty()) {
                frame.with("origin", Json.object().with("kind", "task-notification"));
            } else {
                frame.with("user_message_uuid", uuids.getLast()).with("user_message_uuids", Json.texts(uuids));
            }
            frame.with("queued_turn_count", 0).with("result_index", parts.ledger.nextResult());
        }
        return frame;
    }

    private void print(Turn turn, Json.Obj frame) {
        if (!parts.has(AgentQuirk.LATE_RECORD)) {
            parts.record().flush();
        }
        parts.faults.pointReached("before-result", turn);
        parts.end();
        if (turn.noResult) {
            return;
        }
        if (turn.resultDelay > 0) {
            parts.machine.pause(turn.resultDelay);
        }
        parts.output.frame(frame);
        if (turn.duplicateResult) {
            parts.output.frame(frame);
        }
        parts.faults.pointReached("result", turn);
    }
}
