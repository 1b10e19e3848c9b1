package dev.holdfast.journal;

import static dev.holdfast.testkit.JournalFixture.outcome;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Delivery;
import dev.holdfast.Journal;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Several journals on one database, each as a process of its own would open it. */
abstract class PostgresFixture {
    static final SessionName DESK = JournalFixture.DESK;

    @RegisterExtension
    final PostgresSchemas schemas = new PostgresSchemas();

    final String schema = schemas.fresh();
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** Closed after the test, the last one first. */
    <T extends AutoCloseable> T closing(T one) {
        opened.add(one);
        return one;
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    PostgresOptions options() {
        return PostgresOptions.standard().withSchema(schema);
    }

    PostgresJournal journal() {
        return journal(options());
    }

    PostgresJournal journal(PostgresOptions options) {
        return closing(PostgresJournal.at(PostgresServer.url(), options));
    }

    /** A lease that is over soon. */
    PostgresOptions shortLease() {
        return options().withLease(Duration.ofMillis(1_500), Duration.ofMillis(900));
    }

    static void open(Journal journal, SessionName session) {
        outcome(journal.open(session, SessionLimits.standard()));
    }

    static Receipt.Accepted accepted(Journal journal, Delivery delivery) {
        return (Receipt.Accepted) outcome(journal.accept(delivery));
    }

    static Delivery to(SessionName session, String body) {
        return JournalFixture.delivery(session, ArrivalKind.MESSAGE, Optional.empty(), body);
    }

    static Appended append(Claim claim, BatchDraft draft) {
        return outcome(claim.append(draft.batch()));
    }

    static List<Arrival> arrivals(Journal journal, SessionName session) {
        List<Arrival> all = new ArrayList<>();
        List<Arrival> page = outcome(journal.arrivals(session, 0, 10_000, Selection.WITH_BODIES));
        while (!page.isEmpty()) {
            all.addAll(page);
            page = outcome(journal.arrivals(session, all.size(), 10_000, Selection.WITH_BODIES));
        }
        return all;
    }

    static List<String> bodies(Journal journal, SessionName session) {
        return arrivals(journal, session).stream()
                .map(arrival -> new String(arrival.body(), StandardCharsets.UTF_8))
                .toList();
    }

    static List<String> types(Journal journal, SessionName session) {
        return outcome(journal.events(session, 0, 10_000)).stream()
                .map(StoredEvent::event)
                .map(event -> event.type())
                .toList();
    }

    /** Somebody else who holds a row until closed. */
    Connection holding(String table, SessionName session) throws SQLException {
        Connection connection = closing(PostgresServer.admin());
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT * FROM " + schema + "." + table + " WHERE sid = (SELECT sid FROM " + schema
                    + ".session WHERE name = '" + session + "') FOR UPDATE");
        }
        return connection;
    }
}
