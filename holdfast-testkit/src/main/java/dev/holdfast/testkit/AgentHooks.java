package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The host's hooks, as its last greeting registered them. An answer in time counts as far as its words are known; an error
 * lets the work go on unless the hook was registered to block; silence is withdrawn and refuses. The reading thread
 * registers, the turn thread asks.
 */
final class AgentHooks {
    /** What all hooks of an event said together. */
    record Verdict(String decision, String reason, Json input, String context, boolean unanswered) {
        boolean is(String wanted) {
            return decision.equals(wanted);
        }
    }

    private record Hook(String event, String matcher, String callbackId, long millis, boolean blocks) {}

    private static final long UNLIMITED = 600;

    private final AgentParts parts;
    private volatile List<Hook> hooks = List.of();

    AgentHooks(AgentParts parts) {
        this.parts = parts;
    }

    /** Forgets what was registered before. */
    void register(Json events) {
        List<Hook> all = new ArrayList<>();
        if (events instanceof Json.Obj named) {
            for (Map.Entry<String, Json> event : named.members().entrySet()) {
                for (Json entry : event.getValue().list()) {
                    for (Json id : entry.at("hookCallbackIds").list()) {
                        all.add(new Hook(
                                event.getKey(),
                                entry.text("matcher", ""),
                                id.asText(),
                                entry.number("timeout", UNLIMITED) * 1_000,
                                entry.text("onFailure", "continue").equals("block")));
                    }
                }
            }
        }
        hooks = List.copyOf(all);
    }

    /** Asks the hooks of an event; {@code tool} and {@code callId} are empty where there is none. */
    Verdict ask(String event, String tool, String callId, Json.Obj input) {
        Verdict all = new Verdict("", "", Json.Nil.NIL, "", false);
        for (Hook hook : hooks) {
            boolean meant = hook.event().equals(event) && (hook.matcher().isEmpty() || tool.matches(hook.matcher()));
            if (meant && !all.is("deny") && !all.is("block")) {
                all = ask(hook, callId, input, all);
            }
        }
        return all;
    }

    private Verdict ask(Hook hook, String callId, Json.Obj input, Verdict before) {
        input.with("hook_event_name", hook.event())
                .with("session_id", parts.sessionId())
                .with("cwd", parts.machine.workingDirectory())
                .with("permission_mode", "default");
        Json.Obj request = Json.object()
                .with("subtype", "hook_callback")
                .with("callback_id", hook.callbackId())
                .with("input", input);
        HostChannel.Open asked = parts.host.send(callId.isEmpty() ? request : request.with("tool_use_id", callId));
        return switch (parts.host.await(asked, hook.millis())) {
            case HostChannel.Answer.Given given -> read(given.response(), before);
            case HostChannel.Answer.Failed failed -> hook.blocks() ? refused(failed.error()) : before;
            case HostChannel.Answer.TooLate late -> {
                parts.host.withdraw(asked);
                yield refused("the hook did not answer in time");
            }
            case HostChannel.Answer.Closed closed -> refused("the hook did not answer");
            case HostChannel.Answer.Aborted aborted -> refused(ToolRound.REJECTED);
        };
    }

    private static Verdict refused(String why) {
        return new Verdict("deny", why, Json.Nil.NIL, "", true);
    }

    private static Verdict read(Json answer, Verdict before) {
        Json specific = answer.at("hookSpecificOutput");
        String decision = specific.text("permissionDecision", answer.text("decision", before.decision()));
        Json changed = specific.at("updatedInput");
        String context = specific.text("additionalContext", "");
        return new Verdict(
                decision,
                specific.text("permissionDecisionReason", answer.text("reason", "")),
                changed.isNil() ? before.input() : changed,
                before.context() + context,
                false);
    }
}
