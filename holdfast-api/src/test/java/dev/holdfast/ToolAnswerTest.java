package dev.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ToolAnswerTest {
    @Test
    @Tag("TL-10")
    void factories_makeTextDataImageAndError() {
        assertThat(ToolAnswer.text("a")).isEqualTo(ToolAnswer.of(new ToolAnswer.Text("a")));
        assertThat(ToolAnswer.error("b").error()).isTrue();
        assertThat(ToolAnswer.json("{\"a\":1}").structured()).contains("{\"a\":1}");
        assertThat(ToolAnswer.json("{\"a\":1}").text()).isEqualTo("{\"a\":1}");
        var image = ToolAnswer.image("IMAGE/png", "bytes".getBytes(StandardCharsets.UTF_8));
        assertThat(image.blocks()).containsExactly(new ToolAnswer.Image("image/png", "Ynl0ZXM="));
        assertThat(image.text()).isEmpty();
        assertThat(ToolAnswer.of(new ToolAnswer.Text("a"), new ToolAnswer.Text("b"))
                        .text())
                .isEqualTo("a\nb");
    }

    @Test
    @Tag("TL-10")
    void within_atTheBoundIsKeptAndAboveItIsAnErrorThatSaysSo() {
        var answer = ToolAnswer.text("ä".repeat(50)); // two bytes each
        assertThat(answer.bytes()).isEqualTo(100);
        assertThat(answer.within(100)).isSameAs(answer);
        var over = answer.within(99);
        assertThat(over.error()).isTrue();
        assertThat(over.text()).contains("100 bytes", "99");
        assertThat(ToolAnswer.json("{}").bytes()).isEqualTo(4);
        assertThat(ToolAnswer.image("image/png", new byte[3]).bytes()).isEqualTo(4 + "image/png".length());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "abc", "ab c", "a===", "äbcd", "ab=d"})
    void image_withDataThatIsNoBase64_isRefused(String data) {
        assertThatThrownBy(() -> new ToolAnswer.Image("image/png", data)).hasMessageContaining("base64");
    }

    @ParameterizedTest
    @ValueSource(strings = {"png", "text/html", "image/", "image/png\n", "image/PNG"})
    void image_withAnotherMediaType_isRefused(String mime) {
        assertThatThrownBy(() -> new ToolAnswer.Image(mime, "AAAA")).hasMessageContaining("media type");
    }

    @Test
    void progress_thatIsNoNumber_isRefusedAndALongNoteIsCut() {
        var call = new ToolCall(
                new SessionName("s"), 1, 1, Optional.empty(), "c", "k", "{}", () -> false, ToolCall.ProgressSink.NONE);
        assertThatThrownBy(() -> call.progress(Double.NaN, OptionalDouble.empty(), "x"))
                .hasMessageContaining("NaN");
        assertThatThrownBy(() -> call.progress(1, Double.POSITIVE_INFINITY, "x"))
                .hasMessageContaining("Infinity");
        assertThat(new ToolProgress("c", "t", 1, OptionalDouble.empty(), "x".repeat(501)).note())
                .hasSize(500)
                .endsWith("…");
    }
}
