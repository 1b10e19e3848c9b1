package dev.holdfast.testkit;

import static org.awaitility.Awaitility.await;

import dev.holdfast.testkit.RealCliComparisonTest.Case;
import dev.holdfast.testkit.RealCliComparisonTest.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What a host does with an agent, in the orders that matter; each script gives what could be seen. */
final class ComparisonScripts {
    private static final String CALL = "[[tool mcp__host__slow {\"text\":\"x\"}]]";

    private ComparisonScripts() {}

    static List<Case> all() {
        List<Case> all = new ArrayList<>();
        add(all, "plainTurnWithPartials", ComparisonScripts::plain);
        add(all, "toolCall", ComparisonScripts::toolCall);
        add(all, "coalescedMessages", ComparisonScripts::coalesced);
        add(all, "messagesWrittenTogether", ComparisonScripts::together);
        add(all, "foldedMessages", ComparisonScripts::folded);
        add(all, "foldedMessageResent", ComparisonScripts::foldedResent);
        add(all, "coalescedMessageResent", ComparisonScripts::coalescedResent);
        add(all, "interruptInMidAnswer", ComparisonScripts::interruptMidAnswer);
        add(all, "interruptBeforeTheFirstToken", ComparisonScripts::interruptBeforeToken);
        add(all, "interruptDuringTool", ComparisonScripts::interruptTool);
        add(all, "interruptBehindAResult", ComparisonScripts::interruptBehindResult);
        add(all, "interruptWhileIdle", ComparisonScripts::interruptIdle);
        add(all, "priorityNow", ComparisonScripts::priorityNow);
        add(all, "priorityLater", ComparisonScripts::priorityLater);
        add(all, "sameUuidAgain", ComparisonScripts::sameUuid);
        add(all, "sameUuidWhileQueued", ComparisonScripts::sameUuidQueued);
        add(all, "crashInMidAnswer", ComparisonScripts::crashMidAnswer);
        add(all, "crashDuringTool", ComparisonScripts::crashTool);
        add(all, "killAtResult", ComparisonScripts::killAtResult);
        add(all, "terminateAtResult", ComparisonScripts::terminateAtResult);
        add(all, "terminateInMidAnswer", ComparisonScripts::terminateMidAnswer);
        add(all, "endOfInputInMidAnswer", ComparisonScripts::endOfInput);
        add(all, "endOfInputDuringTool", ComparisonScripts::endOfInputTool);
        add(all, "apiError", ComparisonScripts::apiError);
        add(all, "apiErrorResent", ComparisonScripts::apiErrorResent);
        add(all, "apiRetry", ComparisonScripts::apiRetry);
        add(all, "maxTurns", ComparisonScripts::maxTurns);
        add(all, "permissionAllowed", host -> permission(host, true));
        add(all, "permissionDenied", host -> permission(host, false));
        add(all, "permissionWithoutSurface", ComparisonScripts::noSurface);
        add(all, "interruptWhileAsked", ComparisonScripts::interruptAsked);
        add(all, "unknownTool", ComparisonScripts::unknownTool);
        add(all, "failingTool", ComparisonScripts::failingTool);
        add(all, "firstTurnKilledAtInit", ComparisonScripts::firstTurnKilled);
        add(all, "unknownSession", ComparisonScripts::unknownSession);
        add(all, "sessionInUse", ComparisonScripts::sessionInUse);
        add(all, "malformedLine", ComparisonScripts::malformed);
        add(all, "controlRequests", ComparisonScripts::controls);
        for (String text : List.of("/cost", "/nosuch hi", "/clear", "!ls", "look @secret.txt")) {
            add(all, "bareText " + text, host -> parsed(host, text, true));
            add(all, "blocks " + text, host -> parsed(host, text, false));
        }
        add(all, "compaction", ComparisonScripts::compaction);
        add(all, "forkedSession", ComparisonScripts::fork);
        add(all, "resumedOpenTurn", ComparisonScripts::resumeOpenTurn);
        add(all, "recordDeleted", ComparisonScripts::recordDeleted);
        add(all, "appendedInMidTurn", ComparisonScripts::appendMidTurn);
        return all;
    }

