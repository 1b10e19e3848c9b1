package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * The tool calls of one model message: permission, execution, results. They run one behind the other, as the real
 * agent runs tools that may have side effects. Used by the turn thread.
 */
final class ToolRound {
    static final String REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg."
            + " if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait"
            + " for the user to tell you how to proceed.";

    private static final long FOREVER = Long.MAX_VALUE / 4;

    private record Outcome(Json content, boolean error) {
        static Outcome failed(String text) {
            return new Outcome(new Json.Str(text), true);
        }
    }

    private final AgentParts parts;
    private final Turn turn;

    ToolRound(AgentParts parts, Turn turn) {
        this.parts = parts;
        this.turn = turn;
    }

    void run(Iterable<ModelCall.Call> calls) {
        for (ModelCall.Call call : calls) {
            turn.toolCalls++;
            Outcome outcome = turn.isAborted() ? Outcome.failed(REJECTED) : hooked(call);
            if (turn.isAborted()) {
                outcome = Outcome.failed(REJECTED);
            }
            tell(call, outcome);
        }
    }

    private void tell(ModelCall.Call call, Outcome outcome) {
        Json.Obj block = Json.object()
                .with("tool_use_id", call.id())
                .with("type", "tool_result")
                .with("content", outcome.content());
        if (outcome.error()) {
            block.with("is_error", true);
        }
        Json content = Json.array().add(block);
        String uuid = parts.machine.uuid();
        parts.memory().result(uuid, content);
        Json told = outcome.error() ? new Json.Str("Error: " + outcome.content().asText()) : outcome.content();
        parts.output.frame(parts.frames.user(uuid, content, parts.sessionId()).with("tool_use_result", told));
    }

    private Outcome decide(ModelCall.Call call) {
        if (!parts.tools().contains(call.tool())) {
            String known = AgentFrames.BUILT_INS.contains(call.tool())
                    ? " " + call.tool() + " exists but is not enabled in this context. Use one of the available tools"
                            + " instead."
                    : "";
            return Outcome.failed("<tool_use_error>Error: No such tool available: " + call.tool() + "." + known
                    + "</tool_use_error>");
        }
        AgentHooks.Verdict hook = parts.hooks.ask("PreToolUse", call.tool(), call.id(), input(call));
        if (hook.is("deny") || hook.is("block")) {
            return hook.unanswered() ? Outcome.failed(hook.reason()) : denied(call, hook.reason());
        }
        ModelCall.Call made = hook.input().isNil()
                ? call
                : new ModelCall.Call(call.id(), call.tool(), hook.input(), call.entryUuid());
        if (hook.is("allow") || (parts.flags.allows(call.tool()) && !hook.is("ask"))) {
            return execute(made, made.input());
        }
        return permitted(made);
    }

    private static Json.Obj input(ModelCall.Call call) {
        return Json.object().with("tool_name", call.tool()).with("tool_input", call.input());
    }

    /** What a call comes to, with what the hooks say about it. */
    private Outcome hooked(ModelCall.Call call) {
        Outcome outcome = decide(call);
        if (outcome.error()) {
            return outcome;
        }
        AgentHooks.Verdict after = parts.hooks.ask(
                "PostToolUse", call.tool(), call.id(), input(call).with("tool_response", outcome.content()));
        String said = after.is("block") ? after.reason() : after.context();
        return said.isEmpty()
                ? outcome
                : new Outcome(new Json.Str(outcome.content().asText() + "\n" + said), false);
    }

    private Outcome permitted(ModelCall.Call call) {
        if (!parts.flags.asksTheHost()) {
            String why = "Claude requested permissions to use " + call.tool() + ", but you haven't granted it yet.";
            if (parts.has(AgentQuirk.DENIAL_FRAMES)) {
                parts.output.frame(parts.frames
                        .system("permission_denied", parts.sessionId())
                        .with("tool_name", call.tool())
                        .with("tool_use_id", call.id())
                        .with("message", why));
            }
            return denied(call, why);
        }
        return ask(call);
    }

    private Outcome denied(ModelCall.Call call, String why) {
        turn.denials.add(Json.object()
                .with("tool_name", call.tool())
                .with("tool_use_id", call.id())
                .with("tool_input", call.input()));
        return Outcome.failed(why);
    }

