package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast import}. */
@Command(
        name = "import",
        sortOptions = false,
        description = "Stores an exported session under a free name, whole or not at all.")
final class ImportCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "FILE", description = "What 'holdfast export' wrote.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Path file;

    @Option(names = "--as", paramLabel = "NAME", description = "Its name here. Default: the one it had.")
    private Optional<String> as = Optional.empty();

    @Override
    Reach.Missing missing() {
        return Reach.Missing.IS_MADE;
    }

    private byte[] document() {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new CommandFailed(Exit.USAGE, "usage", "the file " + file + " cannot be read: " + why(e));
        }
    }

    @Override
    int act(Reach reach) {
        var call = Call.document(document(), "sessions");
        if (as.isPresent()) {
            call = call.asking("as", name(as.get()));
        }
        var answer = ask(reach, call, Duration.ofMinutes(5));
        String name = answer.path("session").asString();
        tell(answer, "Session " + name + " is stored, with everything it had. It goes on with: holdfast chat " + name);
        return Exit.OK;
    }
}
