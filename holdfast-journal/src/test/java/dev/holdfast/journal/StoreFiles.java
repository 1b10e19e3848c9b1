package dev.holdfast.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.Journal;
import dev.holdfast.JournalReader;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.MessageId;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.sqlite.SQLiteConfig;

/** What the tests of the SQLite store do to its files, and the few calls they all make. */
final class StoreFiles {
    static final SessionName DESK = JournalFixture.DESK;

    private StoreFiles() {}

    /** Opens the session and accepts {@code count} messages, each in a commit of its own. */
    static List<Receipt> fill(Journal journal, int count) {
        JournalFixture.outcome(journal.open(DESK, SessionLimits.standard()));
        List<Receipt> receipts = new ArrayList<>();
        for (int i = 1; i <= count; i++) {
            receipts.add(JournalFixture.outcome(journal.accept(message("message " + i))));
        }
        return receipts;
    }

    static Delivery message(String text) {
        return message(DESK, text.getBytes(UTF_8));
    }

    static Delivery message(SessionName session, byte[] body) {
        MessageId id = new MessageId(UUID.randomUUID());
        return new Delivery(session, id, ArrivalKind.MESSAGE, Optional.empty(), new byte[32], new byte[] {1}, body);
    }

    static Claim.Appended append(Claim claim, BatchDraft draft) {
        return JournalFixture.outcome(claim.append(draft.batch()));
    }

    static List<Long> numbers(JournalReader reader) {
        List<Long> numbers = new ArrayList<>();
        List<Arrival> page = JournalFixture.outcome(reader.arrivals(DESK, 0, 10_000, Selection.WITH_BODIES));
        while (!page.isEmpty()) {
            page.forEach(arrival -> numbers.add(arrival.number()));
            page = JournalFixture.outcome(reader.arrivals(DESK, numbers.getLast(), 10_000, Selection.WITH_BODIES));
        }
        return numbers;
    }

    /** Runs a program to its end. Java itself must not open the files of an open database, see DataDirectory. */
    static String run(String... command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes(), UTF_8);
            if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IllegalStateException(String.join(" ", command) + ": " + output);
            }
            return output;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The directory as a kill -9 at this moment would leave it. */
    static Path killedCopy(Path directory, String name) {
        Path copy = directory.resolveSibling(name);
        run("cp", "-r", directory.toString(), copy.toString());
        delete(DataDirectory.shm(copy));
        return copy;
    }

    static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void write(Path file, byte[] bytes) {
        try {
            Files.write(file, bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Flips one bit of the first place where {@code text} stands in the file. */
    static void flip(Path file, String text) {
        byte[] bytes = read(file);
        byte[] wanted = text.getBytes(UTF_8);
        int at = find(bytes, wanted);
        assertThat(at).as("'%s' in %s", text, file).isNotNegative();
        bytes[at] ^= 4;
        write(file, bytes);
    }

    private static int find(byte[] bytes, byte[] wanted) {
        for (int i = 0; i + wanted.length <= bytes.length; i++) {
            int matched = 0;
            while (matched < wanted.length && bytes[i + matched] == wanted[matched]) {
                matched++;
            }
            if (matched == wanted.length) {
                return i;
            }
        }
        return -1;
    }

    static long head(Path directory) {
        return ByteBuffer.wrap(read(DataDirectory.head(directory))).getLong();
    }

    /** Changes a store that is open, as an operator's shell would. */
    static void besideOwner(Path directory, String statement) {
        try (Statements open = new Statements(
                new SQLiteConfig().createConnection("jdbc:sqlite:" + DataDirectory.database(directory)))) {
            open.run(statement);
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    /** Changes a store that nobody has open, and leaves it as a clean end does. */
    static void sql(Path directory, String... statements) {
        try (Statements open = new Statements(
                new SQLiteConfig().createConnection("jdbc:sqlite:" + DataDirectory.database(directory)))) {
            for (String statement : statements) {
                open.run(statement);
            }
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        write(DataDirectory.wal(directory), new byte[0]);
    }

    /** Names and contents of all files but SQLite's -shm and the lock, which name who looks and not what is there. */
    static Map<String, String> contents(Path directory) {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(directory)) {
            files.filter(Files::isRegularFile).forEach(file -> {
                String name = directory.relativize(file).toString();
                if (!name.endsWith("-shm") && !name.equals("lock") && !name.startsWith("run")) {
                    contents.put(name, java.util.Base64.getEncoder().encodeToString(read(file)));
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return contents;
    }

    /** Ends the test, saying on the terminal why it cannot run here. */
    static void cannotRun(String test, String why) {
        System.out.println("NOT RUN " + test + ": " + why);
        Assumptions.abort(why);
    }

    static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    /** Starts a JVM with the given main class of the tests. */
    static Process java(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(List.of("-Xmx256m", "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp"));
        command.add(String.join(
                ":",
                "target/test-classes",
                System.getProperty("jdk.module.path", ""),
                System.getProperty("java.class.path")));
        command.add(main.getName());
        command.addAll(List.of(arguments));
        try {
            return new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGKILL; what the process wrote can still be read, which {@link Process#destroyForcibly} would prevent. */
    static void kill(Process process) {
        process.toHandle().destroyForcibly();
        CompletableFuture<Process> end = process.onExit();
        end.orTimeout(30, TimeUnit.SECONDS).join();
    }
}
