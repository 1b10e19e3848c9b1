package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConversationTest {
    private static final String FOLD = "<system-reminder>\\nThe user sent a new message while you were working:\\n";

    private static Conversation of(String messages) {
        return Conversation.of("{\"messages\":[" + messages + "]}");
    }

    private static String user(String... blocks) {
        return "{\"role\":\"user\",\"content\":[" + String.join(",", blocks) + "]}";
    }

    private static String text(String text) {
        return "{\"type\":\"text\",\"text\":\"" + text + "\"}";
    }

    private static String assistant(String text) {
        return "{\"role\":\"assistant\",\"content\":[" + text(text) + "]}";
    }

    @Test
    void userTexts_withRemindersAndFolds_areTheUsersWords() {
        Conversation shown = of(user(
                text("<system-reminder>\\ndate\\n</system-reminder>\\n"),
                text("M1\\n"),
                text(FOLD + "M2\\n(host)\\n\\nIMPORTANT: go on.\\n</system-reminder>")));
        assertThat(shown.userTexts()).containsExactly("M1", "M2\n(host)");
        assertThat(shown.holdsOnceInOrder("M1", "M2")).isTrue();
        assertThat(shown.holdsOnceInOrder("M2", "M1")).isFalse();
    }

    @Test
    void count_ofAMessageFoldedIntoAToolResult_isOne() {
        Conversation shown = of(user("{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":[" + text("M1 out")
                + "," + text(FOLD + "M1\\n\\nThis is how.\\n</system-reminder>\\n") + "]}"));
        assertThat(shown.count("M1")).isEqualTo(1);
        assertThat(shown.userTexts()).containsExactly("M1");
        assertThat(shown.toolResults().getFirst().texts()).hasSize(2);
    }

    @Test
    void count_ofADoubledMessage_isTwo() {
        Conversation shown = of(user(text("M1")) + "," + assistant("echo: M1") + "," + user(text("M1")));
        assertThat(shown.count("M1")).isEqualTo(2);
        assertThat(shown.holdsOnceInOrder("M1")).isFalse();
        assertThat(shown.assistantTexts()).containsExactly("echo: M1");
    }

    @Test
    void count_inAReminder_seesTheMarkerToo() {
        assertThat(of(user(text("<system-reminder>\\nsummary of M1\\n</system-reminder>")))
                        .count("M1"))
                .isEqualTo(1);
    }

    @Test
    void count_ofNothing_isRefused() {
        assertThatThrownBy(() -> of(user(text("a"))).count("")).hasMessageContaining("marker is empty");
    }

    @Test
    void of_bareContentAndToolUse_reads() {
        Conversation shown = of("{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"assistant\",\"content\":[{\"type\":"
                + "\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{\"a\":1}}]}");
        assertThat(shown.userTexts()).containsExactly("hi");
        assertThat(shown.toolUses()).containsExactly(new Conversation.Block.ToolUse("t", "n", "{\"a\":1}"));
    }

    @Test
    void allIn_withATornLastLine_givesTheWholeOnes(@TempDir Path directory) throws IOException {
        Path log = directory.resolve("log");
        assertThat(Conversation.lastIn(log)).isEmpty();
        Files.writeString(log, "{\"messages\":[" + user(text("M1")) + "]}\n{\"messages\":[");
        assertThat(Conversation.allIn(log)).hasSize(1);
    }
}
