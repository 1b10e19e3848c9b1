package dev.holdfast.claude;

import static dev.holdfast.claude.Recorded.CODEC;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.DeliveryId;
import dev.holdfast.Line;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class StreamJsonTest {
    private static final DeliveryId ID = DeliveryId.parse(Recorded.id(1));

    private static JsonNode content(String line) {
        return CODEC.tree(line).orElseThrow().path("message").path("content");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/clear", "/cost", "/nosuch", "@secret.txt", "!cmd", "\uFEFFhello", "a\u2028b\nc\rd\te", "😀"})
    @Tag("HS-15")
    void userLine_anyWords_areABlockOfTheirOwnBeforeTheHostsBlock(String words) {
        String line = CODEC.userLine(new Line(ID, List.of(words), "(from Bob)", false));
        assertThat(line).doesNotContain("\n");
        var blocks = content(line);
        assertThat(blocks.isArray()).isTrue();
        assertThat(blocks.size()).isEqualTo(2);
        assertThat(StreamJson.text(blocks.get(0), "text")).isEqualTo(words);
        assertThat(StreamJson.text(blocks.get(1), "text")).isEqualTo("(from Bob)");
        assertThat(StreamJson.text(CODEC.tree(line).orElseThrow(), "uuid")).isEqualTo(ID.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"(from x @secret.txt)", "/clear", " /clear", "@secret.txt", "!ls"})
    @Tag("HS-15")
    void userLine_hostsBlockThatCouldBeParsed_isNotTheLast(String note) {
        var blocks = content(CODEC.userLine(new Line(ID, List.of("words"), note, false)));
        assertThat(StreamJson.text(blocks.get(1), "text")).isEqualTo(note);
        assertThat(StreamJson.text(blocks.get(blocks.size() - 1), "text")).isEqualTo("(end)");
    }

    @Test
    @Tag("HS-15")
    void continuation_withoutWords_isStillAnArray() {
        assertThat(content(CODEC.userLine(new Line(ID, List.of(), "go on", false)))
                        .size())
                .isEqualTo(1);
    }

    @Test
    void userLine_halfASurrogatePair_staysOneReadableLine() {
        String line = CODEC.userLine(new Line(ID, List.of("a\uD800b"), "(host)", false));
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        assertThat(CODEC.tree(new String(bytes, StandardCharsets.UTF_8))).isPresent();
    }

    @Test
    @Tag("HS-10")
    @DisplayName("hellomypastor 131d1b8: a type that nobody knows passes through")
    void read_unknownTypeSubtypeAndFields_passThroughRaw() {
        var other = (Frame.Other)
                CODEC.read("{\"type\":\"brand_new\",\"a\":{\"b\":[1]}}").orElseThrow();
        assertThat(other.raw().path("a").path("b").get(0).intValue()).isEqualTo(1);
        var notice = (Frame.Notice)
                CODEC.read("{\"type\":\"system\",\"subtype\":\"new\",\"x\":1}").orElseThrow();
        assertThat(notice.subtype()).isEqualTo("new");
        assertThat(notice.raw().path("x").intValue()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "[debug] x", "{", "{\"type\":", "[]", "3", "null", "\"x\"", "{\"a\":1}}x{"})
    @Tag("HS-10")
    void read_whatIsNoObject_isNoFrame(String line) {
        assertThat(CODEC.read(line).filter(frame -> !(frame instanceof Frame.Other)))
                .isEmpty();
    }

    @Test
    @Tag("HS-10")
    void read_tooDeep_isNoFrame() {
        String deep = "{\"type\":\"x\",\"a\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}";
        assertThat(CODEC.read(deep)).isEmpty();
    }

    @Test
    @Tag("HS-10")
    void read_megabytesOfText_areRead() {
        String text = "字".repeat(3_000_000);
        var frame = (Frame.Assistant)
                CODEC.read("{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"" + text
                                + "\"}]}}")
                        .orElseThrow();
        assertThat(frame.text()).hasSize(3_000_000);
    }

    @ParameterizedTest
    @MethodSource("dev.holdfast.claude.Recorded#versions")
    @Tag("HS-10")
    void read_recordedLinesChangedAnywhere_neverFails(String version) {
        var random = new Random(7);
        for (String line : Recorded.lines("frames", "turns", version)) {
            assertThat(CODEC.read(line)).isPresent();
            for (int i = 0; i < 60; i++) {
                var changed = new StringBuilder(line);
                changed.setCharAt(random.nextInt(line.length()), "{}[]\",:x0-\u0000".charAt(random.nextInt(11)));
                CODEC.read(changed.toString());
                CODEC.read(line.substring(0, random.nextInt(line.length())));
            }
        }
    }

    @Test
    void read_fieldsOfTheWrongKind_countAsMissing() {
        for (String type :
                List.of("user", "assistant", "result", "control_request", "control_response", "stream_event")) {
            for (String value : List.of("null", "1", "[]", "\"x\"", "{}")) {
                var line = "{\"type\":\"" + type + "\",\"uuid\":" + value + ",\"message\":" + value + ",\"event\":"
                        + value
                        + ",\"request\":" + value + ",\"response\":" + value + ",\"result\":" + value + ",\"errors\":"
                        + value + ",\"num_turns\":" + value + ",\"origin\":" + value + ",\"is_error\":" + value + "}";
                assertThat(CODEC.read(line)).isPresent();
            }
        }
        for (String value : List.of("null", "1", "[]", "\"x\"", "{}", "[1]", "[{}]")) {
            var line = "{\"type\":\"system\",\"subtype\":\"init\",\"tools\":" + value + ",\"mcp_servers\":" + value
                    + ",\"plugins\":" + value + ",\"skills\":" + value + ",\"session_id\":" + value + "}";
            assertThat(CODEC.read(line)).isPresent();
        }
    }
}
