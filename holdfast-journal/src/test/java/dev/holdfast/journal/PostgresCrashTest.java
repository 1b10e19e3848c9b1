package dev.holdfast.journal;

import static dev.holdfast.testkit.JournalFixture.assertFails;
import static dev.holdfast.testkit.JournalFixture.outcome;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Arrival;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import dev.holdfast.StoredEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Another process owns a session, and is killed. */
class PostgresCrashTest extends PostgresFixture {
    private static final int ROUNDS = 3;
    private static final int ACKNOWLEDGEMENTS = 200;

    private static void read(BufferedReader lines, int most, Set<Long> arrivals, Set<Long> events) throws IOException {
        int read = 0;
        for (String line = lines.readLine(); line != null && read < most; line = lines.readLine()) {
            if (line.matches("[ae] [0-9]+")) { // the logs of the libraries come here as well
                (line.startsWith("a") ? arrivals : events).add(Long.valueOf(line.substring(2)));
                read++;
            }
        }
    }

    @Test
    @Tag("P1")
    @Tag("P3")
    void kill_ofTheOwnersProcess_losesNothingAcknowledgedAndLetsTheNextOwnerIn() throws IOException {
        PostgresJournal beside = journal(PostgresChild.options(schema));
        open(beside, DESK);
        Set<Long> arrivals = new HashSet<>();
        Set<Long> events = new HashSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            // A child that finds the session owned by the one before it ends at once.
            await().atMost(Duration.ofSeconds(20))
                    .until(() -> PostgresServer.run("SELECT count(*) FROM " + schema
                                    + ".node WHERE node LIKE 'child-%'"
                                    + " AND lease_until > extract(epoch FROM clock_timestamp()) * 1000000")
                            .equals("0"));
            Process child = StoreFiles.java(PostgresChild.class, PostgresServer.url(), schema);
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(child.getInputStream(), US_ASCII))) {
                read(lines, ACKNOWLEDGEMENTS, arrivals, events);
                assertFails(Problem.OWNED, beside.claim(DESK, new Node("beside")));
                StoreFiles.kill(child);
                read(lines, Integer.MAX_VALUE, arrivals, events);
            }
            List<Long> kept =
                    arrivals(beside, DESK).stream().map(Arrival::number).toList();
            assertThat(kept).containsAll(arrivals).isSorted().doesNotHaveDuplicates();
            List<Long> happened = new ArrayList<>(outcome(beside.events(DESK, 0, 1_000_000)).stream()
                    .map(StoredEvent::seq)
                    .toList());
            assertThat(happened).containsAll(events).isSorted().doesNotHaveDuplicates();
            assertThat(outcome(beside.session(DESK)).orElseThrow().epoch()).isEqualTo(round + 1);
        }
        assertThat(arrivals.size() + events.size()).isGreaterThanOrEqualTo(ROUNDS * (ACKNOWLEDGEMENTS - 1));
        assertThat(events).isNotEmpty();
    }
}
