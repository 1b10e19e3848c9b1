package dev.holdfast.cli;

import dev.holdfast.server.Call;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code holdfast export}. */
@Command(
        name = "export",
        sortOptions = false,
        description = "Writes a whole session into one file, to be imported into another store.")
final class ExportCommand extends SessionCommand {
    @Parameters(index = "0", paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Parameters(index = "1", paramLabel = "FILE", description = "A new file, or '-' for standard output.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String file;

    @Override
    int act(Reach reach) {
        String name = name(session);
        var call = Call.get("sessions", name, "export");
        var answer = reach.ask(call, Reach.PATIENCE);
        if (answer.refused()) {
            throw refused(read(answer), call);
        }
        if (file.equals("-")) {
            globals().shell().write(answer.body());
            return Exit.OK;
        }
        write(answer.body());
        var screen = globals().screen();
        if (screen.json()) {
            screen.object(Map.of("session", name, "file", file, "bytes", answer.body().length));
        } else {
            screen.line(
                    Screen.Style.PLAIN,
                    "Session " + name + " is in " + file + " (" + answer.body().length + " bytes); it stays here too.");
            screen.line(
                    Screen.Style.PLAIN,
                    "Close it here before it goes on elsewhere: holdfast import " + file + " in the other store.");
        }
        return Exit.OK;
    }

    /** For its user alone: it holds the whole conversation. */
    private void write(byte[] document) {
        var options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        var mode = new FileAttribute<?>[] {
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        };
        try (var channel = Files.newByteChannel(Path.of(file), options, mode);
                var out = Channels.newOutputStream(channel)) {
            out.write(document);
        } catch (FileAlreadyExistsException e) {
            throw new CommandFailed(Exit.USAGE, "usage", "there is a file " + file + " already: name a new one");
        } catch (IOException e) {
            throw new CommandFailed(Exit.USAGE, "usage", "the file " + file + " cannot be written: " + why(e));
        }
    }
}
