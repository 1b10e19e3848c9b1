package dev.holdfast.journal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.JournalReader.Selection;
import dev.holdfast.testkit.JournalFixture;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sqlite.SQLiteConfig;

/** The queries of the hot paths walk indexes, so that their cost does not grow with what they do not ask for. */
class QueryPlanTest {
    @TempDir
    Path temp;

    private String plan(String query) throws SQLException {
        Path directory = temp.resolve("data");
        SqliteJournal.at(directory).close();
        StringBuilder plan = new StringBuilder();
        try (Statements sql = new Statements(
                        new SQLiteConfig().createConnection("jdbc:sqlite:" + DataDirectory.database(directory)));
                ResultSet row = sql.prepare("EXPLAIN QUERY PLAN " + query).executeQuery()) {
            while (row.next()) {
                plan.append(row.getString(4)).append('\n');
            }
        }
        return plan.toString();
    }

    @Test
    @Tag("IN-05")
    void urgentHeaders_useTheirOwnIndex() throws SQLException {
        assertThat(plan(Reads.arrivalsQuery(Selection.URGENT_HEADERS)))
                .contains("USING INDEX arrival_urgent")
                .doesNotContain("SCAN");
    }

    @Test
    void pages_useThePrimaryKeys() throws SQLException {
        assertThat(plan(Reads.arrivalsQuery(Selection.WITH_BODIES))).startsWith("SEARCH arrival USING INDEX");
        assertThat(plan(Reads.EVENTS)).startsWith("SEARCH journal USING INDEX");
        assertThat(plan(Reads.SESSIONS)).doesNotContain("TEMP B-TREE").contains("SEARCH s USING INDEX");
    }

    @Test
    @Tag("IN-12")
    void keys_useTheirIndex() throws SQLException {
        assertThat(plan(Acceptance.BY_KEY)).contains("USING INDEX arrival_key");
    }

    @Test
    @Tag("IN-13")
    void lastUrgentArrival_isTheEndOfItsIndex() throws SQLException {
        assertThat(plan("SELECT (" + WriteStore.LAST_URGENT + ") FROM session s WHERE s.sid = 1"))
                .contains("SEARCH a USING COVERING INDEX arrival_urgent")
                .doesNotContain("SCAN a");
    }

    @Test
    @Tag("IN-08")
    void addresses_useTheirIndexes() throws SQLException {
        assertThat(plan(AddressRow.BY_TOKEN)).startsWith("SEARCH address USING INDEX");
        assertThat(plan(AddressRow.CLAIMED))
                .contains("USING INDEX address_claimed")
                .doesNotContain("TEMP B-TREE");
        assertThat(plan(AddressRow.OF_SESSION))
                .contains("USING INDEX address_order")
                .doesNotContain("TEMP B-TREE");
        assertThat(plan(AddressRow.LAST_CLAIM)).contains("SEARCH address USING COVERING INDEX address_order");
        assertThat(plan(AddressClaiming.COUNT)).contains("SEARCH address USING INDEX address_claimed");
    }

    @Test
    void ready_readsNoTableAsAWhole() throws SQLException {
        assertThat(plan(Reads.READY))
                .contains("INDEX session_ready", "INDEX head_due", "INDEX head_turn")
                .doesNotContainPattern("SCAN (session|journal_head)\\n");
        try (SqliteJournal journal = SqliteJournal.at(temp.resolve("data"))) {
            assertThat(JournalFixture.outcome(journal.ready(Instant.EPOCH, 1))).isEmpty();
            assertThat(JournalFixture.outcome(journal.sessions(Optional.empty(), 1)))
                    .isEmpty();
        }
    }
}
