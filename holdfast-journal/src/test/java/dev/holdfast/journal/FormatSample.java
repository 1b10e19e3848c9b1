package dev.holdfast.journal;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.holdfast.AddressTerms;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Writes the sample of the current format that {@link FormatTest} reads for ever: run it once when a format is new,
 * with an empty directory and the name of the archive to make.
 */
final class FormatSample {
    static final SessionName CLOSED = new SessionName("closed-1");

    private FormatSample() {}

    public static void main(String[] arguments) throws IOException {
        Path directory = Path.of(arguments[0]);
        JournalOptions options =
                JournalOptions.standard().withClock(() -> Instant.parse("2026-03-01T12:00:00.000001Z"));
        try (SqliteJournal journal = SqliteJournal.at(directory, options)) {
            fill(journal);
        }
        URI archive = URI.create("jar:" + Path.of(arguments[1]).toAbsolutePath().toUri());
        try (FileSystem zip = FileSystems.newFileSystem(archive, Map.of("create", "true"))) {
            for (String name : new String[] {"journal.db", "journal.db-wal", "head"}) {
                Files.copy(directory.resolve(name), zip.getPath(name));
            }
        }
    }

    private static void fill(SqliteJournal journal) {
        StoreFiles.fill(journal, 2);
        JournalFixture.outcome(journal.accept(JournalFixture.keyed("web-1", "with a key")));
        byte[] large = "large ".repeat(12_000).getBytes(UTF_8);
        JournalFixture.outcome(journal.accept(StoreFiles.message(StoreFiles.DESK, large)));
        Claim claim = JournalFixture.outcome(journal.claim(StoreFiles.DESK, JournalFixture.NODE));
        StoreFiles.append(
                claim, BatchDraft.after(0, "one", "two").taken(1, 1, 9).turn(7).snapshot("state two"));
        JournalFixture.outcome(journal.accept(JournalFixture.urgent(ArrivalKind.CANCEL)));
        StoreFiles.append(
                claim, BatchDraft.after(2, "three").taken(1, 1, 9).turn(7).due(Instant.parse("2026-03-01T13:00:00Z")));
        for (String token : List.of("hook", "gone")) {
            JournalFixture.outcome(journal.claimAddress(StoreFiles.DESK, token, AddressTerms.open()));
        }
        JournalFixture.outcome(journal.claimAddress(StoreFiles.DESK, "call", AddressTerms.toolRun()));
        JournalFixture.outcome(journal.releaseAddresses(StoreFiles.DESK, List.of("gone")));
        JournalFixture.outcome(
                journal.accept(JournalFixture.through("hook", JournalFixture.urgent(ArrivalKind.REPLACE))));
        JournalFixture.outcome(journal.open(CLOSED, SessionLimits.standard()));
        Claim closed = JournalFixture.outcome(journal.claim(CLOSED, JournalFixture.NODE));
        StoreFiles.append(
                closed,
                BatchDraft.after(0, "closed")
                        .admitting(false, "over")
                        .summary(new Batch.Summary("CLOSED", "over", Optional.empty(), OptionalLong.of(5), "bye")));
    }
}
