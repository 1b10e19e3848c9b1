package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code holdfast withdraw}. */
@Command(
        name = "withdraw",
        sortOptions = false,
        description = "Takes a waiting message out of the queue; exactly one of this and its turn wins.")
final class WithdrawCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Parameters(index = "1", paramLabel = "N", description = "The message's number.")
    private long number;

    @Override
    int act(Reach reach) {
        String name = name(session);
        var answer = ask(reach, Call.post(Map.of("message", number), "sessions", name, "withdraw"));
        tell(
                answer,
                answer.path("withdrawn").asBoolean()
                        ? "Message " + number + " of session " + name + " is withdrawn; its sender sees WITHDRAWN."
                        : "That message " + number + " of session " + name + " be withdrawn is stored.",
                answer.path("pending").asBoolean() ? later(answer, name, "it is decided") : "");
        return Exit.OK;
    }
}
