package dev.holdfast.cli;

import dev.holdfast.JournalException;
import dev.holdfast.JournalReader;
import dev.holdfast.journal.PostgresReader;
import dev.holdfast.journal.SqliteReader;
import dev.holdfast.journal.Verification;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Set;
import java.util.function.Consumer;

/** Looks at the data directory, who has it, and whether every row of its store is as it was written. Makes nothing. */
final class DoctorOfData {
    private static final long ROOM_MIN = 100L << 20;
    private static final int PROBLEMS_SHOWN = 10;
    private static final String DIRECTORY = "data directory";

    private DoctorOfData() {}

    static void examine(GlobalOptions globals, Consumer<Finding> found) {
        Path data;
        Store store;
        try {
            data = globals.data();
            store = globals.store();
        } catch (CommandFailed e) {
            found.accept(Finding.failed(DIRECTORY, String.valueOf(e.getMessage()), ""));
            return;
        }
        Finding directory = directory(data);
        found.accept(directory);
        if (!directory.failed()) {
            found.accept(host(globals));
            found.accept(store(store));
        }
    }

    private static Finding directory(Path data) {
        if (!Files.exists(data)) {
            Path above = data;
            while (above != null && !Files.exists(above)) {
                above = above.getParent();
            }
            return above != null && Files.isDirectory(above) && Files.isWritable(above)
                    ? Finding.ok(DIRECTORY, data + " is made when the first session begins")
                    : Finding.failed(
                            DIRECTORY,
                            data + " cannot be made: " + above + " cannot be written",
                            "Name another with --data or HOLDFAST_DATA.");
        }
        if (!Files.isWritable(data) || !Files.isReadable(data) || !Files.isExecutable(data)) {
            return Finding.failed(
                    DIRECTORY,
                    data + " cannot be read and written by you",
                    "Give it to yourself (chown, chmod 700), or name another with --data.");
        }
        return whoElse(data);
    }

    private static Finding whoElse(Path data) {
        try {
            Set<PosixFilePermission> rights = Files.getPosixFilePermissions(data);
            if (rights.contains(PosixFilePermission.GROUP_WRITE) || rights.contains(PosixFilePermission.OTHERS_WRITE)) {
                return Finding.failed(
                        DIRECTORY, data + " can be written by others", "Take that from them: chmod 700 " + data);
            }
            if (rights.contains(PosixFilePermission.GROUP_READ) || rights.contains(PosixFilePermission.OTHERS_READ)) {
                return Finding.note(
                        DIRECTORY,
                        data + " can be read by others: conversations are in it",
                        "Take that from them: chmod 700 " + data);
            }
            long room = Files.getFileStore(data).getUsableSpace();
            return room < ROOM_MIN
                    ? Finding.note(DIRECTORY, data + " has room for " + (room >> 20) + " MiB more", "Make some.")
                    : Finding.ok(DIRECTORY, data + ", yours alone");
        } catch (UnsupportedOperationException noPosix) {
            return Finding.ok(DIRECTORY, data.toString());
        } catch (IOException e) {
            return Finding.failed(DIRECTORY, data + " cannot be looked at: " + e, "Name another with --data.");
        }
    }

    private static Finding host(GlobalOptions globals) {
        return switch (HostSeen.of(globals)) {
            case HostSeen.None none -> Finding.ok("host", "none runs; the store is free");
            case HostSeen.Elsewhere elsewhere -> Finding.ok("host", "none here; others may share the database");
            case HostSeen.Asked asked -> Finding.ok("host", asked.words());
            case HostSeen.Silent silent ->
                Finding.note("host", silent.words(), "Only one process can own it: end that one, or use its sessions.");
        };
    }

    private static Finding store(Store store) {
        try (JournalReader reader = store.read()) {
            var verified = switch (reader) {
                case SqliteReader embedded -> Waiting.on(embedded.verify());
                case PostgresReader database -> Waiting.on(database.verify());
                default -> throw new IllegalStateException("a reader of another kind: " + reader);
            };
            return told(store, verified);
        } catch (JournalException e) {
            return e.problem() == JournalException.Problem.NOT_FOUND
                    ? Finding.ok("store", "none yet")
                    : Finding.failed("store", String.valueOf(e.getMessage()), "");
        }
    }

    private static Finding told(Store store, Verification verified) {
        String size = "sessions " + verified.sessions() + ", messages " + verified.arrivals() + ", events "
                + verified.events();
        if (verified.sound()) {
            return Finding.ok("store", store.name() + ": " + size + "; every row is as it was written");
        }
        var shown = verified.problems().stream().limit(PROBLEMS_SHOWN).toList();
        int more = verified.problems().size() - shown.size();
        return Finding.failed(
                "store",
                store.name() + ": " + size + "; damaged:\n" + String.join("\n", shown)
                        + (more > 0 ? "\nand " + more + " more" : ""),
                "Stop hosts that use it and restore it from a copy. What is sound can still be saved: holdfast export.");
    }
}
