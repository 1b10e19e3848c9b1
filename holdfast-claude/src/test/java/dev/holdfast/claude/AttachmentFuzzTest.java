package dev.holdfast.claude;

import static dev.holdfast.claude.Recorded.CODEC;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DeliveryId;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * An attachment whose agent says hostile things in any order. Whatever it says, nothing breaks, each of its requests is
 * answered once, each call is answered or withdrawn, and the end comes once and last. A life of the agent has a seed of
 * its own; a failure names it, and {@code -Dholdfast.seed=…} makes it the first. {@code -Dholdfast.fuzz.lives=…} tries
 * another number of lives.
 */
@Tag("slow")
class AttachmentFuzzTest {
    private static final int LIVES = Integer.getInteger("holdfast.fuzz.lives", 2_500);
    private static final int LINES_OF_A_LIFE = 50;
    private static final String NATIVE = "11111111-1111-4111-8111-111111111111";
    private static final ToolSpec ECHO = new ToolSpec("echo", "again", "{\"type\":\"object\"}");
    private static final List<String> TURN = Recorded.versions()
            .flatMap(version -> Recorded.lines("frames", "turns", version).stream())
            .toList();

    @TempDir
    Path home;

    @Test
    @Tag("HS-10")
    @Tag("HS-18")
    void agent_sayingAnything_breaksNothing() {
        long first = Long.getLong("holdfast.seed", new Random().nextLong());
        System.err.println(
                "AttachmentFuzzTest: " + LIVES + " lives of 50 lines and more from -Dholdfast.seed=" + first);
        for (int i = 0; i < LIVES; i++) {
            var life = new Life(first + i);
            try {
                life.live();
            } catch (RuntimeException | Error e) {
                throw new AssertionError("-Dholdfast.seed=" + (first + i) + " after " + life.said, e);
            }
        }
    }

    @Test
    @Tag("R1")
    void agent_inventingKindsWithoutEnd_floodsNobody() {
        var life = new Life(1);
        life.start();
        for (int i = 0; i < 10_000; i++) {
            life.agent.says("{'type':'invented" + i + "'}");
            life.agent.says("{'type':'system','subtype':'invented" + i + "'}");
            life.agent.says("no JSON at all");
        }
        assertThat(life.reports.stream().filter(report -> report instanceof Report.Noticed))
                .hasSizeLessThan(2 * Connection.TYPES_TOLD_MAX + 20);
        life.agent.exits("exit 0", "");
        life.judge();
    }

    @Test
    @Tag("TN-06")
    void result_withFiguresThatCannotBe_hasNone() {
        for (String odd : List.of("-1", "1e300", "1e400", "-9223372036854775809", "1" + "0".repeat(500), "'x'")) {
            var life = new Life(1);
            life.start();
            life.tell();
            life.agent.state("running");
            life.agent.init("mcp__host__echo");
            life.agent.says("{'type':'result','subtype':'success','result':'fine','usage':{'input_tokens':" + odd
                    + ",'output_tokens':7},'total_cost_usd':" + odd + "}");
            life.agent.state("idle");
            var result = life.reports.stream()
                    .filter(Report.Result.class::isInstance)
                    .map(report -> ((Report.Result) report).result())
                    .findFirst()
                    .orElseThrow();
            assertThat(result.usage().costMicros()).as(odd).isEmpty();
            assertThat(result.usage().inputTokens()).as(odd).isZero();
            assertThat(result.usage().outputTokens()).isEqualTo(7);
            assertThat(result.text()).isEqualTo("fine");
        }
    }

    @Test
    @Tag("TL-01")
    void framesBeforeTheGreetingIsAnswered_proveNothing() {
        var life = new Life(1);
        life.spawn();
        life.agent.init("mcp__host__echo");
        life.agent.probeResult("0");
        life.agent.state("idle");
        assertThat(life.agent.ofType("user")).as("no probe yet").isEmpty();
        life.agent.greets();
        assertThat(life.agent.ofType("user")).hasSize(1);
        assertThat(life.reports).noneMatch(report -> report instanceof Report.Verified);
        life.agent.init("mcp__host__echo");
        life.agent.probeResult("0");
        life.agent.state("idle");
        assertThat(life.reports).anyMatch(report -> report instanceof Report.Verified);
        life.agent.exits("exit 0", "");
        life.judge();
    }

    private final class Life {
        private final SplittableRandom random;
        private final HostileJson hostile;
        private final FakeAgents agents = new FakeAgents();
        private final ManualBackground background = new ManualBackground();
        private final List<Report> reports = new ArrayList<>();
        private final ClaudeAttachment attachment;
        private final List<String> said = new ArrayList<>();
        private final Set<String> asked = new HashSet<>();
        private final Set<String> mustAnswer = new HashSet<>();
        private FakeAgents.Fake agent;
        private int told;

