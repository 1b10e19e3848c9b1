package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Knowledge;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Secrets in what is recorded (TL-08), and the switch that stops all tools (TL-04). */
class RedactionTest {
    @Test
    @Tag("TL-08")
    void registeredValue_isTakenOut_alsoAsItStandsInJson() {
        var redaction = new Redaction(DoorRules.standard().secrets("a\"secret", "longer a\"secret here"));
        assertThat(redaction.text("x a\"secret y")).isEqualTo("x [redacted] y");
        assertThat(redaction.text("{\"k\":\"a\\\"secret\"}")).isEqualTo("{\"k\":\"[redacted]\"}");
        assertThat(redaction.text("longer a\"secret here")).isEqualTo("[redacted]");
        var report = (Report.Noticed) redaction.report(new Report.Noticed("what", "with a\"secret"));
        assertThat(report.detail()).isEqualTo("with [redacted]");
    }

    @Test
    @Tag("TL-08")
    void valueOfASecretField_isTakenOut_howeverDeepItLies() {
        var redaction = new Redaction(DoorRules.standard().secretFields("pin"));
        redaction.look(
                "{\"user\":\"ann\",\"login\":[{\"Password\":\"hunter22\",\"pin\":123456}],\"token\":{\"v\":\"tok-1\"}}");
        assertThat(redaction.text("ann hunter22 123456 tok-1")).isEqualTo("ann [redacted] [redacted] [redacted]");
    }

    @Test
    @Tag("TL-08")
    void registeredValue_isTakenOutOfTheResult_thatTheAgentsRecordTells() {
        var redaction = new Redaction(DoorRules.standard().secrets("sesame!"));
        var result = new TurnResult(
                TurnResult.Ending.ANSWERED, "with sesame!", "", Usage.unknown(), List.of(), "", "", false);
        var known = new Knowledge(
                Knowledge.RecordState.PRESENT, 0, List.of(), List.of(), new Knowledge.Tail.Answered(result));
        assertThat(redaction.report(new Report.Known(known)).toString())
                .contains("with [redacted]")
                .doesNotContain("sesame!");
    }

    @Test
    void valueThatIsTooShort_isLeftAlone_andCannotBeRegistered() {
        var redaction = new Redaction(DoorRules.standard());
        redaction.look("{\"password\":\"ab\"}");
        assertThat(redaction.text("about")).isEqualTo("about");
        assertThatThrownBy(() -> DoorRules.standard().secrets("abc"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("abc");
        assertThat(DoorRules.standard().secrets("sesame!").toString()).doesNotContain("sesame");
    }

    @Test
    @Tag("TL-04")
    void toolSwitch_isAPrivateFile_thatEveryProgramSees(@TempDir Path home) throws Exception {
        var tools = ToolSwitch.in(home);
        assertThat(tools.stopped()).isEmpty();
        tools.stop("");
        assertThat(ToolSwitch.in(home).stopped()).contains("no reason was given");
        tools.stop("a reason");
        assertThat(ToolSwitch.in(home).stopped()).contains("a reason");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(home.resolve("tools.stopped"))))
                .isEqualTo("rw-------");
        tools.go();
        tools.go();
        assertThat(tools.stopped()).isEmpty();
        try (var left = Files.list(home)) {
            assertThat(left).isEmpty();
        }
    }
}
