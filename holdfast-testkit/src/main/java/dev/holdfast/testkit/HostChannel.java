package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The agent's requests to its host over the same two pipes: in-process MCP servers and permission questions. The
 * reading thread brings answers, the turn thread waits for them. Safe for use by several threads.
 */
final class HostChannel {
    /** How a request to the host ended. */
    sealed interface Answer {
        record Given(Json response) implements Answer {}

        record Failed(String error) implements Answer {}

        /** The turn was aborted while the question was open. */
        record Aborted() implements Answer {}

        /** The host closed our stdin. */
        record Closed() implements Answer {}

        /** Nothing came in time. */
        record TooLate() implements Answer {}
    }

    /** A request that is on its way. */
    static final class Open {
        private final String requestId;
        private final String subtype;
        private final String server;
        private final long rpcId;
        private final Json request;
        private Answer answer = new Answer.TooLate();
        private boolean answered;

        Open(String requestId, String subtype, String server, long rpcId, Json request) {
            this.requestId = requestId;
            this.subtype = subtype;
            this.server = server;
            this.rpcId = rpcId;
            this.request = request;
        }
    }

    private final AgentMachine machine;
    private final AgentOutput output;
    private final AgentProfile profile;
    private final Map<String, Open> open = new HashMap<>();
    private boolean closed;
    private long nextRpcId = 2;

    HostChannel(AgentMachine machine, AgentOutput output, AgentProfile profile) {
        this.machine = machine;
        this.output = output;
        this.profile = profile;
    }

    /** Sends a request and does not wait. */
    Open send(Json.Obj request) {
        Json message = request.at("message");
        Open sent = new Open(
                machine.uuid(),
                request.text("subtype", ""),
                request.text("server_name", ""),
                message.number("id", -1),
                request);
        synchronized (this) {
            if (closed) {
                sent.answered = true;
                sent.answer = new Answer.Closed();
                return sent;
            }
            open.put(sent.requestId, sent);
        }
        output.frame(frame(sent));
        return sent;
    }

    private static Json frame(Open sent) {
        return Json.object()
                .with("type", "control_request")
                .with("request_id", sent.requestId)
                .with("request", sent.request);
    }

    /** The permission questions that wait for the host, as they were sent. */
    synchronized Json pendingPermissions() {
        Json.Arr all = Json.array();
        for (Open sent : open.values()) {
            if (sent.subtype.equals("can_use_tool") && !sent.answered) {
                all.add(frame(sent));
            }
        }
        return all;
    }

    /** Tells the host that a request's answer is not wanted any more. */
    void withdraw(Open sent) {
        output.frame(Json.object().with("type", "control_cancel_request").with("request_id", sent.requestId));
    }

    synchronized Answer await(Open sent, long millis) {
        long deadline = machine.millis() + millis;
        while (!sent.answered) {
            long left = deadline - machine.millis();
            if (left <= 0) {
                break;
            }
            machine.await(this, left);
        }
        open.remove(sent.requestId);
        return sent.answer;
    }

    Json.Obj mcp(String server, Json message) {
        return Json.object()
                .with("subtype", "mcp_message")
                .with("server_name", server)
                .with("message", message);
    }

    synchronized long nextRpcId() {
        return nextRpcId++;
    }

    Json.Obj initialize() {
        Json params = Json.object()
                .with("protocolVersion", "2025-11-25")
                .with("capabilities", Json.object())
                .with(
                        "clientInfo",
                        Json.object()
                                .with("name", "claude-code")
                                .with("title", "Claude Code")
                                .with("version", profile.version()));
        return rpc("initialize").with("params", params).with("id", 0);
    }

    Json.Obj rpc(String method) {
        return Json.object().with("method", method).with("jsonrpc", "2.0");
    }

    /** The host's answer to a request of ours; one we do not know, or know no more, is ignored. */
    synchronized void answered(Json response) {
        Open sent = open.get(response.text("request_id", ""));
        if (sent == null) {
            return;
        }
        boolean success = response.text("subtype", "").equals("success");
        end(sent, success ? new Answer.Given(response.at("response")) : new Answer.Failed(response.text("error", "")));
    }

    /**
     * Withdraws every open question of the running turn: tells the host, then does what belongs in between, then wakes
     * whoever waits for an answer.
     */
    void abort(Runnable between) {
        List<Open> withdrawn = new ArrayList<>();
        synchronized (this) {
            for (Open sent : open.values()) {
                boolean ofTurn = sent.server.isEmpty() || sent.rpcId > 1;
                if (!sent.answered && ofTurn) {
                    withdrawn.add(sent);
                }
            }
        }
        for (Open sent : withdrawn) {
            if (sent.server.isEmpty()) {
                withdraw(sent);
            } else {
                Json cancelled = Json.object()
                        .with("jsonrpc", "2.0")
                        .with("method", "notifications/cancelled")
                        .with(
                                "params",
                                Json.object()
                                        .with("requestId", sent.rpcId)
                                        .with("reason", "AbortError: remote-cancel"));
                send(mcp(sent.server, cancelled));
            }
        }
        between.run();
        synchronized (this) {
            for (Open sent : withdrawn) {
                end(sent, new Answer.Aborted());
            }
        }
    }

    /** The host closed our stdin: nothing will be answered any more. */
    synchronized void close() {
        closed = true;
        for (Open sent : List.copyOf(open.values())) {
            end(sent, new Answer.Closed());
        }
    }

    private synchronized void end(Open sent, Answer answer) {
        if (!sent.answered) {
            sent.answered = true;
            sent.answer = answer;
        }
        notifyAll();
    }
}
