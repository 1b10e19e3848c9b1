package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":[1,-2.5e3,true,false,null,\"x\\n\\\"\\\\\"],\"b\":{}}",
                "[]",
                "\"漢字 😀\"",
                "{\"\":\"\\u0000\"}"
            })
    void read_thenWrite_isTheSame(String text) {
        assertThat(Json.read(text).write()).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "not json", "{", "[1,]", "{\"a\" 1}", "\"\\x\"", "1 2", "01a", "nul", "\"a\nb\"", "+1"})
    void read_whatIsNoJson_isRefused(String text) {
        assertThatThrownBy(() -> Json.read(text)).isInstanceOf(Json.Malformed.class);
    }

    @Test
    void read_tooDeep_isRefused() {
        assertThatThrownBy(() -> Json.read("[".repeat(1_000))).hasMessageContaining("nested deeper");
    }

    @Test
    void write_separatorsAndLoneSurrogates_areEscaped() {
        assertThat(new Json.Str("\u2028\uD83D").write()).isEqualTo("\"\\u2028\\ud83d\"");
        assertThat(Json.read("\"\\ud83d\\ude00\"").asText()).isEqualTo("😀");
    }

    @Test
    void at_whatIsNotThere_isNil() {
        assertThat(Json.read("{\"a\":1}").at("b").at("c").isNil()).isTrue();
        assertThat(Json.read("{\"a\":1}").number("a", 0)).isEqualTo(1);
    }
}
