package dev.holdfast.journal;

import dev.holdfast.Journal;
import dev.holdfast.testkit.JournalConformance;
import java.nio.file.Path;
import java.time.InstantSource;
import org.junit.jupiter.api.io.TempDir;

/** The journal on SQLite does what every journal must. */
class SqliteConformanceTest extends JournalConformance {
    @TempDir
    Path directory;

    @Override
    protected Journal openStore(InstantSource clock) {
        return SqliteJournal.at(
                directory.resolve("data"), JournalOptions.standard().withClock(clock));
    }
}
