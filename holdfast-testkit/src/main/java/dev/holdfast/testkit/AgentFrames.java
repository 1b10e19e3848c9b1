package dev.holdfast.testkit;

import java.util.List;

/** The shapes of the frames that the agent prints. Stateless apart from what a session fixes; safe for any thread. */
final class AgentFrames {
    static final List<String> BUILT_INS = List.of(
            "Task",
            "AskUserQuestion",
            "Bash",
            "CronCreate",
            "CronDelete",
            "CronList",
            "Edit",
            "EnterPlanMode",
            "ExitPlanMode",
            "NotebookEdit",
            "Read",
            "SendMessage",
            "Skill",
            "TaskOutput",
            "TaskStop",
            "WebFetch",
            "WebSearch",
            "Write");

    private final AgentMachine machine;
    private final AgentProfile profile;
    private final AgentFlags flags;

    AgentFrames(AgentMachine machine, AgentProfile profile, AgentFlags flags) {
        this.machine = machine;
        this.profile = profile;
        this.flags = flags;
    }

    Json.Obj system(String subtype, String sessionId) {
        return Json.object()
                .with("type", "system")
                .with("subtype", subtype)
                .with("uuid", machine.uuid())
                .with("session_id", sessionId);
    }

    Json.Obj state(String state, String sessionId) {
        return Json.object()
                .with("type", "system")
                .with("subtype", "session_state_changed")
                .with("state", state)
                .with("uuid", machine.uuid())
                .with("session_id", sessionId);
    }

    Json.Obj lifecycle(String commandUuid, String state, String sessionId) {
        return Json.object()
                .with("type", "command_lifecycle")
                .with("command_uuid", commandUuid)
                .with("state", state)
                .with("uuid", machine.uuid())
                .with("session_id", sessionId);
    }

    Json.Obj init(String sessionId, String model, List<String> tools, Json servers, List<String> uuids) {
        String workingDirectory = machine.workingDirectory();
        Json.Obj frame = Json.object()
                .with("type", "system")
                .with("subtype", "init")
                .with("cwd", workingDirectory)
                .with("session_id", sessionId)
                .with("tools", Json.texts(tools))
                .with("mcp_servers", servers)
                .with("model", model)
                .with("permissionMode", flags.value("--permission-mode", "default"))
                .with("slash_commands", Json.texts(List.of("clear", "compact", "context", "cost")))
                .with("apiKeySource", "ANTHROPIC_API_KEY")
                .with("claude_code_version", profile.version())
                .with("output_style", "default")
                .with("agents", Json.texts(List.of("claude", "general-purpose")))
                .with("skills", Json.array())
                .with("plugins", Json.array());
        if (profile.has(AgentQuirk.CAPABILITIES)) {
            frame.with(
                    "capabilities",
                    Json.texts(List.of(
                            "interrupt_receipt_v1",
                            "interrupt_cancel_queued_v1",
                            "msg_lifecycle_v1",
                            "sdk_mcp_tools_list_changed")));
        }
        frame.with("uuid", machine.uuid()).with("fast_mode_state", "off");
        if (profile.has(AgentQuirk.LIFECYCLE)) {
            frame.with("user_message_uuids", Json.texts(uuids));
        }
        return frame;
    }

    Json.Obj replay(String uuid, Json content, String sessionId) {
        return Json.object()
                .with("type", "user")
                .with("message", Json.object().with("role", "user").with("content", content))
                .with("session_id", sessionId)
                .with("parent_tool_use_id", Json.Nil.NIL)
                .with("uuid", uuid)
                .with("timestamp", machine.now())
                .with("isReplay", true);
    }

    Json.Obj user(String uuid, Json content, String sessionId) {
        return Json.object()
                .with("type", "user")
                .with("message", Json.object().with("role", "user").with("content", content))
                .with("parent_tool_use_id", Json.Nil.NIL)
                .with("session_id", sessionId)
                .with("uuid", uuid)
                .with("timestamp", machine.now());
    }

    Json.Obj assistant(String uuid, Json message, String sessionId) {
        return Json.object()
                .with("type", "assistant")
                .with("message", message)
                .with("parent_tool_use_id", Json.Nil.NIL)
                .with("session_id", sessionId)
                .with("uuid", uuid);
    }

    Json.Obj stream(Json event, String sessionId) {
        return Json.object()
                .with("type", "stream_event")
                .with("event", event)
                .with("session_id", sessionId)
                .with("parent_tool_use_id", Json.Nil.NIL)
                .with("uuid", machine.uuid());
    }

    static Json.Obj usage(long input, long output) {
        return Json.object()
                .with("input_tokens", input)
                .with("cache_creation_input_tokens", 0)
                .with("cache_read_input_tokens", 0)
                .with("output_tokens", output)
                .with(
                        "server_tool_use",
                        Json.object().with("web_search_requests", 0).with("web_fetch_requests", 0))
                .with("service_tier", "standard")
                .with(
                        "cache_creation",
                        Json.object().with("ephemeral_1h_input_tokens", 0).with("ephemeral_5m_input_tokens", 0));
    }

    /** An assistant message as it streams: the stop reason is not known yet. */
    Json.Obj message(String id, String model, Json content, Json stopReason, Json usage) {
        return Json.object()
                .with("id", id)
                .with("type", "message")
                .with("role", "assistant")
                .with("model", model)
                .with("content", content)
                .with("stop_reason", stopReason)
                .with("stop_sequence", Json.Nil.NIL)
                .with("usage", usage);
    }

    Json.Obj controlSuccess(String requestId, Json response) {
        Json.Obj body = Json.object().with("subtype", "success").with("request_id", requestId);
        if (!response.isNil()) {
            body.with("response", response);
        }
        return Json.object().with("type", "control_response").with("response", body);
    }

    Json.Obj controlError(String requestId, String error) {
        Json.Obj body = Json.object()
                .with("subtype", "error")
                .with("request_id", requestId)
                .with("error", error);
        return Json.object().with("type", "control_response").with("response", body);
    }
}
