package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Report;
import dev.holdfast.ToolEffects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What the agent asks before it uses a tool of its own (TL-03). */
class GuardDeskTest {
    private final StreamJson codec = new StreamJson(1 << 20);
    private final List<String> written = new ArrayList<>();
    private final List<Report> reports = new ArrayList<>();
    private long now;
    private final GuardDesk desk = new GuardDesk(codec, Set.of("Bash", "Read"), () -> now, written::add, reports::add);

    private Frame.ControlRequest request(String json) {
        return (Frame.ControlRequest) codec.read(json).orElseThrow();
    }

    private void hook(String requestId, String useId, String tool, String command) {
        desk.hook(request("{\"type\":\"control_request\",\"request_id\":\"" + requestId
                + "\",\"request\":{\"subtype\":\"hook_callback\",\"callback_id\":\"holdfast-guard\",\"tool_use_id\":\""
                + useId + "\",\"input\":{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"" + tool
                + "\",\"tool_input\":{\"command\":\"" + command + "\"}}}}"));
    }

    private void prompt(String requestId, String useId, String tool, String command) {
        desk.permission(request("{\"type\":\"control_request\",\"request_id\":\"" + requestId
                + "\",\"request\":{\"subtype\":\"can_use_tool\",\"tool_name\":\"" + tool + "\",\"tool_use_id\":\""
                + useId + "\",\"input\":{\"command\":\"" + command + "\"}}}"));
    }

    private Report.PermissionAsked asked() {
        return (Report.PermissionAsked) reports.getLast();
    }

    @Test
    @Tag("TL-03")
    void use_isReportedOnce_andBothWhoAskAreAnsweredInTheirWords() {
        hook("r1", "u1", "Bash", "ls");
        prompt("r2", "u1", "Bash", "ls");
        assertThat(reports).hasSize(1);
        assertThat(asked())
                .isEqualTo(new Report.PermissionAsked("u1", "Bash", ToolEffects.WRITE, "{\"command\":\"ls\"}"));
        desk.permit("u1", Optional.empty());
        assertThat(written).hasSize(2);
        assertThat(written.getFirst()).contains("r1").contains("\"permissionDecision\":\"allow\"");
        assertThat(written.getLast())
                .contains("r2")
                .contains("\"behavior\":\"allow\"")
                .contains("updatedInput");
    }

    @Test
    @Tag("TL-03")
    void use_thatIsRefused_isRefusedWithItsReason() {
        hook("r1", "u1", "Read", "x");
        assertThat(asked().effects()).isEqualTo(ToolEffects.READ);
        desk.permit("u1", Optional.of("not here"));
        assertThat(written)
                .singleElement()
                .satisfies(line -> assertThat(line)
                        .contains("\"permissionDecision\":\"deny\"")
                        .contains("not here"));
        desk.permit("u1", Optional.empty());
        assertThat(written).as("a second answer").hasSize(1);
    }

    @Test
    @Tag("TL-04")
    void permission_countsForFiveSeconds_andForTheSameInputOnly() {
        hook("r1", "u1", "Bash", "ls");
        desk.permit("u1", Optional.empty());
        prompt("r2", "u1", "Bash", "ls");
        assertThat(written).as("the same use, at once").hasSize(2);
        prompt("r3", "u1", "Bash", "rm");
        assertThat(written).as("another input").hasSize(2);
        assertThat(asked().callId()).isEqualTo("u1~2");
        now += Duration.ofSeconds(6).toNanos();
        prompt("r4", "u1", "Bash", "ls");
        assertThat(written).as("too late").hasSize(2);
        assertThat(asked().callId()).isEqualTo("u1~3");
    }

    @Test
    @Tag("TL-03")
    void tool_thatIsNotBound_isRefusedAtOnce() {
        hook("r1", "u1", "Write", "x");
        assertThat(reports).isEmpty();
        assertThat(written).singleElement().satisfies(line -> assertThat(line).contains("is not bound"));
    }

    @Test
    @Tag("TL-03")
    void use_withoutAnId_getsOneOfOurs() {
        hook("r1", "", "Bash", "ls");
        hook("r2", "", "Bash", "pwd");
        assertThat(reports)
                .extracting(r -> ((Report.PermissionAsked) r).callId())
                .doesNotHaveDuplicates()
                .hasSize(2);
    }

    @Test
    void request_thatIsWithdrawn_isNotAnswered_andReported() {
        hook("r1", "u1", "Bash", "ls");
        desk.cancelled("r1");
        assertThat(reports.getLast()).isEqualTo(new Report.CallWithdrawn("u1"));
        desk.permit("u1", Optional.empty());
        assertThat(written).isEmpty();
    }

    @Test
    void agent_thatIsBeingEnded_isRefusedWhateverItWaitsFor() {
        hook("r1", "u1", "Bash", "ls");
        desk.closing();
        hook("r2", "u2", "Bash", "ls");
        assertThat(written).hasSize(2).allSatisfy(line -> assertThat(line).contains("deny"));
    }
}
