package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** SIGKILL of the agent, of the host, and of both, at every point of a turn, with every contender. */
@ParameterizedClass
@EnumSource(Contender.class)
@Execution(ExecutionMode.CONCURRENT)
final class KillIT {
    private static final String HOLD = "[[tool mcp__host__hold {\"text\":\"it\"}]]";

    @Parameter
    Contender contender;

    @TempDir
    Path directory;

    enum Victim {
        AGENT,
        HOST,
        BOTH
    }

    /** Where in the conversation it happens. */
    enum Point {
        FIRST_TURN,
        BEFORE_FIRST_TOKEN,
        MID_ANSWER,
        IN_TOOL_CALL,
        AT_RESULT,
        AFTER_SETTLE,
        STEER_FOLDED,
        TWO_WAITING
    }

    static Stream<Arguments> kills() {
        return Arrays.stream(Point.values())
                .flatMap(point -> Arrays.stream(Victim.values()).map(victim -> Arguments.of(victim, point)));
    }

    private static ModelScript script(Point point) {
        var script = new ModelScript();
        return switch (point) {
            case FIRST_TURN -> script.on("M1", "[[say part]] [[gate hit]]");
            case BEFORE_FIRST_TOKEN -> script.on("M2", "[[gate hit]]");
            case MID_ANSWER, TWO_WAITING -> script.on("M2", "[[say part]] [[gate hit]]");
            case IN_TOOL_CALL -> script.on("M2", HOLD);
            case STEER_FOLDED -> script.on("M2", HOLD, "[[gate hit]]");
            case AT_RESULT, AFTER_SETTLE -> script;
        };
    }

    @Tag("P1")
    @Tag("P2")
    @Tag("TN-08")
    @Tag("TN-12")
    @Tag("TN-16")
    @Tag("HS-05")
    @Tag("HS-06")
    @Tag("HS-21")
    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("kills")
    @DisplayName("macro#6134: what waits outlives a kill of the host, and runs once")
    void kill_atAnyPoint_losesAndDoublesNothing(Victim victim, Point point) throws Exception {
        try (var world = new World(contender, directory, script(point))) {
            if (point != Point.FIRST_TURN) {
                world.ask("M1 good morning");
            }
            if (point == Point.AT_RESULT) {
                killAtReport(world, victim, "Result", () -> world.send("M2 and now"));
            } else if (point == Point.STEER_FOLDED) {
                steer(world, victim);
            } else {
                bringTo(world, point);
                kill(world, victim);
            }
            world.openGates();
            world.host().command("release");
            world.awaitEnds();
            world.finish();
        }
    }

    private static void bringTo(World world, Point point) {
        switch (point) {
            case FIRST_TURN -> {
                world.send("M1 good morning");
                world.awaitGate("hit");
                world.host().await("text");
            }
            case BEFORE_FIRST_TOKEN -> {
                world.send("M2 and now");
                world.awaitGate("hit");
            }
            case MID_ANSWER -> {
                world.send("M2 and now");
                world.awaitGate("hit");
                world.host().await("text");
            }
            case IN_TOOL_CALL -> {
                world.send("M2 and now");
                world.host().await("tool", "hold");
            }
            case AFTER_SETTLE -> {
                world.send("M2 and now");
                world.host().awaitEvent("TurnSettled", "\"turn\":2");
            }
            case TWO_WAITING -> {
                world.send("M2 and now");
                world.awaitGate("hit");
                world.send("M3 the first to wait");
                world.send("M4 the second to wait");
            }
            case AT_RESULT, STEER_FOLDED -> throw new IllegalArgumentException(point + " has a way of its own");
        }
    }

    private static void steer(World world, Victim victim) {
        world.send("M2 and now");
        world.host().await("tool", "hold");
        world.steer("S3 mind the gap");
        world.host().await("told", "steer"); // before the tool's answer, so that the agent's next step has it
        killAtReport(world, victim, "Landed", () -> world.host().command("release"));
    }

    /** At first sight of the report, before the session is told. */
    private static void killAtReport(World world, Victim victim, String report, Runnable go) {
        String what = switch (victim) {
            case AGENT -> "kill-agent";
            case HOST -> "keep-back";
            case BOTH -> "kill-agent-keep-back";
        };
        world.host().command("trap", report, what);
        world.host().await("armed");
        go.run();
        world.host().await("trapped", report);
        if (victim != Victim.AGENT) {
            world.host().kill();
            world.restart();
        }
    }

    static void kill(World world, Victim victim) {
        if (victim != Victim.HOST) {
            assertThat(world.host().agent().destroyForcibly()).isTrue();
        }
        if (victim != Victim.AGENT) {
            world.host().kill();
            world.restart();
        }
    }
}
