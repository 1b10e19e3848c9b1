package dev.holdfast.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Journal;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.Node;
import dev.holdfast.SessionName;
import dev.holdfast.SnapshotRecord;
import dev.holdfast.StoredEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every {@link Journal} must do for owners: claims, appends, recovery, the durable wake. */
public abstract class OwnerConformance extends JournalFixture {
    // Owning

    @Test
    @Tag("P3")
    public void claim_raisesTheEpochAndFencesTheOlderClaim() {
        open(DESK);
        Claim first = claim();
        assertThat(first.epoch()).isEqualTo(1);
        assertThat(append(first, BatchDraft.after(0, "a"))).isEqualTo(new Appended.Committed(1));
        Claim second = now(journal.claim(DESK, new Node("node-2")));
        assertThat(second.epoch()).isEqualTo(2);
        assertThat(append(first, BatchDraft.after(1, "stale"))).isEqualTo(new Appended.Fenced(2));
        assertThat(append(second, BatchDraft.after(1, "b"))).isEqualTo(new Appended.Committed(2));
        now(first.resign(Optional.of(new SnapshotRecord(2, 1, "stale".getBytes(UTF_8)))));
        reopen();
        Claim third = claim();
        assertThat(third.epoch()).isEqualTo(3);
        assertThat(third.recovered().snapshot()).isEmpty();
        assertThat(third.recovered().tail())
                .extracting(stored -> stored.event().type())
                .containsExactly("a", "b");
        assertThat(third.recovered().tail()).extracting(StoredEvent::epoch).containsExactly(1L, 2L);
        assertThat(summary().node()).isEqualTo("node-1");
    }

    @Test
    public void append_sameBatchAgain_isRecognisedAndStoredOnce() {
        open(DESK);
        Claim claim = claim();
        Batch batch = BatchDraft.after(0, "a", "b").batch();
        assertThat(now(claim.append(batch))).isEqualTo(new Appended.Committed(2));
        assertThat(now(claim.append(batch))).isEqualTo(new Appended.Committed(2));
        assertThat(now(journal.events(DESK, 0, 10))).hasSize(2);
        assertThat(append(claim, BatchDraft.after(2, "c"))).isEqualTo(new Appended.Committed(3));
    }