        Life(long seed) {
            random = new SplittableRandom(seed);
            hostile = new HostileJson(random);
            var builder = ClaudeCode.agent().binary(Path.of("/bin/sh")).inference("http://127.0.0.1:1", "sk-fake");
            var launch = new Launch("store", new SessionName("s"), 1, 1, home, List.of(ECHO));
            var place = new AgentPlace(builder, launch, Map.of("HOME", home.toString()), CODEC);
            attachment = new ClaudeAttachment(
                    builder, launch, place, agents, new StartGate(), background, CODEC, reports::add);
        }

        void live() {
            start();
            for (int i = 0; i < LINES_OF_A_LIFE; i++) {
                step();
            }
            agent.exits("exit 0", "");
            background.work();
            judge();
        }

        private void spawn() {
            attachment.know(new KnowledgeQuestion(Optional.of(NATIVE), List.of(), List.of()));
            background.work();
            attachment.start(new StartPlan(NATIVE, false, Optional.empty()));
            background.work();
            agent = agents.last();
        }

        private void start() {
            spawn();
            if (random.nextInt(10) == 0) {
                return; // it says its hostile things during the start
            }
            agent.greets();
            agent.state("running");
            agent.init("mcp__host__echo");
            agent.replays(agent.lastUuid());
            agent.probeResult("0.5");
            agent.state("idle");
            assertThat(reports).anyMatch(report -> report instanceof Report.Verified);
        }

        private void step() {
            switch (random.nextInt(24)) {
                case 0 -> tell();
                case 1 -> attachment.interrupt(told);
                case 2 -> answerSome();
                case 3 -> background.advance(Duration.ofMillis(random.nextInt(2_000)));
                case 4 -> agent.listener.skipped(70_000_000, "OVER_LIMIT");
                case 5 -> agent.state(random.nextBoolean() ? "running" : "idle");
                case 6 -> agent.replays(Recorded.id(1 + random.nextInt(3)));
                case 7 -> agent.init("mcp__host__echo");
                case 8 -> stopSometimes();
                default -> say(line());
            }
        }

        private void tell() {
            boolean ready = reports.stream().anyMatch(report -> report instanceof Report.Verified);
            if (ready) {
                told++;
                attachment.tell(new Line(DeliveryId.parse(Recorded.id(told)), List.of("words"), "(host)", false));
            }
        }

        private void stopSometimes() {
            if (random.nextInt(20) == 0) {
                attachment.stop(random.nextBoolean() ? StopMode.IDLE : StopMode.BUSY);
            }
        }

        private void answerSome() {
            List.copyOf(reports).forEach(report -> {
                if (report instanceof Report.CallRequested call && random.nextBoolean()) {
                    attachment.answer(call.callId(), ToolAnswer.text("done"));
                }
            });
        }

        private void say(String line) {
            said.add(Connection.shortened(line).substring(0, Math.min(400, line.length())));
            CODEC.read(line).ifPresent(frame -> {
                if (frame instanceof Frame.ControlRequest request && asked.add(request.id())) {
                    boolean call = StreamJson.text(request.request().path("message"), "method")
                            .equals("tools/call");
                    if (!call) {
                        mustAnswer.add(request.id());
                    }
                }
            });
            agent.listener.line(line);
            agent.listener.caughtUp();
        }

        private String line() {
            return switch (random.nextInt(8)) {
                case 0 -> TURN.get(random.nextInt(TURN.size()));
                case 1 -> hostile.damaged(TURN.get(random.nextInt(TURN.size())));
                case 2, 3 -> request();
                case 4 -> deep();
                case 5 -> turnOfValues();
                default -> hostile.frame().text();
            };
        }

