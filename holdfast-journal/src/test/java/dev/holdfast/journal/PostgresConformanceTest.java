package dev.holdfast.journal;

import dev.holdfast.Journal;
import dev.holdfast.testkit.JournalConformance;
import java.time.InstantSource;
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
}