    @Test
    @Tag("P3")
    public void append_withAnotherSequenceUnderTheSameEpoch_failsAndStoresNothing() {
        open(DESK);
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "a"));
        assertProblem(Problem.FAILED, claim.append(BatchDraft.after(0, "b").batch()));
        assertProblem(Problem.FAILED, claim.append(BatchDraft.after(5, "b").batch()));
        assertThat(now(journal.events(DESK, 0, 10))).hasSize(1);
        assertThat(append(claim, BatchDraft.after(1, "b"))).isEqualTo(new Appended.Committed(2));
    }

    @Test
    public void append_thatContradictsTheStore_failsAndHarmsNothingElse() {
        open(DESK);
        accept(message("a"));
        Claim claim = claim();
        assertProblem(
                Problem.FAILED,
                claim.append(BatchDraft.after(0, "a").taken(2, 1, 1).batch()));
        assertProblem(
                Problem.FAILED,
                claim.append(BatchDraft.after(0, "a").taken(1, 2, 1).batch()));
        assertProblem(
                Problem.FAILED,
                claim.append(BatchDraft.after(0, "a").taken(1, 1, 2).batch()));
        assertProblem(
                Problem.FAILED,
                claim.append(BatchDraft.after(0, "a").snapshot(2, "x").batch()));
        assertThat(append(claim, BatchDraft.after(0, "a").taken(1, 1, 1))).isEqualTo(new Appended.Committed(1));
        assertProblem(
                Problem.FAILED,
                claim.append(BatchDraft.after(1, "b").taken(0, 1, 1).batch()));
    }

    @Test
    public void claim_afterASnapshot_givesItAndTheEventsBehindIt() {
        open(DESK);
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "a", "b").snapshot("state 2"));
        append(claim, BatchDraft.after(2, "c"));
        reopen();
        Claim.Recovered recovered = claim().recovered();
        assertThat(recovered.seq()).isEqualTo(3);
        assertThat(recovered.snapshot()).hasValueSatisfying(snapshot -> {
            assertThat(snapshot.seq()).isEqualTo(2);
            assertThat(snapshot.version()).isEqualTo(3);
            assertThat(new String(snapshot.body(), UTF_8)).isEqualTo("state 2");
        });
        assertThat(recovered.tail()).extracting(StoredEvent::seq).containsExactly(3L);
    }

    @Test
    public void resign_keepsTheLastSnapshot_andTheClaimIsUnusable() {
        open(DESK);
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "a", "b"));
        now(claim.resign(Optional.of(new SnapshotRecord(2, 1, "asleep".getBytes(UTF_8)))));
        assertProblem(Problem.FAILED, claim.append(BatchDraft.after(2, "c").batch()));
        assertProblem(Problem.FAILED, claim.resign(Optional.empty()));
        Claim next = claim();
        assertThat(next.recovered().snapshot())
                .hasValueSatisfying(snapshot ->
                        assertThat(new String(snapshot.body(), UTF_8)).isEqualTo("asleep"));
        assertThat(next.recovered().tail()).isEmpty();
        assertThat(next.recovered().seq()).isEqualTo(2);
        assertThat(append(next, BatchDraft.after(2, "c"))).isEqualTo(new Appended.Committed(3));
    }

    // Ready

    @Test
    @Tag("IN-21")
    public void ready_isMarkedByTheAcceptingCommit_andClearedOnlyByTheOwnerWhenNothingIsUnread() {
        open(DESK);
        assertThat(ready()).isEmpty();
        accept(message("a"));
        assertThat(ready()).containsExactly(DESK);
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "taken").taken(1, 1, 1));
        assertThat(ready()).containsExactly(DESK);
        accept(message("b"));
        append(claim, BatchDraft.after(1, "settled").taken(1, 1, 1).quiet(1));
        assertThat(ready())
                .as("an arrival came after the one the owner knew of")
                .containsExactly(DESK);
        reopen();
        assertThat(ready()).containsExactly(DESK);
        append(claim(), BatchDraft.after(2, "settled").taken(2, 2, 2).quiet(2));
        assertThat(ready()).isEmpty();
        accept(urgent(ArrivalKind.EVICT));
        assertThat(ready()).containsExactly(DESK);
    }

    @Test
    @Tag("IN-21")
    public void ready_findsWhatIsDueAndWhatIsInFlight() {
        open(DESK);
        Claim claim = claim();
        Instant due = START.plusSeconds(60);
        append(claim, BatchDraft.after(0, "waits").due(due));
        assertThat(now(journal.ready(due.minusMillis(1), 10))).isEmpty();
        assertThat(now(journal.ready(due.plusMillis(1), 10))).containsExactly(DESK);
        append(claim, BatchDraft.after(1, "turn").turn(1));
        assertThat(ready()).containsExactly(DESK);
        append(claim, BatchDraft.after(2, "settled"));
        assertThat(now(journal.ready(due.plus(Duration.ofDays(1)), 10))).isEmpty();
    }

    @Test
    public void ready_closedForGood_onlyWhileAnArrivalHasNoEvent() {
        open(DESK);
        accept(message("a"));
        Claim claim = claim();
        Batch.Summary closed = BatchDraft.closed("");
        append(
                claim,
                BatchDraft.after(0, "closed")
                        .admitting(false, "closed")
                        .due(START)
                        .summary(closed));
        assertThat(ready()).containsExactly(DESK);
        append(
                claim,
                BatchDraft.after(1, "refused")
                        .taken(1, 1, 1)
                        .quiet(1)
                        .due(START)
                        .summary(closed));
        assertThat(ready()).isEmpty();
    }

    @Test
    public void ready_moreThanAskedFor_givesThoseThatHaveWaitedLongest() {
        for (int i = 5; i > 0; i--) {
            SessionName name = new SessionName("s" + i);
            open(name);
            time = time.plusSeconds(1);
            accept(delivery(name, ArrivalKind.MESSAGE, Optional.empty(), "x"));
        }
        assertThat(now(journal.ready(time, 2))).extracting(SessionName::value).containsExactly("s5", "s4");
        assertThat(now(journal.ready(time, 100))).hasSize(5);
    }

    @Test
    @Tag("IN-21")
    public void ready_pausedAndParkedOnes_comeBehindThoseThatCanRun() {
        for (String name : List.of("PAUSED", "PARKED", "OPEN")) {
            SessionName session = new SessionName(name);
            open(session);
            time = time.plusSeconds(1);
            accept(delivery(session, ArrivalKind.MESSAGE, Optional.empty(), "x"));
            append(
                    now(journal.claim(session, NODE)),
                    BatchDraft.after(0, "rests").summary(phase(name)));
        }
        assertThat(now(journal.ready(time, 1))).extracting(SessionName::value).containsExactly("OPEN");
        assertThat(now(journal.ready(time, 100)))
                .extracting(SessionName::value)
                .containsExactly("OPEN", "PAUSED", "PARKED");
    }

    @Test
    @Tag("IN-21")
    public void ready_pausedOneThatIsDue_keepsItsPlace() {
        SessionName resting = new SessionName("resting");
        open(resting);
        Claim claim = now(journal.claim(resting, NODE));
        append(claim, BatchDraft.after(0, "rests").due(START).summary(phase("PAUSED")));
        time = time.plusSeconds(1);
        open(DESK);
        accept(message("x"));
        assertThat(now(journal.ready(time, 1))).containsExactly(resting);
    }

    private static Batch.Summary phase(String phase) {
        return new Batch.Summary(phase, "", Optional.empty(), OptionalLong.empty(), "");
    }
}
