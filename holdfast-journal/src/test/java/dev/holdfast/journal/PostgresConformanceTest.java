package dev.holdfast.journal;

import dev.holdfast.Journal;
import dev.holdfast.testkit.JournalConformance;
import java.time.InstantSource;

/** The journal on PostgreSQL does what every journal must. */
class PostgresConformanceTest extends JournalConformance {
    private final String schema = PostgresServer.newSchema();

    @Override
    protected Journal openStore(InstantSource clock) {
        return PostgresJournal.at(
                PostgresServer.url(),
                PostgresOptions.standard()
                        .withSchema(schema)
                        .withJournal(JournalOptions.standard().withClock(clock)));
    }
}