    private Outcome ask(ModelCall.Call call) {
        parts.state("requires_action");
        Json rule = Json.object()
                .with("type", "addRules")
                .with("rules", Json.array().add(Json.object().with("toolName", call.tool())))
                .with("behavior", "allow")
                .with("destination", "localSettings");
        HostChannel.Open asked = parts.host.send(Json.object()
                .with("subtype", "can_use_tool")
                .with("tool_name", call.tool())
                .with("display_name", call.tool().substring(call.tool().lastIndexOf('_') + 1))
                .with("input", call.input())
                .with("permission_suggestions", Json.array().add(rule))
                .with("tool_use_id", call.id()));
        HostChannel.Answer answer = parts.host.await(asked, FOREVER);
        parts.state("running");
        return switch (answer) {
            case HostChannel.Answer.Given given -> obey(call, given.response());
            case HostChannel.Answer.Failed failed -> denied(call, "Tool permission request failed: " + failed.error());
            case HostChannel.Answer.Closed closed ->
                denied(
                        call,
                        "Tool permission request failed: Error: Tool permission stream closed before response received");
            case HostChannel.Answer.Aborted aborted -> denied(call, REJECTED);
            case HostChannel.Answer.TooLate late -> denied(call, REJECTED);
        };
    }

    private Outcome obey(ModelCall.Call call, Json verdict) {
        if (verdict.text("behavior", "").equals("allow")) {
            Json changed = verdict.at("updatedInput");
            return execute(call, changed.isNil() ? call.input() : changed);
        }
        Outcome denied = denied(call, verdict.text("message", "denied"));
        if (verdict.isTrue("interrupt")) {
            turn.abort();
        }
        return denied;
    }

    private Outcome execute(ModelCall.Call call, Json input) {
        if (call.tool().startsWith("mcp__")) {
            return callHost(call, input);
        }
        if (!call.tool().equals("Bash")) {
            return new Outcome(new Json.Str("done"), false);
        }
        try {
            return new Outcome(new Json.Str(parts.machine.shell(input.text("command", "true"))), false);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot run a shell", e);
        }
    }

    private Outcome callHost(ModelCall.Call call, Json input) {
        int behindServer = call.tool().indexOf("__", 5);
        String server = call.tool().substring(5, behindServer);
        long rpcId = parts.host.nextRpcId();
        Json params = Json.object()
                .with("name", call.tool().substring(behindServer + 2))
                .with("arguments", input)
                .with(
                        "_meta",
                        Json.object().with("claudecode/toolUseId", call.id()).with("progressToken", rpcId));
        Json message = Json.object()
                .with("method", "tools/call")
                .with("params", params)
                .with("jsonrpc", "2.0")
                .with("id", rpcId);
        HostChannel.Open sent = parts.host.send(parts.host.mcp(server, message));
        parts.faults.pointReached("tool-call", turn);
        String limit = parts.machine.variable("MCP_TOOL_TIMEOUT");
        return switch (parts.host.await(sent, limit.isEmpty() ? FOREVER : Long.parseLong(limit))) {
            case HostChannel.Answer.Given given -> outcome(given.response().at("mcp_response"));
            case HostChannel.Answer.Failed failed -> Outcome.failed(failed.error());
            case HostChannel.Answer.Closed closed ->
                Outcome.failed(
                        parts.has(AgentQuirk.REMINDERS)
                                ? "The tool call was interrupted before a result was received. It may or may not have"
                                        + " completed on the server — verify before assuming it succeeded, and retry"
                                        + " if needed."
                                : "Tool permission stream closed before response received");
            case HostChannel.Answer.Aborted aborted -> Outcome.failed(REJECTED);
            case HostChannel.Answer.TooLate late ->
                Outcome.failed("MCP server \"" + server + "\" tool \"" + params.text("name", "") + "\" timed out");
        };
    }

    private static Outcome outcome(Json rpc) {
        if (rpc.at("error") instanceof Json.Obj error) {
            return Outcome.failed("MCP error " + error.number("code", 0) + ": " + error.text("message", ""));
        }
        Json result = rpc.at("result");
        if (result.isTrue("isError")) {
            StringBuilder text = new StringBuilder();
            for (Json part : result.at("content").list()) {
                text.append(text.isEmpty() ? "" : "\n").append(part.text("text", ""));
            }
            return Outcome.failed(text.toString());
        }
        if (result.at("structuredContent") instanceof Json.Obj structured) {
            return new Outcome(new Json.Str(structured.write()), false);
        }
        return new Outcome(result.at("content"), false);
    }
}
