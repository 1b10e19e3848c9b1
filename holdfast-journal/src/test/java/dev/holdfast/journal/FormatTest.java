package dev.holdfast.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Address;
import dev.holdfast.AddressTerms;
import dev.holdfast.Arrival;
import dev.holdfast.Claim;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Receipt;
import dev.holdfast.SessionSummary;
import dev.holdfast.StoredEvent;
import dev.holdfast.testkit.JournalFixture;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores of every format that was ever released are read. */
class FormatTest {
    @TempDir
    Path temp;

    private Path unpacked(int format) throws IOException {
        Path directory = Files.createDirectory(temp.resolve("format-" + format));
        StoreFiles.run("chmod", "700", directory.toString());
        String name = "format-" + format + ".zip";
        try (InputStream in = FormatTest.class.getResourceAsStream(name)) {
            assertThat(in).as("the sample %s: see FormatSample", name).isNotNull();
            ZipInputStream zip = new ZipInputStream(in);
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                Files.write(directory.resolve(entry.getName()), zip.readAllBytes());
            }
        }
        return directory;
    }

    @Test
    @Tag("MB-17")
    void samples_ofEveryFormat_openAndAreWhole() throws IOException {
        for (int format = 1; format <= Migrations.LATEST; format++) {
            try (SqliteJournal journal = SqliteJournal.at(unpacked(format))) {
                Verification found = JournalFixture.outcome(journal.verify());
                assertThat(found.problems()).isEmpty();
                assertThat(found.sessions()).isEqualTo(2);
                check(journal);
            }
        }
    }

    private static void check(SqliteJournal journal) {
        List<Arrival> arrivals =
                JournalFixture.outcome(journal.arrivals(StoreFiles.DESK, 0, 10, Selection.WITH_BODIES));
        assertThat(arrivals).hasSize(6);
        assertThat(new String(arrivals.get(1).body(), UTF_8)).isEqualTo("message 2");
        assertThat(arrivals.get(3).body()).hasSize(72_000);
        assertThat(arrivals.get(4).boundTurn()).isEqualTo(OptionalLong.of(7));
        assertThat(arrivals.get(4).boundAfter()).isEqualTo(1);
        assertThat(JournalFixture.outcome(journal.accept(JournalFixture.keyed("web-1", "with a key"))))
                .isEqualTo(
                        new Receipt.Duplicate(arrivals.get(2).id(), 3, Instant.parse("2026-03-01T12:00:00.000001Z")));
        assertThat(JournalFixture.outcome(journal.addresses(StoreFiles.DESK)))
                .extracting(Address::token)
                .containsExactly("hook", "call");
        assertThat(JournalFixture.outcome(journal.address("call")))
                .hasValueSatisfying(address -> assertThat(address.terms()).isEqualTo(AddressTerms.toolRun()));
        assertThat(JournalFixture.outcome(journal.address("gone")))
                .hasValueSatisfying(
                        address -> assertThat(address.releasedThrough()).hasValue(5));
        Claim.Recovered recovered = JournalFixture.outcome(journal.claim(StoreFiles.DESK, JournalFixture.NODE))
                .recovered();
        assertThat(recovered.snapshot())
                .hasValueSatisfying(snapshot ->
                        assertThat(new String(snapshot.body(), UTF_8)).isEqualTo("state two"));
        assertThat(recovered.tail()).extracting(StoredEvent::seq).containsExactly(3L);
        SessionSummary closed =
                JournalFixture.outcome(journal.session(FormatSample.CLOSED)).orElseThrow();
        assertThat(closed.admissionReason()).isEqualTo("over");
        assertThat(closed.summary().lastWords()).isEqualTo("bye");
        assertThat(JournalFixture.outcome(journal.ready(Instant.parse("2026-03-01T14:00:00Z"), 10)))
                .containsExactly(StoreFiles.DESK);
    }

    @Test
    void script_isSplitAtLinesThatEndAStatement() {
        assertThat(Migrations.statements("""
                        -- a comment; with a semicolon
                        CREATE TABLE a (
                          b INTEGER  -- one more;
                        );

                        CREATE INDEX c ON a(b);
                        """))
                .containsExactly("CREATE TABLE a (\n  b INTEGER\n);\n", "CREATE INDEX c ON a(b);\n");
    }
}
