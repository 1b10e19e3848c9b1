package dev.holdfast.journal;

import static dev.holdfast.testkit.JournalFixture.assertFails;
import static dev.holdfast.testkit.JournalFixture.message;
import static dev.holdfast.testkit.JournalFixture.outcome;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AddressTerms;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.EventRecord;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The database of a {@link PostgresJournal}: how it is made, what stands in it, and what is refused. */
class PostgresStoreTest extends PostgresFixture {
    @TempDir
    Path temp;

    private static Set<String> read(Connection connection, String query) throws SQLException {
        Set<String> found = new TreeSet<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            while (row.next()) {
                found.add(row.getString(1));
            }
        }
        return found;
    }

    /** With the schema's name for each {@code @}. */
    private String run(String sql) {
        return PostgresServer.run(sql.replace("@", schema));
    }

    @Test
    void tables_columnsAndIndexes_areThoseOfSqliteAndTheNodes() throws SQLException {
        journal();
        Path directory = temp.resolve("data");
        SqliteJournal.at(directory).close();
        Set<String> columns;
        Set<String> indexes;
        try (Connection sqlite = DriverManager.getConnection("jdbc:sqlite:" + DataDirectory.database(directory))) {
            columns = read(
                    sqlite,
                    "SELECT t.name || '.' || c.name || CASE WHEN c.type = 'INTEGER' THEN ' number' ELSE ' bytes' END"
                            + " || CASE WHEN c.\"notnull\" OR c.pk THEN '' ELSE ' maybe' END"
                            + " FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'");
            indexes = read(
                    sqlite,
                    "SELECT name || ' ' || coalesce(substr(sql, instr(sql, ' WHERE ')), '') FROM sqlite_schema"
                            + " WHERE type = 'index' AND sql LIKE '% WHERE %' UNION SELECT name || ' ' FROM"
                            + " sqlite_schema WHERE type = 'index' AND sql NOT LIKE '% WHERE %'");
        }
        columns.addAll(Set.of("node.node bytes", "node.incarnation number", "node.lease_until number"));
        try (Connection postgres = PostgresServer.admin()) {
            assertThat(read(
                            postgres,
                            "SELECT table_name || '.' || column_name || CASE WHEN data_type = 'bigint' THEN ' number'"
                                    + " ELSE ' bytes' END || CASE WHEN is_nullable = 'NO' THEN '' ELSE ' maybe' END"
                                    + " FROM information_schema.columns WHERE table_schema = '" + schema + "'"))
                    .isEqualTo(columns);
            assertThat(read(
                            postgres,
                            "SELECT indexname || ' ' || coalesce(substr(indexdef,"
                                    + " nullif(position(' WHERE ' IN indexdef), 0)), '') FROM pg_indexes"
                                    + " WHERE schemaname = '" + schema
                                    + "' AND indexname !~ '_(pkey|name_key)$'"))
                    .map(index -> index.replace(" WHERE (", " WHERE ").replaceFirst("\\)$", ""))
                    .containsExactlyInAnyOrderElementsOf(indexes);
        }
    }

    @Test
    @Tag("IN-16")
    void at_severalProcessesAtOnce_makeOneStore() {
        List<CompletableFuture<String>> ids = IntStream.range(0, 6)
                .mapToObj(i -> {
                    CompletableFuture<String> id = new CompletableFuture<>();
                    Thread.ofPlatform().start(() -> {
                        try {
                            PostgresJournal one = PostgresJournal.at(PostgresServer.url(), options());
                            id.complete(one.storeId());
                            one.close();
                        } catch (RuntimeException e) {
                            id.completeExceptionally(e);
                        }
                    });
                    return id;
                })
                .toList();
        assertThat(ids.stream().map(JournalFixture::outcome).distinct()).hasSize(1);
        assertThat(journal().storeId()).hasSize(32).isEqualTo(outcome(ids.getFirst()));
        assertThat(journal().directory()).isEmpty();
    }

    @Test
    @Tag("LV-07")
    void readOnly_seesWhatAHostKeeps_andMakesNothing() {
        assertThatThrownBy(() -> PostgresJournal.readOnly(PostgresServer.url(), options()))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.NOT_FOUND));
        assertThat(PostgresServer.run("SELECT count(*) FROM pg_namespace WHERE nspname = '" + schema + "'"))
                .isEqualTo("0");
        PostgresJournal journal = journal();
        open(journal, DESK);
        accepted(journal, message("hello"));
        outcome(journal.claimAddress(DESK, "token", AddressTerms.open()));
        append(outcome(journal.claim(DESK, new Node("node"))), BatchDraft.after(0, "a", "b"));
        run("DROP ROLE IF EXISTS looker");
        run("CREATE ROLE looker LOGIN PASSWORD 'looker'");
        run("GRANT USAGE ON SCHEMA @ TO looker");
        run("GRANT SELECT ON ALL TABLES IN SCHEMA @ TO looker");
        String url = "postgresql://looker:looker@localhost:" + PostgresServer.port() + "/postgres";
        PostgresReader reader = closing(PostgresJournal.readOnly(url, options()));
        assertThat(reader.storeId()).isEqualTo(journal.storeId());
        assertThat(outcome(reader.sessions(Optional.empty(), 10)))
                .singleElement()
                .isEqualTo(outcome(journal.session(DESK)).orElseThrow())
                .isEqualTo(outcome(reader.session(DESK)).orElseThrow());
        assertThat(outcome(reader.events(DESK, 0, 10))).hasSize(2);
        assertThat(outcome(reader.arrivals(DESK, 0, 10, Selection.WITH_BODIES))).hasSize(1);
        assertThat(outcome(reader.addresses(DESK))).isEqualTo(outcome(journal.addresses(DESK)));
        assertThat(outcome(reader.address("token"))).isPresent();
        assertThat(outcome(reader.verify()).sound()).isTrue();
        reader.close();
        assertFails(Problem.STOPPED, reader.session(DESK));
        run("DROP OWNED BY looker");
    }

    @Test
    @Tag("LV-07")
    void at_aNewerFormat_isRefusedAndChangesNothing() {
        journal().close();
        run("UPDATE @.meta SET value = '99' WHERE name = 'format'");
        assertThatThrownBy(this::journal)
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.NEWER_FORMAT))
                .hasMessageContaining("99");
        assertThat(run("SELECT convert_from(value, 'UTF8') FROM @.meta WHERE name = 'format'"))
                .isEqualTo("99");
    }

    @Test
    void at_aPlaceWithoutAStore_failsByNameAndTellsNoPassword() {
        String server = "localhost:" + PostgresServer.port();
        assertThatThrownBy(() -> PostgresJournal.at("postgresql://postgres:secret@" + server + "/nowhere"))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.NOT_FOUND))
                .hasMessageContaining("nowhere")
                .message()
                .doesNotContain("secret");
        assertThatThrownBy(() -> PostgresJournal.at("postgresql://postgres:secret@localhost:1/postgres"))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.FAILED))
                .message()
                .contains("localhost:1")
                .doesNotContain("secret");
        assertThatThrownBy(() -> PostgresJournal.at("mysql://root:secret@localhost/x"))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .doesNotContain("secret");
    }

    @Test
    void url_inBothForms_isWhatTheDriverWants() {
        PostgresUrl url = PostgresUrl.of("postgres://us%40er:p%3Aw+%C3%BC@db.example:5433/desk?sslmode=require");
        assertThat(url.jdbc()).isEqualTo("jdbc:postgresql://db.example:5433/desk?sslmode=require");
        assertThat(url.credentials()).containsEntry("user", "us@er").containsEntry("password", "p:w+ü");
        assertThat(url).hasToString("postgresql://db.example:5433/desk?sslmode=require");
        assertThat(PostgresUrl.of("postgresql://a,b:5433/x?connect_timeout=3").jdbc())
                .isEqualTo("jdbc:postgresql://a,b:5433/x?connectTimeout=3&targetServerType=primary");
        assertThat(PostgresUrl.of("postgresql:///desk").jdbc()).isEqualTo("jdbc:postgresql://localhost/desk");
        assertThat(PostgresUrl.of("jdbc:postgresql://h/d?user=u&password=secret"))
                .hasToString("postgresql://h/d?user=u&password=***");
        assertThat(PostgresUrl.of("jdbc:postgresql://u:secret@h/d")).hasToString("postgresql://***@h/d");
    }

    @Test
    @Tag("P1")
    @Tag("P4")
    void connections_areDurableAndHaveTheirTimeLimits_whateverTheServerSays() throws SQLException {
        journal();
        assertThat(run("SHOW synchronous_commit")).as("what this server says").isEqualTo("off");
        PostgresUrl url = PostgresUrl.of(PostgresServer.url());
        try (PostgresConnections connections = new PostgresConnections(url, options(), 1)) {
            for (int round = 0; round < 2; round++) {
                try (Connection connection = connections.take()) {
                    assertThat(read(connection, "SHOW synchronous_commit")).containsExactly("on");
                    assertThat(read(connection, "SHOW statement_timeout")).containsExactly("15s");
                    assertThat(read(connection, "SHOW lock_timeout")).containsExactly("15s");
                    assertThat(read(connection, "SHOW idle_in_transaction_session_timeout"))
                            .containsExactly("5s");
                    assertThat(read(connection, "SHOW tcp_user_timeout")).containsExactly("10000");
                    assertThat(read(connection, "SHOW search_path")).containsExactly(schema);
                    assertThat(connection.getNetworkTimeout()).isEqualTo(20_000);
                    connection.rollback();
                }
            }
        }
    }

    @Test
    void bodiesAndWords_withNulCharacters_areReadBackAsTheyWere() {
        PostgresJournal journal = journal();
        open(journal, DESK);
        String odd = "a\u0000b \uD83D\uDE00 \u0000";
        byte[] bytes = odd.getBytes(UTF_8);
        Delivery delivery = new Delivery(
                DESK, JournalFixture.messageId(), ArrivalKind.MESSAGE, Optional.of(odd), bytes, bytes, bytes);
        accepted(journal, delivery);
        outcome(journal.claimAddress(DESK, odd, AddressTerms.open()));
        Claim claim = outcome(journal.claim(DESK, new Node("node")));
        append(
                claim,
                BatchDraft.of(0, new EventRecord(odd, 1, OptionalLong.empty(), bytes))
                        .admitting(false, odd)
                        .summary(new Batch.Summary(odd, odd, Optional.empty(), OptionalLong.empty(), odd)));
        assertThat(bodies(journal, DESK)).containsExactly(odd);
        assertThat(arrivals(journal, DESK).getFirst().header()).isEqualTo(bytes);
        assertThat(types(journal, DESK)).containsExactly(odd);
        assertThat(outcome(journal.address(odd)).orElseThrow().token()).isEqualTo(odd);
        assertThat(outcome(journal.session(DESK)).orElseThrow()).satisfies(summary -> {
            assertThat(summary.admissionReason()).isEqualTo(odd);
            assertThat(summary.summary().lastWords()).isEqualTo(odd);
            assertThat(summary.summary().phase()).isEqualTo(odd);
        });
        assertThatThrownBy(() -> journal.claim(DESK, new Node("no\u0000de")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Tag("LV-09")
    void rows_thatAreNotWhatWasWritten_areReportedByName() {
        PostgresJournal journal = journal();
        open(journal, DESK);
        accepted(journal, message("one"));
        accepted(journal, message("x".repeat(70_000)));
        outcome(journal.claimAddress(DESK, "token", AddressTerms.open()));
        append(outcome(journal.claim(DESK, new Node("node"))), BatchDraft.after(0, "a", "b", "c"));
        run("UPDATE @.arrival SET body = 'two' WHERE no = 1");
        assertFails(Problem.DAMAGED, journal.arrivals(DESK, 0, 1, Selection.WITH_BODIES));
        run("UPDATE @.arrival SET accepted_at = 1 WHERE no = 1");
        assertFails(Problem.DAMAGED, journal.arrivals(DESK, 0, 1, Selection.HEADERS));
        run("UPDATE @.blob SET bytes = substr(bytes, 2)");
        assertFails(Problem.DAMAGED, journal.arrivals(DESK, 1, 1, Selection.WITH_BODIES));
        run("DELETE FROM @.blob");
        assertFails(Problem.DAMAGED, journal.arrivals(DESK, 1, 1, Selection.WITH_BODIES));
        run("DELETE FROM @.arrival WHERE no = 2");
        assertFails(Problem.DAMAGED, journal.arrivals(DESK, 1, 1, Selection.HEADERS));
        run("UPDATE @.journal SET type = 'z' WHERE seq = 3");
        assertFails(Problem.DAMAGED, journal.events(DESK, 2, 1));
        run("DELETE FROM @.journal WHERE seq = 2");
        assertFails(Problem.DAMAGED, journal.events(DESK, 0, 3));
        run("UPDATE @.address SET once = 1");
        assertFails(Problem.DAMAGED, journal.address("token"));
        assertThat(outcome(journal.verify()).problems()).hasSizeGreaterThanOrEqualTo(6);
    }

    @Test
    void accept_thatCannotBeStored_harmsNobodyAndItsErrorTellsNoContent() {
        PostgresJournal journal = journal();
        open(journal, DESK);
        run("ALTER TABLE @.arrival ADD CHECK (bytes < 10)");
        List<CompletionStage<Receipt>> sent = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            sent.add(journal.accept(message(i % 5 == 3 ? "a secret in many words" : "m" + i)));
        }
        for (int i = 0; i < 20; i++) {
            CompletionStage<Receipt> stage = sent.get(i);
            if (i % 5 == 3) {
                assertThatThrownBy(() -> outcome(stage))
                        .isInstanceOf(JournalException.class)
                        .rootCause()
                        .message()
                        .doesNotContain("secret")
                        .doesNotContain("736563726574");
                assertThatThrownBy(() -> outcome(stage)).message().doesNotContain("736563726574");
            } else {
                assertThat(outcome(stage)).isInstanceOf(Receipt.Accepted.class);
            }
        }
        assertThat(bodies(journal, DESK)).hasSize(16);
    }

    @Test
    @Tag("P4")
    void accept_whenTheTablesAreGone_failsByNameAtOnce() {
        PostgresJournal journal = journal();
        open(journal, DESK);
        run("DROP SCHEMA @ CASCADE");
        assertFails(Problem.FAILED, journal.accept(message("lost")));
        assertFails(Problem.FAILED, journal.session(DESK));
    }
}
