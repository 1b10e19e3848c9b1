package dev.holdfast.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Journal;
import dev.holdfast.testkit.JournalConformance;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The journal on PostgreSQL does what every journal must. */
class PostgresConformanceTest extends JournalConformance {
    @RegisterExtension
    final PostgresSchemas schemas = new PostgresSchemas();

    private final String schema = schemas.fresh();
    private final String second = schemas.fresh();

    private static Journal open(String schema, InstantSource clock) {
        return PostgresJournal.at(PostgresServer.url(), PostgresServer.options(schema, clock));
    }

    @Override
    protected Journal openStore(InstantSource clock) {
        return open(schema, clock);
    }

    @Override
    protected Journal openTarget(InstantSource clock) {
        return open(second, clock);
    }

    /** Whatever a test did, what is stored is what was written, and every sum is right. */
    @AfterEach
    void verify() {
        for (Journal store : List.of(journal, target)) {
            assertThat(now(((PostgresJournal) store).verify()).problems()).isEmpty();
        }
    }
}
