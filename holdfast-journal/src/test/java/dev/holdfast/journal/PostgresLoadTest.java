package dev.holdfast.journal;

import static dev.holdfast.testkit.JournalFixture.delivery;
import static dev.holdfast.testkit.JournalFixture.outcome;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Delivery;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.testkit.BatchDraft;
import dev.holdfast.testkit.JournalFixture;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many senders and owners in two processes, over the same sessions. */
class PostgresLoadTest extends PostgresFixture {
    private static final int SENDERS = 32;
    private static final int SESSIONS = 20;
    private static final int EACH = 60;

    private final List<SessionName> sessions =
            IntStream.range(0, SESSIONS).mapToObj(i -> new SessionName("s" + i)).toList();

    private record Sent(SessionName session, String body, Receipt.Stored receipt) {}

    /** What a sender does: words, every fifth one a cancel, every seventh one sent again under its key. */
    private List<Sent> send(PostgresJournal journal, int sender, Random random) {
        List<Sent> sent = new ArrayList<>();
        for (int i = 0; i < EACH; i++) {
            SessionName session = sessions.get(random.nextInt(SESSIONS));
            String body = sender + "/" + i;
            ArrivalKind kind = i % 5 == 0 ? ArrivalKind.CANCEL : ArrivalKind.MESSAGE;
            Delivery delivery = delivery(session, kind, i % 7 == 0 ? Optional.of(body) : Optional.empty(), body);
            Receipt.Accepted receipt = accepted(journal, delivery);
            sent.add(new Sent(session, body, receipt));
            if (i % 7 == 0) {
                assertThat(outcome(journal.accept(delivery(session, kind, Optional.of(body), body))))
                        .isEqualTo(new Receipt.Duplicate(receipt.id(), receipt.number(), receipt.acceptedAt()));
            }
        }
        return sent;
    }

    /** What an owner does: turns, opened and settled, that know of every urgent arrival before. */
    private static long own(PostgresJournal journal, SessionName session, Node node, CountDownLatch over) {
        Claim claim = outcome(journal.claim(session, node));
        long seq = 0;
        long known = 0;
        long turn = 0;
        boolean last = false;
        while (!last) {
            last = over.getCount() == 0;
            turn++;
            BatchDraft draft = turn % 2 == 0
                    ? BatchDraft.after(seq, "settled").ifUrgentThrough(known)
                    : BatchDraft.after(seq, "opened").turn(turn);
            switch (append(claim, draft)) {
                case Appended.Committed committed -> seq = committed.seq();
                case Appended.Behind behind -> {
                    assertThat(behind.urgentArrival()).isGreaterThan(known);
                    known = behind.urgentArrival();
                    turn--;
                }
                case Appended.Fenced fenced -> throw new AssertionError(fenced);
            }
        }
        return seq;
    }

    @Test
    @Tag("IN-12")
    @Tag("IN-13")
    void sendersAndOwners_inTwoProcesses_meetNoDeadlockLoseNothingAndDoubleNothing() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        sessions.forEach(name -> open(one, name));
        long deadlocks = deadlocks();
        CountDownLatch over = new CountDownLatch(1);
        List<Sent> sent = Collections.synchronizedList(new ArrayList<>());
        List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
        Map<SessionName, Long> events = Collections.synchronizedMap(new HashMap<>());
        List<Thread> owners = new ArrayList<>();
        for (int i = 0; i < SESSIONS; i++) {
            PostgresJournal mine = i % 2 == 0 ? one : two;
            Node node = new Node("host-" + i % 2);
            SessionName session = sessions.get(i);
            owners.add(running(failures, () -> events.put(session, own(mine, session, node, over))));
        }
        List<Thread> senders = new ArrayList<>();
        for (int i = 0; i < SENDERS; i++) {
            PostgresJournal mine = i % 2 == 0 ? two : one;
            int sender = i;
            senders.add(running(failures, () -> sent.addAll(send(mine, sender, new Random(sender)))));
        }
        senders.forEach(JournalFixture::join);
        over.countDown();
        owners.forEach(JournalFixture::join);
        assertThat(failures).isEmpty();
        assertThat(sent).hasSize(SENDERS * EACH);
        Map<SessionName, List<Arrival>> stored = new HashMap<>();
        sessions.forEach(session -> stored.put(session, arrivals(one, session)));
        for (Sent message : sent) {
            Arrival arrival = stored.get(message.session).get((int) message.receipt.number() - 1);
            assertThat(arrival.id()).isEqualTo(message.receipt.id());
            assertThat(new String(arrival.body(), StandardCharsets.UTF_8)).isEqualTo(message.body);
        }
        assertThat(stored.values().stream().mapToInt(List::size).sum()).isEqualTo(sent.size());
        for (SessionName session : sessions) {
            List<StoredEvent> all = outcome(two.events(session, 0, 100_000));
            assertThat(all).hasSize((int) (long) events.get(session));
        }
        one.close();
        two.close();
        await().atMost(Duration.ofSeconds(10)).until(() -> deadlocks() == deadlocks);
    }

    private static Thread running(List<Throwable> failures, Runnable body) {
        return Thread.ofPlatform().start(() -> {
            try {
                body.run();
            } catch (Throwable e) {
                failures.add(e);
            }
        });
    }

    private static long deadlocks() {
        return Long.parseLong(
                PostgresServer.run("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"));
    }

    @Test
    void accept_fromManySenders_sharesCommits() {
        PostgresJournal journal = journal();
        sessions.forEach(name -> open(journal, name));
        long before = journal.commits();
        List<Thread> senders = IntStream.range(0, SENDERS)
                .mapToObj(sender -> Thread.ofPlatform().start(() -> {
                    for (int i = 0; i < 50; i++) {
                        accepted(journal, to(sessions.get((sender + i) % SESSIONS), sender + "/" + i));
                    }
                }))
                .toList();
        senders.forEach(JournalFixture::join);
        assertThat(journal.commits() - before).isLessThan(SENDERS * 50 / 3);
    }
}