        /** A request of a kind that is understood, with hostile parts. */
        private String request() {
            String id = "\"r" + random.nextInt(9) + "\"";
            String rpc = random.nextInt(3) == 0 ? hostile.value(2).text() : Integer.toString(random.nextInt(4));
            String params = switch (random.nextInt(4)) {
                case 0 -> hostile.value(3).text();
                case 1 -> "{\"requestId\":" + rpc + "}";
                default ->
                    "{\"name\":\"echo\",\"arguments\":"
                            + hostile.value(3).text() + ",\"_meta\":{\"claudecode/toolUseId\":\"t"
                            + random.nextInt(4) + "\"}}";
            };
            String method = List.of(
                            "initialize",
                            "ping",
                            "tools/list",
                            "tools/call",
                            "tools/call",
                            "notifications/cancelled",
                            "new")
                    .get(random.nextInt(7));
            return switch (random.nextInt(6)) {
                case 0 -> "{\"type\":\"control_cancel_request\",\"request_id\":" + id + "}";
                case 1 ->
                    "{\"type\":\"control_request\",\"request_id\":" + id
                            + ",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"mcp__host__echo\",\"input\":"
                            + hostile.value(3).text() + "}}";
                case 2 ->
                    "{\"type\":\"control_request\",\"request_id\":" + id + ",\"request\":"
                            + hostile.value(3).text() + "}";
                default ->
                    "{\"type\":\"control_request\",\"request_id\":" + id
                            + ",\"request\":{\"subtype\":\"mcp_message\",\"server_name\":\"host\",\"message\":{\"id\":"
                            + rpc + ",\"method\":\"" + method + "\",\"params\":" + params + "}}}";
            };
        }

        /** Nesting around the bound where it is echoed, told or kept. */
        private String deep() {
            int depth = StreamJson.DEPTH_MAX - 8 + random.nextInt(12);
            String value = "{\"a\":".repeat(depth) + "1" + "}".repeat(depth);
            return switch (random.nextInt(4)) {
                case 0 -> "{\"type\":\"brand_new" + random.nextInt(100) + "\",\"x\":" + value + "}";
                case 1 ->
                    "{\"type\":\"control_request\",\"request_id\":\"d" + random.nextInt(3)
                            + "\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"mcp__host__echo\",\"input\":"
                            + value + "}}";
                case 2 ->
                    "{\"type\":\"control_request\",\"request_id\":\"e" + random.nextInt(3)
                            + "\",\"request\":{\"subtype\":\"mcp_message\",\"server_name\":\"host\",\"message\":"
                            + "{\"id\":" + value + ",\"method\":\"ping\"}}}";
                default -> "{\"type\":\"system\",\"subtype\":\"deep" + random.nextInt(100) + "\",\"x\":" + value + "}";
            };
        }

        /** A result with hostile figures. */
        private String turnOfValues() {
            return "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":"
                    + hostile.value(1).text()
                    + ",\"num_turns\":" + hostile.value(1).text() + ",\"result\":"
                    + hostile.value(1).text()
                    + ",\"terminal_reason\":" + hostile.value(1).text() + ",\"total_cost_usd\":"
                    + hostile.value(1).text() + ",\"api_error_status\":"
                    + hostile.value(1).text()
                    + ",\"user_message_uuids\":[" + hostile.value(1).text() + ",\"" + Recorded.id(1)
                    + "\"],\"usage\":{\"input_tokens\":" + hostile.value(1).text() + ",\"output_tokens\":"
                    + hostile.value(1).text() + "}}";
        }

        private void judge() {
            assertThat(reports)
                    .noneMatch(report -> report instanceof Report.Noticed noticed
                            && noticed.what().equals("broken"));
            assertThat(reports.stream().filter(report -> report instanceof Report.Ended))
                    .hasSize(1);
            assertThat(reports.getLast()).isInstanceOf(Report.Ended.class);
            answeredOnce();
            callsAreClosed();
            figuresArePossible();
        }

        private void answeredOnce() {
            var answers = new HashMap<String, Integer>();
            for (JsonNode line : agent.ofType("control_response")) {
                answers.merge(StreamJson.text(line.path("response"), "request_id"), 1, Integer::sum);
            }
            assertThat(answers)
                    .allSatisfy((id, count) -> assertThat(count).as(id).isEqualTo(1));
            assertThat(answers.keySet()).isSubsetOf(asked).containsAll(mustAnswer);
        }

        private void callsAreClosed() {
            var open = new HashSet<String>();
            for (Report report : reports) {
                if (report instanceof Report.CallRequested call) {
                    assertThat(open.add(call.callId())).as(call.toString()).isTrue();
                    assertThat(CODEC.tree(call.input())).as(call.toString()).isPresent();
                } else if (report instanceof Report.CallWithdrawn call) {
                    open.remove(call.callId());
                }
            }
            open.forEach(call -> attachment.answer(call, ToolAnswer.text("too late"))); // to a call that was answered
        }

        private void figuresArePossible() {
            for (Report report : reports) {
                if (report instanceof Report.Result result) {
                    var usage = result.result().usage();
                    assertThat(usage.inputTokens()).isNotNegative();
                    assertThat(usage.outputTokens()).isNotNegative();
                    assertThat(usage.costMicros().orElse(0)).isNotNegative();
                }
            }
        }
    }
}
