package dev.holdfast.journal;

import static dev.holdfast.testkit.JournalFixture.assertFails;
import static dev.holdfast.testkit.JournalFixture.message;
import static dev.holdfast.testkit.JournalFixture.outcome;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import dev.holdfast.Receipt;
import dev.holdfast.StoredEvent;
import dev.holdfast.testkit.BatchDraft;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two processes on one database: who owns a session, and until when (P3, IN-18). */
class PostgresOwnershipTest extends PostgresFixture {
    private static final Node ONE = new Node("host-1");
    private static final Node TWO = new Node("host-2");

    private static List<String> ready(Journal journal) {
        return outcome(journal.ready(Instant.now(), 10)).stream()
                .map(name -> name.value())
                .toList();
    }

    /** Claims as soon as the session is free. */
    private static Claim claimWhenFree(Journal journal, Node node) {
        return await().atMost(Duration.ofSeconds(20))
                .until(
                        () -> {
                            try {
                                return Optional.of(outcome(journal.claim(DESK, node)));
                            } catch (JournalException e) {
                                assertThat(e.problem()).isEqualTo(Problem.OWNED);
                                return Optional.<Claim>empty();
                            }
                        },
                        Optional::isPresent)
                .orElseThrow();
    }

    @Test
    @Tag("P3")
    @Tag("P1")
    @Tag("IN-18")
    void claim_ofASessionAnotherNodeOwns_namesItUntilItIsGivenBack_andSendersDoNotNotice() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        open(one, DESK);
        Claim claim = outcome(one.claim(DESK, ONE));
        assertThat(claim.holds()).isTrue();
        assertThat(accepted(two, message("from elsewhere")).number()).isEqualTo(1);
        assertThatThrownBy(() -> outcome(two.claim(DESK, TWO)))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.OWNED))
                .hasMessageContaining("host-1");
        assertThat(append(claim, BatchDraft.after(0, "taken").taken(1, 1, 14))).isEqualTo(new Appended.Committed(1));
        outcome(claim.resign(Optional.empty()));
        assertThat(claim.holds()).isFalse();
        assertThat(accepted(one, message("between owners")).number()).isEqualTo(2);
        Claim next = outcome(two.claim(DESK, TWO));
        assertThat(next.epoch()).isEqualTo(2);
        assertThat(next.recovered().tail()).extracting(StoredEvent::seq).containsExactly(1L);
        assertFails(Problem.OWNED, one.claim(DESK, ONE));
        assertThat(accepted(one, message("after")).number()).isEqualTo(3);
    }

    @Test
    @Tag("P3")
    @Tag("IN-18")
    void claim_afterTheOwnersProcessStandsStill_waitsForItsLeaseAndFencesIt() {
        PostgresJournal one = journal(shortLease());
        PostgresJournal two = journal(shortLease());
        open(one, DESK);
        Claim old = outcome(one.claim(DESK, ONE));
        append(old, BatchDraft.after(0, "by the old"));
        one.abandonLeases();
        assertFails(Problem.OWNED, two.claim(DESK, TWO));
        await().atMost(Duration.ofSeconds(20)).until(() -> !old.holds());
        assertThat(accepted(one, message("a sender there is no owner")).number())
                .isEqualTo(1);
        Claim next = claimWhenFree(two, TWO);
        assertThat(old.holds()).as("it knew before anybody could take over").isFalse();
        assertThat(next.epoch()).isEqualTo(2);
        assertThat(append(next, BatchDraft.after(1, "by the new"))).isEqualTo(new Appended.Committed(2));
        assertThat(append(old, BatchDraft.after(1, "stale"))).isEqualTo(new Appended.Fenced(2));
        outcome(old.resign(Optional.empty()));
        assertThat(types(two, DESK)).containsExactly("by the old", "by the new");
        assertThat(next.holds()).isTrue();
    }

    @Test
    @Tag("P3")
    void lease_isProlonged_aslongAsTheProcessLives() {
        PostgresJournal one = journal(shortLease());
        PostgresJournal two = journal(shortLease());
        open(one, DESK);
        Claim claim = outcome(one.claim(DESK, ONE));
        Instant end = Instant.now().plus(shortLease().lease().multipliedBy(2));
        await().atMost(Duration.ofSeconds(20)).until(() -> {
            assertThat(claim.holds()).isTrue();
            assertFails(Problem.OWNED, two.claim(DESK, TWO));
            return Instant.now().isAfter(end);
        });
        assertThat(append(claim, BatchDraft.after(0, "still here"))).isEqualTo(new Appended.Committed(1));
    }

    @Test
    @Tag("P3")
    void append_underALeaseThatIsOver_isFencedThoughNobodyTookOver() {
        PostgresJournal one = journal(shortLease());
        open(one, DESK);
        Claim claim = outcome(one.claim(DESK, ONE));
        append(claim, BatchDraft.after(0, "a"));
        // What a node finds that stood still for longer than its lease: the server will not prolong it.
        PostgresServer.run("UPDATE " + schema + ".node SET lease_until = 0");
        await().atMost(Duration.ofSeconds(20)).until(() -> !claim.holds());
        assertThat(append(claim, BatchDraft.after(1, "b"))).isEqualTo(new Appended.Fenced(1));
        Claim again = outcome(one.claim(DESK, ONE));
        assertThat(again.epoch()).isEqualTo(2);
        assertThat(append(again, BatchDraft.after(1, "c"))).isEqualTo(new Appended.Committed(2));
        assertThat(claim.holds()).isFalse();
        assertThat(again.holds()).isTrue();
        assertThat(types(one, DESK)).containsExactly("a", "c");
    }

    @Test
    @Tag("P3")
    void claim_underANameThatIsAliveElsewhere_isRefusedByName() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        open(one, DESK);
        Claim claim = outcome(one.claim(DESK, ONE));
        assertThatThrownBy(() -> outcome(two.claim(DESK, ONE)))
                .isInstanceOfSatisfying(
                        JournalException.class, e -> assertThat(e.problem()).isEqualTo(Problem.OWNED))
                .hasMessageContaining("host-1");
        assertThat(append(claim, BatchDraft.after(0, "a"))).isEqualTo(new Appended.Committed(1));
    }

    @Test
    @Tag("P3")
    void claim_fromSeveralNodesAtOnce_hasOneOwner() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        open(one, DESK);
        List<CompletionStage<Claim>> claims = IntStream.range(0, 10)
                .mapToObj(i -> (i % 2 == 0 ? one : two).claim(DESK, i % 2 == 0 ? ONE : TWO))
                .toList();
        List<Claim> held = claims.stream()
                .flatMap(stage -> {
                    try {
                        return Optional.of(outcome(stage)).stream();
                    } catch (JournalException e) {
                        assertThat(e.problem()).isEqualTo(Problem.OWNED);
                        return Optional.<Claim>empty().stream();
                    }
                })
                .toList();
        assertThat(held).hasSize(5);
        Claim last = held.stream()
                .max(java.util.Comparator.comparingLong(Claim::epoch))
                .orElseThrow();
        assertThat(held).filteredOn(Claim::holds).containsExactly(last);
        for (Claim claim : held) {
            Appended answer = append(claim, BatchDraft.after(0, "x"));
            assertThat(answer instanceof Appended.Committed).isEqualTo(claim.epoch() == last.epoch());
        }
    }

    @Test
    @Tag("P3")
    void close_givesTheLeaseBack_soThatOthersNeedNotWait() {
        PostgresJournal one = journal();
        PostgresJournal two = journal();
        open(one, DESK);
        Claim claim = outcome(one.claim(DESK, ONE));
        one.close();
        assertThat(claim.holds()).isFalse();
        assertThat(outcome(two.claim(DESK, TWO)).epoch()).isEqualTo(2);
        PostgresJournal again = journal();
        assertThat(outcome(again.session(DESK)).orElseThrow().node()).isEqualTo("host-2");
        assertFails(Problem.OWNED, again.claim(DESK, ONE));
    }

    @Test
    @Tag("IN-21")
    void ready_findsWhatOthersAccepted_andLeavesOutWhatAnotherLiveNodeOwns() {
        PostgresJournal one = journal(shortLease());
        PostgresJournal two = journal(shortLease());
        open(one, DESK);
        Claim claim = outcome(one.claim(DESK, ONE));
        assertThat(ready(one)).isEmpty();
        assertThat(outcome(two.accept(message("a")))).isInstanceOf(Receipt.Accepted.class);
        assertThat(ready(one)).containsExactly("order-desk");
        assertThat(ready(two)).as("its owner is alive and will see to it").isEmpty();
        append(claim, BatchDraft.after(0, "done").taken(1, 1, 1).quiet(1));
        assertThat(ready(one)).isEmpty();
        outcome(two.accept(message("b")));
        one.abandonLeases();
        await().atMost(Duration.ofSeconds(20)).until(() -> ready(two), List.of("order-desk")::equals);
        outcome(two.claim(DESK, TWO));
        assertThat(ready(two)).containsExactly("order-desk");
    }
}
