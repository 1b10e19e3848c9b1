package dev.holdfast.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Journal;
import dev.holdfast.testkit.JournalConformance;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** The journal on SQLite does what every journal must. */
class SqliteConformanceTest extends JournalConformance {
    @TempDir
    Path directory;

    private Journal open(String name, InstantSource clock) {
        return SqliteJournal.at(
                directory.resolve(name), JournalOptions.standard().withClock(clock));
    }

    @Override
    protected Journal openStore(InstantSource clock) {
        return open("data", clock);
    }

    @Override
    protected Journal openTarget(InstantSource clock) {
        return open("target", clock);
    }

    /** Whatever a test did, what is stored is what was written, and every sum is right. */
    @AfterEach
    void verify() {
        for (Journal store : List.of(journal, target)) {
            assertThat(now(((SqliteJournal) store).verify()).problems()).isEmpty();
        }
    }
}
