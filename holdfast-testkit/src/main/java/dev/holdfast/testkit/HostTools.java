package dev.holdfast.testkit;

import dev.holdfast.testkit.HostChannel.Answer;
import java.util.ArrayList;
import java.util.List;

/** The tools of this process: the built-in ones that were asked for, and what the host's servers list. */
final class HostTools {
    private final AgentParts parts;

    HostTools(AgentParts parts) {
        this.parts = parts;
    }

    /** Asks every server of the host, waiting for its answers, and fixes the list. Once, at the start. */
    void introduce() {
        List<String> names = new ArrayList<>(builtIns());
        Json.Arr status = Json.array();
        for (String server : parts.flags.hostServers()) {
            List<String> listed = new ArrayList<>();
            boolean connected = introduce(server, listed);
            if (connected
                    && !(parts.has(AgentQuirk.DISALLOW_ALL_HITS_MCP)
                            && parts.flags.disallowed().contains("*"))) {
                names.addAll(listed);
            }
            Json.Obj one = Json.object().with("name", server).with("status", connected ? "connected" : "failed");
            status.add(parts.has(AgentQuirk.LIFECYCLE) ? one.with("source", "sdk") : one);
        }
        names.removeAll(parts.flags.disallowed());
        names.addAll(parts.profile.extraTools());
        names.removeAll(parts.profile.hiddenTools());
        parts.tools(names, status);
    }

    private List<String> builtIns() {
        if (parts.flags.disallowed().contains("*")) {
            return List.of();
        }
        if (!parts.flags.has("--tools")) {
            return AgentFrames.BUILT_INS;
        }
        List<String> wanted = parts.flags.names("--tools");
        return wanted.contains("default") ? AgentFrames.BUILT_INS : wanted;
    }

    private boolean introduce(String server, List<String> listed) {
        String limit = parts.machine.variable("MCP_TIMEOUT");
        long millis = limit.isEmpty() ? 30_000 : Long.parseLong(limit);
        HostChannel host = parts.host;
        HostChannel.Open first = host.send(host.mcp(server, host.initialize()));
        boolean twice = handshakeAgain(server, millis);
        Answer answer = goOn(server, first, millis);
        if (!twice) {
            handshakeAgain(server, millis);
        }
        return answer instanceof Answer.Given given && list(server, given, listed);
    }

    private boolean handshakeAgain(String server, long millis) {
        boolean again = parts.has(AgentQuirk.HANDSHAKE_TWICE) && parts.inbox.hasWaiting();
        if (again) {
            goOn(server, parts.host.send(parts.host.mcp(server, parts.host.initialize())), millis);
        }
        return again;
    }

    private Answer goOn(String server, HostChannel.Open initialize, long millis) {
        HostChannel host = parts.host;
        Answer initialized = host.await(initialize, millis);
        if (!(initialized instanceof Answer.Given)) {
            return initialized;
        }
        host.await(host.send(host.mcp(server, host.rpc("notifications/initialized"))), millis);
        return host.await(host.send(host.mcp(server, host.rpc("tools/list").with("id", 1))), millis);
    }

    private static boolean list(String server, Answer.Given given, List<String> listed) {
        Json tools = given.response().at("mcp_response").at("result").at("tools");
        for (Json tool : tools.list()) {
            listed.add("mcp__" + server + "__" + tool.text("name", ""));
        }
        return !tools.isNil();
    }
}
