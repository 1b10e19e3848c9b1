package dev.holdfast.claude;

import static dev.holdfast.claude.Recorded.CODEC;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.claude.HostileJson.Made;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/**
 * The codec against hostile lines whose meaning is known, and against damaged ones. Each input has a seed of its own; a
 * failure names it, and {@code -Dholdfast.seed=…} makes it the first input. {@code -Dholdfast.fuzz.inputs=…} tries
 * another number of them.
 */
@Tag("slow")
class StreamJsonFuzzTest {
    private static final int INPUTS = Integer.getInteger("holdfast.fuzz.inputs", 320_000);

    private static final List<String> RECORDED = Recorded.versions()
            .flatMap(version -> Stream.concat(
                    Recorded.lines("frames", "turns", version).stream(), Recorded.record("plain", version).stream()))
            .toList();

    @Test
    @Tag("HS-10")
    void read_hostileLines_meanWhatTheySay() {
        long first = Long.getLong("holdfast.seed", new Random().nextLong());
        System.err.println("StreamJsonFuzzTest: " + INPUTS + " inputs from -Dholdfast.seed=" + first);
        for (int i = 0; i < INPUTS; i++) {
            var random = new SplittableRandom(first + i);
            String line = "";
            try {
                line = line(random);
                switch (random.nextInt(4)) {
                    case 0 -> cutIsNoFrame(line, random);
                    case 1 -> damagedIsReadOrSkipped(new HostileJson(random).damaged(line));
                    default -> madeIsRead(new HostileJson(random).frame());
                }
            } catch (RuntimeException | Error e) {
                throw new AssertionError("-Dholdfast.seed=" + (first + i) + " around " + line, e);
            }
        }
    }

    private static String line(SplittableRandom random) {
        return random.nextInt(4) == 0
                ? RECORDED.get(random.nextInt(RECORDED.size()))
                : new HostileJson(random).frame().text();
    }

    /** An object that lost its end is none, wherever it was cut. */
    private static void cutIsNoFrame(String line, SplittableRandom random) {
        String whole = line.strip();
        String cut = whole.substring(0, random.nextInt(whole.length()));
        assertThat(CODEC.read(cut)).as(cut).isEmpty();
    }

    private static void damagedIsReadOrSkipped(String line) {
        Optional<Frame> frame = CODEC.read(line);
        if (frame.isPresent()) {
            String again = CODEC.write(frame.get().raw());
            assertThat(CODEC.write(CODEC.tree(again).orElseThrow())).isEqualTo(again);
        }
    }

    private static void madeIsRead(Made made) {
        Frame frame = CODEC.read(made.text()).orElseThrow(() -> new AssertionError("no frame: " + made.text()));
        assertThat(HostileJson.same(frame.raw(), made.value()))
                .as("%s read from %s", frame.raw(), made.text())
                .isTrue();
        Object value = made.value();
        switch (frame) {
            case Frame.Result result -> {
                assertThat(text(value, "type")).isEqualTo("result");
                assertThat(result.text()).isEqualTo(text(value, "result"));
                assertThat(result.error()).isEqualTo(field(value, "is_error").equals(true));
                assertThat(result.terminalReason()).isEqualTo(text(value, "terminal_reason"));
                assertThat(result.origin().orElse("")).isEqualTo(text(field(value, "origin"), "kind"));
            }
            case Frame.Assistant assistant -> {
                assertThat(text(value, "type")).isEqualTo("assistant");
                assertThat(assistant.text()).isEqualTo(words(field(field(value, "message"), "content")));
                assertThat(assistant.sidechain()).isEqualTo(field(value, "parent_tool_use_id") instanceof String);
            }
            case Frame.User user -> {
                assertThat(text(value, "type")).isEqualTo("user");
                assertThat(user.uuid()).isEqualTo(text(value, "uuid"));
                assertThat(user.replay()).isEqualTo(field(value, "isReplay").equals(true));
            }
            case Frame.ControlRequest request -> {
                assertThat(request.id()).isEqualTo(text(value, "request_id"));
                assertThat(request.subtype()).isEqualTo(text(field(value, "request"), "subtype"));
            }
            case Frame.ControlResponse response ->
                assertThat(response.success())
                        .isEqualTo(text(field(value, "response"), "subtype").equals("success"));
            case Frame.Notice notice -> assertThat(notice.subtype()).isEqualTo(text(value, "subtype"));
            case Frame.State state -> assertThat(state.state()).isEqualTo(text(value, "state"));
            case Frame.Init init -> assertThat(init.session()).isEqualTo(text(value, "session_id"));
            case Frame.Other other -> assertThat(other.type()).isEqualTo(text(value, "type"));
            case Frame.Partial partial -> assertThat(text(value, "type")).isEqualTo("stream_event");
            case Frame.ControlCancel cancel -> assertThat(cancel.id()).isEqualTo(text(value, "request_id"));
        }
    }

    private static Object field(Object value, String name) {
        return value instanceof Map<?, ?> map && map.containsKey(name) ? map.get(name) : HostileJson.NULL;
    }

    private static String text(Object value, String name) {
        return field(value, name) instanceof String text ? text : "";
    }

    private static String words(Object content) {
        if (content instanceof String text) {
            return text;
        }
        Stream<?> blocks = switch (content) {
            case List<?> list -> list.stream();
            case Map<?, ?> map -> map.values().stream();
            default -> Stream.empty();
        };
        return blocks.filter(block -> text(block, "type").equals("text"))
                .map(block -> text(block, "text"))
                .reduce("", String::concat);
    }

    @Test
    @Tag("HS-10")
    @Tag("R1")
    void read_nestedDeeply_isReadAndWrittenAgainUpToTheBoundAndSkippedBeyond() {
        for (int depth = 2; depth < 2 * StreamJson.DEPTH_MAX; depth++) {
            for (String open : List.of("[", "{\"a\":")) {
                String close = open.equals("[") ? "]" : "}";
                String line = "{\"type\":\"x\",\"a\":" + open.repeat(depth - 1) + "1" + close.repeat(depth - 1) + "}";
                Optional<JsonNode> tree = CODEC.tree(line);
                assertThat(tree.isPresent()).as("depth %s", depth).isEqualTo(depth <= StreamJson.DEPTH_MAX);
                tree.ifPresent(read -> assertThat(CODEC.write(read)).isEqualTo(line));
            }
        }
        assertThat(CODEC.read("{\"type\":\"x\",\"a\":" + "[".repeat(10_000_000)))
                .isEmpty();
    }

    @Test
    @Tag("HS-10")
    void read_aNameTwice_countsTheLastAndNothingOfTheFirst() {
        var frame = (Frame.Result) CODEC.read(
                        "{\"type\":\"user\",\"result\":\"a\",\"is_error\":true,\"type\":\"result\",\"result\":\"b\"}")
                .orElseThrow();
        assertThat(frame.text()).isEqualTo("b");
        assertThat(frame.error()).isTrue();
    }

    @Test
    @Tag("HS-10")
    @Tag("R1")
    void read_aLineAtTheLimitInOneField_isReadWhole() {
        String text = "x".repeat((64 << 20) - 100);
        var frame = (Frame.Result)
                CODEC.read("{\"type\":\"result\",\"result\":\"" + text + "\"}").orElseThrow();
        assertThat(frame.text().length()).isEqualTo(text.length());
    }
}
