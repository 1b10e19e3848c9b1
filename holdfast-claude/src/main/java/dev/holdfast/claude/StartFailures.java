package dev.holdfast.claude;

import dev.holdfast.Report;
import java.util.List;

/** Which failure a start that came to nothing is. */
final class StartFailures {
    private StartFailures() {}

    static HeldFailure of(HeldProcess started, Report.Ended ended) {
        String why = ended.why();
        Report.Mismatch tools = started.mismatch;
        return switch (ended.fatal()) {
            case "not_found" -> new HeldFailure.CliNotFound(why);
            case "not_logged_in" -> new HeldFailure.NotLoggedIn(why);
            case "wrong_version" -> new HeldFailure.WrongVersion(why);
            case "tools_mismatch" ->
                new HeldFailure.ToolsMismatch(
                        why, tools == null ? List.of() : tools.missing(), tools == null ? List.of() : tools.surplus());
            default ->
                started.hungAt.isEmpty()
                        ? new HeldFailure.StartFailed(why, ended.stderrTail())
                        : new HeldFailure.StartTimedOut(started.hungAt, why);
        };
    }
}
