package dev.holdfast.claude;

import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import tools.jackson.databind.JsonNode;

/** Held sessions over agents, threads and time in a test's hand. Everything that is due runs before a method returns. */
final class HeldRig implements AutoCloseable {
    static final ToolSpec ECHO = new ToolSpec("echo", "again", "{\"type\":\"object\"}");

    final FakeAgents agents = new FakeAgents();
    final ManualBackground background = new ManualBackground();
    final List<HeldEvent> events = new ArrayList<>();
    final List<SessionHandle> heard = new ArrayList<>();
    final HeldSessions sessions;
    long memory = 1_000;
    private final HeldDirectory directory;

    HeldRig(Path home) {
        this(home, options -> options);
    }

    HeldRig(Path home, UnaryOperator<HeldOptions> change) {
        directory = HeldDirectory.open(home.resolve("held"));
        HeldOptions options = HeldOptions.in(home.resolve("held"))
                .environment(Map.of("HOME", home.toString()))
                .executor(Runnable::run)
                .listener((handle, event) -> {
                    heard.add(handle);
                    events.add(event);
                });
        sessions = HeldSessions.open(
                change.apply(options), directory, agents, background, pid -> OptionalLong.of(memory), () -> {});
        background.work();
    }

    static ClaudeCodeAgent agent() {
        return ClaudeCode.agent().binary(Path.of("/bin/sh")).inference("http://127.0.0.1:1", "sk-fake");
    }

    /** Asks for a turn and lets everything happen that needs no agent. */
    HeldTurn ask(SessionHandle handle, TurnRequest request) {
        return ask(handle, agent(), request);
    }

    HeldTurn ask(SessionHandle handle, ClaudeCodeAgent agent, TurnRequest request) {
        HeldTurn turn = sessions.start(handle, agent, request);
        background.work();
        return turn;
    }

    HeldTurn ask(SessionHandle handle, String text) {
        return ask(handle, TurnRequest.of(text));
    }

    /** The newest agent. */
    FakeAgents.Fake agent(int index) {
        return agents.started.get(index);
    }

    /** Lets a started agent become ready with these tools. */
    void ready(FakeAgents.Fake agent, String... tools) {
        agent.greets();
        background.work();
        agent.state("running");
        if (tools.length == 0) {
            agent.says("{'type':'system','subtype':'init','session_id':'native','claude_code_version':'9.9.9',"
                    + "'tools':[],'mcp_servers':[{'name':'host'}],'skills':[],'plugins':[]}");
        } else {
            agent.init(tools);
        }
        agent.probeResult("0.5");
        agent.state("idle");
        background.work();
    }

    /** A turn that begins: the agent has taken the newest line. */
    void begins(FakeAgents.Fake agent) {
        String uuid = agent.lastUuid();
        agent.state("running");
        agent.replays(uuid);
    }

    /** Answers the newest line and rests. */
    void answers(FakeAgents.Fake agent, String text) {
        begins(agent);
        ends(agent, text);
    }

    void ends(FakeAgents.Fake agent, String text) {
        agent.answers("a-" + text, text);
        agent.result(text, "0.7");
        agent.state("idle");
        background.work();
    }

    /** Lets a stopped agent end. */
    void exits(FakeAgents.Fake agent) {
        agent.exits("exit code 0", "");
        background.work();
    }

    void advance(Duration by) {
        background.advance(by);
        background.work();
    }

    List<String> userLines(FakeAgents.Fake agent) {
        return agent.ofType("user").stream()
                .filter(line -> !line.has("shouldQuery"))
                .map(line ->
                        StreamJson.text(line.path("message").path("content").get(0), "text"))
                .toList();
    }

    Optional<JsonNode> asked(FakeAgents.Fake agent, String subtype) {
        return agent.ofType("control_request").stream()
                .filter(line -> StreamJson.text(line.path("request"), "subtype").equals(subtype))
                .reduce((a, b) -> b);
    }

    void grants(FakeAgents.Fake agent, String subtype, String response) {
        String id = StreamJson.text(asked(agent, subtype).orElseThrow(), "request_id");
        agent.says("{'type':'control_response','response':{'subtype':'success','request_id':'" + id + "','response':"
                + response + "}}");
        background.work();
    }

    <T extends HeldEvent> List<T> events(Class<T> type) {
        return events.stream().filter(type::isInstance).map(type::cast).toList();
    }

    static ToolExecutor echoing() {
        return (tool, call) -> ToolAnswer.text("echo of " + call.input());
    }

    static <T> T now(java.util.concurrent.CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().getNow(null);
        } catch (java.util.concurrent.CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }

    @Override
    public void close() {
        directory.close();
    }
}