    private static void add(List<Case> all, String name, Script script) {
        all.add(new Case(name, script));
    }

    private static String fresh(String session) {
        return "--session-id=" + session;
    }

    private static String resumed(String session) {
        return "--resume=" + session;
    }

    /** Everything seen since the probe, then what the model saw, then the record. */
    private static List<String> seen(Contender agent, TestHost host, int from, String session) {
        List<String> seen = new ArrayList<>(host.labels(from));
        seen.add("--- shown " + agent.lastWords());
        seen.add("--- said " + agent.lastShown().assistantTexts());
        seen.addAll(record(agent, session));
        return seen;
    }

    private static List<String> record(Contender agent, String session) {
        List<String> seen = new ArrayList<>();
        seen.add("--- record");
        seen.addAll(agent.recordLabels(session));
        return seen;
    }

    private static List<String> plain(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session), "--include-partial-messages");
        int from = host.mark();
        host.ask("m1", "hello");
        int code = host.end();
        List<String> seen = seen(agent, host, from, session);
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> toolCall(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.ask("m1", "use it [[say calling]] " + CALL + " [[say done]]");
        host.end();
        return seen(agent, host, from, session);
    }

    private static List<String> coalesced(Contender agent) throws IOException {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.say("m1", "one [[say a]] [[gate g]] [[say b]]");
        passLater(agent, host, () -> {
            host.say("m2", "two");
            host.bare("m3", "three");
            host.say("m4", "four [[say ok]]");
        });
        host.awaitIdle(from);
        host.end();
        return seen(agent, host, from, session);
    }

    /** Does something while the model waits at gate g, makes sure that it was read, then opens the gate. */
    private static void passLater(Contender agent, TestHost host, Runnable meanwhile) {
        await().until(agent.gate("g")::isReached);
        meanwhile.run();
        host.awaitAnswer(host.control(Json.object().with("subtype", "mcp_status")));
        agent.gate("g").open();
    }

    /**
     * Three lines in one write. How many turns they become depends on how soon the agent sees them, so only the
     * acknowledgements and the model's view are compared.
     */
    private static List<String> together(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        StringBuilder lines = new StringBuilder();
        for (String name : List.of("m1", "m2", "m3")) {
            String uuid = Contender.newSession();
            host.name(uuid, name);
            lines.append(Json.object()
                            .with("type", "user")
                            .with("uuid", uuid)
                            .with(
                                    "message",
                                    Json.object()
                                            .with("role", "user")
                                            .with(
                                                    "content",
                                                    TestHost.withHostBlock(name + " [[sleep 300]] [[say ok]]")))
                            .write())
                    .append('\n');
        }
        host.writeRaw(lines.toString());
        host.awaitIdle(from);
        host.end();
        List<String> seen = new ArrayList<>();
        for (String label : host.labels(from)) {
            if (label.startsWith("replay ")) {
                seen.add(label.substring(0, label.indexOf(" [")));
            }
        }
        seen.add("--- shown " + agent.lastWords());
        return seen;
    }

    /** A tool that answers only after the host has done something. */
    private static TestHost slowTool(Contender agent, Gate.Local ready, String... flags) {
        agent.answering((host, request) -> {
            if (TestHost.isCall(request)) {
                try {
                    ready.pass();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            return TestHost.serve(host, request);
        });
        return agent.start(flags);
    }

    private static List<String> folded(Contender agent) {
        String session = Contender.newSession();
        Gate.Local tool = new Gate.Local();
        TestHost host = slowTool(agent, tool, fresh(session));
        int from = host.mark();
        host.say("m1", "one " + CALL + " [[say ok]]");
        host.awaitCall(from);
        host.say("m2", "two");
        host.bare("m3", "three");
        host.awaitAnswer(host.control(Json.object().with("subtype", "mcp_status")));
        tool.open();
        host.awaitIdle(from);
        host.end();
        return seen(agent, host, from, session);
    }

    private static List<String> foldedResent(Contender agent) {
        String session = Contender.newSession();
        Gate.Local tool = new Gate.Local();
        TestHost host = slowTool(agent, tool, fresh(session));
        int from = host.mark();
        String first = host.say("m1", "one " + CALL + " [[say ok]]");
        host.awaitCall(from);
        String second = host.say("m2", "two");
        host.awaitAnswer(host.control(Json.object().with("subtype", "mcp_status")));
        tool.open();
        host.awaitIdle(from);
        host.end();
        TestHost next = agent.start(resumed(session));
        int again = next.mark();
        next.send("m1", first, TestHost.withHostBlock("one"), Json.object());
        next.awaitIdle(again);
        int twice = next.mark();
        next.send("m2", second, TestHost.withHostBlock("two"), Json.object());
        next.awaitIdle(twice);
        next.end();
        return seen(agent, next, 0, session);
    }

    private static List<String> coalescedResent(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.say("m1", "one [[gate g]] [[say ok]]");
        List<String> uuids = new ArrayList<>();
        passLater(agent, host, () -> {
            uuids.add(host.say("m2", "two"));
            uuids.add(host.say("m3", "three [[say ok]]"));
        });
        host.awaitIdle(from);
        host.end();
        TestHost next = agent.start(resumed(session));
        int again = next.mark();
        next.send("m3", uuids.get(1), TestHost.withHostBlock("three"), Json.object());
        next.awaitIdle(again);
        int twice = next.mark();
        next.send("m2", uuids.get(0), TestHost.withHostBlock("two"), Json.object());
        next.awaitIdle(twice);
        next.end();
        return seen(agent, next, 0, session);
    }

    private static List<String> interruptMidAnswer(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session), "--include-partial-messages");
        int from = host.mark();
        host.say("m1", "one [[say half]] [[gate g]]");
        host.await("partial", from, frame -> frame.at("event").text("type", "").equals("content_block_delta"));
        await().until(agent.gate("g")::isReached);
        host.awaitAnswer(host.interrupt());
        host.awaitIdle(from);
        host.ask("m2", "two [[say ok]]");
        int code = host.end();
        List<String> seen = seen(agent, host, from, session);
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> interruptBeforeToken(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.say("m1", "one [[gate g]] [[say never]]");
        await().until(agent.gate("g")::isReached);
        host.awaitAnswer(host.interrupt());
        host.awaitIdle(from);
        int code = host.end();
        List<String> seen = new ArrayList<>(host.labels(from));
        seen.addAll(record(agent, session));
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> interruptTool(Contender agent) {
        String session = Contender.newSession();
        Gate.Local tool = new Gate.Local();
        TestHost host = slowTool(agent, tool, fresh(session));
        int from = host.mark();
        host.say("m1", "one " + CALL + " [[say never]]");
        host.awaitCall(from);
        host.say("m2", "two [[say ok]]");
        host.awaitAnswer(host.control(Json.object().with("subtype", "mcp_status")));
        host.awaitAnswer(host.interrupt());
        host.awaitIdle(from);
        tool.open();
        host.end();
        return seen(agent, host, from, session);
    }

    private static List<String> interruptBehindResult(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        host.ask("m1", "one [[say ok]]");
        int from = host.mark();
        String uuid = Contender.newSession();
        host.name(uuid, "m2");
        Json line = Json.object()
                .with("type", "user")
                .with("uuid", uuid)
                .with(
                        "message",
                        Json.object().with("role", "user").with("content", TestHost.withHostBlock("two [[say ok]]")));
        Json interrupt = Json.object()
                .with("type", "control_request")
                .with("request_id", "c99")
                .with("request", Json.object().with("subtype", "interrupt"));
        host.writeRaw(line.write() + "\n" + interrupt.write() + "\n");
        host.awaitResult(from);
        host.awaitIdle(from);
        host.end();
        List<String> seen = new ArrayList<>();
        for (String label : host.labels(from)) {
            if (label.startsWith("result") || label.startsWith("replay") || label.startsWith("user")) {
                seen.add(label);
            }
        }
        seen.addAll(record(agent, session));
        return seen;
    }

    private static List<String> interruptIdle(Contender agent) {
        TestHost host = agent.start(fresh(Contender.newSession()));
        int from = host.mark();
        host.awaitAnswer(host.interrupt());
        host.ask("m1", "one [[say ok]]");
        host.end();
        return host.labels(from);
    }

    private static List<String> priorityNow(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session), "--include-partial-messages");
        int from = host.mark();
        host.say("m1", "one [[say half]] [[gate g]]");
        host.await("partial", from, frame -> frame.at("event").text("type", "").equals("content_block_delta"));
        await().until(agent.gate("g")::isReached);
        host.send(
                "m2",
                Contender.newSession(),
                TestHost.withHostBlock("two [[say ok]]"),
                Json.object().with("priority", "now"));
        host.awaitIdle(from);
        host.end();
        return seen(agent, host, from, session);
    }

    private static List<String> priorityLater(Contender agent) {
        String session = Contender.newSession();
        Gate.Local tool = new Gate.Local();
        TestHost host = slowTool(agent, tool, fresh(session));
        int from = host.mark();
        host.say("m1", "one " + CALL + " [[say ok]]");
        host.awaitCall(from);
        host.send(
                "m2",
                Contender.newSession(),
                TestHost.withHostBlock("two [[say ok]]"),
                Json.object().with("priority", "later"));
        host.awaitAnswer(host.control(Json.object().with("subtype", "mcp_status")));
        tool.open();
        host.awaitIdle(from);
        host.end();
        return seen(agent, host, from, session);
    }

    private static List<String> sameUuid(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        String uuid = host.say("m1", "one [[say ok]]");
        host.awaitIdle(from);
        int again = host.mark();
        host.send("m1", uuid, TestHost.withHostBlock("one"), Json.object());
        host.awaitIdle(again);
        host.end();
        TestHost next = agent.start(resumed(session));
        int twice = next.mark();
        next.send("m1", uuid, TestHost.withHostBlock("one"), Json.object());
        next.awaitIdle(twice);
        next.ask("m2", "two [[say ok]]");
        next.end();
        List<String> seen = new ArrayList<>(host.labels(from));
        seen.addAll(seen(agent, next, 0, session));
        return seen;
    }

    private static List<String> sameUuidQueued(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        String first = host.say("m1", "one [[gate g]] [[say ok]]");
        passLater(agent, host, () -> {
            String second = host.say("m2", "two [[say ok]]");
            host.send("m1", first, TestHost.withHostBlock("one"), Json.object());
            host.send("m2", second, TestHost.withHostBlock("two [[say ok]]"), Json.object());
        });
        host.awaitIdle(from);
        host.end();
        return seen(agent, host, from, session);
    }

    private static void awaitInRecord(Contender agent, String session, String marker) {
        await().atMost(Duration.ofSeconds(5))
                .until(() -> agent.recordLabels(session).toString().contains(marker));
    }

    private static List<String> crashMidAnswer(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        host.say("m1", "one [[say half]] [[gate g]]");
        await().until(agent.gate("g")::isReached);
        awaitInRecord(agent, session, "m1");
        host.kill();
        TestHost next = agent.start(resumed(session));
        next.ask("m2", "two [[say ok]]");
        next.end();
        return seen(agent, next, 0, session);
    }

    private static List<String> crashTool(Contender agent) {
        String session = Contender.newSession();
        TestHost host = slowTool(agent, new Gate.Local(), fresh(session));
        host.say("m1", "one [[say calling]] " + CALL + " [[say never]]");
        host.awaitCall(0);
        awaitInRecord(agent, session, "call of");
        host.kill();
        TestHost next = agent.start(resumed(session));
        next.ask("m2", "two [[say ok]]");
        next.end();
        List<String> seen = seen(agent, next, 0, session);
        seen.add("results " + agent.lastShown().toolResults());
        seen.removeIf(label -> label.contains("toolUseId"));
        seen.add("outcomes " + agent.lastShown().toolResults().size());
        return seen;
    }

    private static List<String> killAtResult(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        awaitInRecord(agent, session, "probe");
        int from = host.mark();
        host.say("m1", "one [[say ok]]");
        host.awaitResult(from);
        host.kill();
        return List.of("answer in record " + record(agent, session).toString().contains("assistant"));
    }

    private static List<String> terminateAtResult(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.say("m1", "one [[say ok]]");
        host.awaitResult(from);
        host.terminate();
        int code = host.awaitExit();
        List<String> seen = record(agent, session);
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> terminateMidAnswer(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.say("m1", "one [[gate g]] [[say never]]");
        await().until(agent.gate("g")::isReached);
        host.terminate();
        int code = host.awaitExit();
        List<String> seen = new ArrayList<>(host.labels(from));
        seen.addAll(record(agent, session));
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> endOfInput(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.say("m1", "one [[gate g]] [[say ok]]");
        passLater(agent, host, () -> host.say("m2", "two [[say ok]]"));
        int code = host.end();
        List<String> seen = seen(agent, host, from, session);
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> endOfInputTool(Contender agent) {
        String session = Contender.newSession();
        TestHost host = slowTool(agent, new Gate.Local(), fresh(session));
        int from = host.mark();
        host.say("m1", "one " + CALL + " [[say ok]]");
        host.awaitCall(from);
        int code = host.end();
        List<String> seen = seen(agent, host, from, session);
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> apiError(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.ask("m1", "one [[error 400]]");
        host.ask("m2", "two [[say ok]]");
        int code = host.end();
        List<String> seen = seen(agent, host, from, session);
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> apiErrorResent(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        String uuid = host.say("m1", "one [[error 400]]");
        host.awaitIdle(from);
        int code = host.end();
        TestHost next = agent.start(resumed(session));
        int again = next.mark();
        next.send("m1", uuid, TestHost.withHostBlock("one"), Json.object());
        next.awaitIdle(again);
        next.end();
        List<String> seen = new ArrayList<>(host.labels(from));
        seen.add("exit " + code);
        seen.addAll(next.labels(again));
        return seen;
    }

    private static List<String> apiRetry(Contender agent) {
        TestHost host = agent.start(fresh(Contender.newSession()));
        int from = host.mark();
        host.ask("m1", "one [[error 529 1]] [[say ok]]");
        host.end();
        return host.labels(from);
    }

    private static List<String> maxTurns(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session), "--max-turns=1");
        int from = host.mark();
        host.ask("m1", "one " + CALL + " [[say never]]");
        host.ask("m2", "two [[say ok]]");
        host.end();
        return seen(agent, host, from, session);
    }

    private static List<String> permission(Contender agent, boolean allow) {
        agent.without("--allowedTools").answering((host, request) -> {
            boolean asked = request.text("subtype", "").equals("can_use_tool");
            return asked && !allow
                    ? Json.object().with("behavior", "deny").with("message", "no way")
                    : TestHost.serve(host, request);
        });
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.ask("m1", "one " + CALL + " [[say ok]]");
        host.end();
        return seen(agent, host, from, session);
    }

    private static List<String> noSurface(Contender agent) {
        agent.without("--allowedTools").without("--permission-prompt-tool");
        TestHost host = agent.start(fresh(Contender.newSession()));
        int from = host.mark();
        host.ask("m1", "one " + CALL + " [[say ok]]");
        host.end();
        return host.labels(from);
    }

    private static List<String> interruptAsked(Contender agent) {
        agent.without("--allowedTools")
                .answering((host, request) ->
                        request.text("subtype", "").equals("can_use_tool") ? null : TestHost.serve(host, request));
        TestHost host = agent.start(fresh(Contender.newSession()));
        int from = host.mark();
        host.say("m1", "one " + CALL + " [[say ok]]");
        host.await(
                "question",
                from,
                frame -> frame.at("request").text("subtype", "").equals("can_use_tool"));
        host.awaitAnswer(host.interrupt());
        host.awaitIdle(from);
        host.end();
        return host.labels(from);
    }

    private static List<String> unknownTool(Contender agent) {
        TestHost host = agent.start(fresh(Contender.newSession()));
        int from = host.mark();
        host.ask("m1", "one [[tool Bash {\"command\":\"ls\"}]] [[say ok]]");
        host.end();
        return host.labels(from);
    }

    private static List<String> failingTool(Contender agent) {
        agent.answering((host, request) -> TestHost.isCall(request)
                ? TestHost.rpc(
                        request.at("message"),
                        Json.object()
                                .with("isError", true)
                                .with("content", Json.array().add(AgentMemory.text("bad"))))
                : TestHost.serve(host, request));
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.ask("m1", "one " + CALL + " [[say ok]]");
        host.end();
        return seen(agent, host, from, session);
    }

    /** Nothing of the session is there yet: it cannot be resumed, and its id is free. */
    private static List<String> firstTurnKilled(Contender agent) {
        String session = "11111111-2222-4333-8444-555555555555";
        TestHost host = agent.launch(fresh(session));
        host.say("m1", "one [[gate g]] [[say never]]");
        host.await("init", 0, frame -> frame.text("subtype", "").equals("init"));
        host.kill();
        List<String> seen = new ArrayList<>(agent.recordLabels(session));
        TestHost resumed = agent.launch(resumed(session));
        seen.add("resume: exit " + resumed.awaitExit() + " " + resumed.labels());
        TestHost again = agent.start(fresh(session));
        seen.add("again: " + again.ask("m2", "two [[say ok]]").text("result", ""));
        again.end();
        seen.add("--- shown " + agent.lastWords());
        return seen;
    }

    private static List<String> unknownSession(Contender agent) {
        String session = "11111111-2222-4333-8444-555555555555";
        TestHost host = agent.launch(resumed(session));
        int code = host.awaitExit();
        List<String> seen = new ArrayList<>(host.labels());
        seen.add("exit " + code + " " + host.errors().strip());
        return seen;
    }

    private static List<String> sessionInUse(Contender agent) {
        String session = "11111111-2222-4333-8444-555555555555";
        TestHost host = agent.start(fresh(session));
        host.ask("m1", "one [[say ok]]");
        host.end();
        TestHost next = agent.launch(fresh(session));
        int code = next.awaitExit();
        List<String> seen = new ArrayList<>(next.labels());
        seen.add("exit " + code + " " + next.errors().strip());
        return seen;
    }

    private static List<String> malformed(Contender agent) {
        TestHost host = agent.start(fresh(Contender.newSession()));
        int from = host.mark();
        host.writeRaw("not json\n");
        int code = host.awaitExit();
        List<String> seen = new ArrayList<>(host.labels(from));
        seen.add("exit " + code);
        return seen;
    }

    private static List<String> controls(Contender agent) {
        TestHost host = agent.start(fresh(Contender.newSession()));
        List<String> seen = new ArrayList<>();
        for (String subtype : List.of("bogus", "mcp_status", "get_context_usage", "initialize")) {
            Json answer = host.awaitAnswer(host.control(Json.object().with("subtype", subtype)));
            seen.add(subtype + " " + answer.text("subtype", "") + " " + answer.text("error", ""));
        }
        host.writeRaw("{\"type\":\"brand_new\"}\n{\"type\":\"keep_alive\"}\n\n");
        int from = host.mark();
        host.ask("m1", "one [[say ok]]");
        seen.addAll(host.labels(from));
        host.awaitAnswer(host.control(Json.object().with("subtype", "end_session")));
        seen.add("exit " + host.awaitExit());
        return seen;
    }

    private static List<String> parsed(Contender agent, String text, boolean bare) throws IOException {
        Files.writeString(agent.work().resolve("secret.txt"), "TOPSECRET");
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        host.ask("m1", "one [[say ok]]");
        int calls = agent.shown().size();
        int from = host.mark();
        if (bare) {
            host.bare("m2", text);
        } else {
            host.say("m2", text);
        }
        host.awaitResult(from);
        host.awaitIdle(from);
        List<String> seen = new ArrayList<>();
        seen.add("calls " + (agent.shown().size() - calls));
        host.ask("m3", "three [[say ok]]");
        host.end();
        seen.addAll(host.labels(from));
        seen.add("--- shown " + agent.lastWords());
        seen.add("--- secret " + agent.lastShown().toString().contains("TOPSECRET"));
        seen.add("--- same session " + agent.recordLabels(session).toString().contains("m3"));
        return seen;
    }

    private static List<String> compaction(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        String uuid = "";
        for (int i = 1; i <= 4; i++) {
            int from = host.mark();
            uuid = host.say("m" + i, "words" + i + " [[say ok]]");
            host.awaitIdle(from);
        }
        int from = host.mark();
        host.bare("c", "/compact");
        host.awaitIdle(from);
        int again = host.mark();
        host.send("m4", uuid, TestHost.withHostBlock("words4"), Json.object());
        host.awaitIdle(again);
        host.end();
        TestHost next = agent.start(resumed(session));
        int resent = next.mark();
        next.send("m4", uuid, TestHost.withHostBlock("words4 [[say ok]]"), Json.object());
        next.awaitIdle(resent);
        next.end();
        List<String> seen = new ArrayList<>();
        for (String label : host.labels(from)) {
            if (!label.startsWith("user ")) {
                seen.add(label);
            }
        }
        seen.addAll(next.labels(resent));
        seen.add("words1 stands " + agent.lastShown().count("words1"));
        seen.add("words4 stands " + agent.lastShown().count("words4"));
        return seen;
    }

    private static List<String> fork(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        String uuid = host.say("m1", "alpha [[say ok]]");
        host.awaitIdle(from);
        host.ask("m2", "beta [[say ok]]");
        host.end();
        TestHost next = agent.start(resumed(session), "--fork-session");
        int again = next.mark();
        next.send("m1", uuid, TestHost.withHostBlock("alpha"), Json.object());
        next.awaitIdle(again);
        next.end();
        List<String> seen = new ArrayList<>(next.labels(again));
        seen.add("--- shown " + agent.lastWords());
        return seen;
    }

    private static List<String> resumeOpenTurn(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        host.say("m1", "one [[once k gate g]] [[say ok]]");
        await().until(agent.gate("g")::isReached);
        awaitInRecord(agent, session, "m1");
        host.kill();
        agent.gate("g").open();
        agent.variable("CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "1");
        TestHost next = agent.launch(resumed(session));
        next.awaitIdle(0);
        next.end();
        List<String> seen = new ArrayList<>();
        for (String label : next.labels()) {
            if (!label.startsWith("life")) {
                seen.add(label);
            }
        }
        seen.add("--- shown " + agent.lastShown().count("one"));
        return seen;
    }

    private static List<String> recordDeleted(Contender agent) throws IOException {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        host.ask("m1", "one [[say ok]]");
        awaitInRecord(agent, session, "assistant");
        Files.delete(agent.record(session));
        host.ask("m2", "two [[say ok]]");
        host.end();
        return record(agent, session);
    }

    private static List<String> appendMidTurn(Contender agent) {
        String session = Contender.newSession();
        TestHost host = agent.start(fresh(session));
        int from = host.mark();
        host.say("m1", "one [[gate g]] [[say ok]]");
        passLater(agent, host, () -> {
            host.probe("m2", "note");
            host.say("m3", "three [[say ok]]");
        });
        host.awaitIdle(from);
        host.end();
        return seen(agent, host, from, session);
    }
}
