package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class TerminalTextTest {
    @Test
    void safe_anyCharacter_leavesNoControlButLineFeedAndTab() {
        for (char c = 0; c < 0x300; c++) {
            String safe = TerminalText.safe("a" + c + "b");
            boolean passes = c == '\n' || c == '\t' || !Character.isISOControl(c);
            assertThat(safe).as("character %04x", (int) c).hasSize(3);
            assertThat(safe.charAt(1) == c).isEqualTo(passes);
        }
        assertThat(TerminalText.safe("a\r\nb\u202ec")).isEqualTo("a\nb\ufffdc");
        assertThat(TerminalText.safe("héllo 漢字 😀")).isEqualTo("héllo 漢字 😀");
    }

    @Test
    void line_longText_isCutBetweenCharacters() {
        assertThat(TerminalText.line(" a\nb ", 10)).isEqualTo("a b");
        assertThat(TerminalText.line("abcdef", 4)).isEqualTo("abc…");
        assertThat(TerminalText.line("ab😀def", 4)).isEqualTo("ab…");
    }
}
