package dev.holdfast.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AddressTerms;
import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Claim.Appended;
import dev.holdfast.Delivery;
import dev.holdfast.Journal;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every {@link Journal} must do with batches of deliveries, and with what is stored only under a condition. */
public abstract class BatchConformance extends OwnerConformance {
    private static Delivery onlyIdle(Delivery d) {
        return new Delivery(
                d.session(), d.id(), d.kind(), d.key(), d.fingerprint(), d.header(), d.body(), d.address(), true);
    }

    private List<Receipt> acceptAll(Delivery... deliveries) {
        return now(journal.acceptAll(List.of(deliveries)));
    }

    private List<String> bodies() {
        return arrivals(Selection.WITH_BODIES).stream()
                .map(arrival -> new String(arrival.body(), UTF_8))
                .toList();
    }

    private static void assertRefusedForItsSake(Receipt receipt, Receipt.Refusal why) {
        assertThat(receipt)
                .isInstanceOfSatisfying(
                        Receipt.Refused.class,
                        refused -> assertThat(refused.reason()).contains(why.message()));
    }

    // Batches

    @Test
    @Tag("IN-19")
    public void acceptAll_severalKinds_areThereInOrderWithTheirIdentities() {
        open(DESK);
        accept(message("before"));
        Delivery[] batch = {
            keyed("k", "one"), urgent(ArrivalKind.CANCEL), message("two"), urgent(ArrivalKind.RESUME), message("three")
        };
        List<Receipt> receipts = acceptAll(batch);
        for (int i = 0; i < batch.length; i++) {
            Delivery sent = batch[i];
            long number = i + 2L;
            assertThat(receipts.get(i)).isInstanceOfSatisfying(Receipt.Accepted.class, receipt -> {
                assertThat(receipt.number()).isEqualTo(number);
                assertThat(receipt.id()).isEqualTo(sent.id());
            });
        }
        assertThat(receipts.stream().map(receipt -> ((Receipt.Accepted) receipt).acceptedAt()))
                .containsOnly(((Receipt.Accepted) receipts.getFirst()).acceptedAt());
        reopen();
        assertThat(bodies()).containsExactly("before", "one", "", "two", "", "three");
        assertThat(arrivals(Selection.HEADERS).stream().skip(1).map(Arrival::id))
                .containsExactly(batch[0].id(), batch[1].id(), batch[2].id(), batch[3].id(), batch[4].id());
        assertThat(accept(keyed("k", "one"))).isInstanceOf(Receipt.Duplicate.class);
        assertThat(ready()).containsExactly(DESK);
        assertThat(summary().unread()).isEqualTo(4);
    }

    @Test
    @Tag("IN-19")
    public void acceptAll_amongOtherSenders_hasConsecutiveNumbers() {
        open(DESK);
        List<CompletionStage<Receipt>> single = new ArrayList<>();
        List<CompletionStage<List<Receipt>>> batches = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            single.add(journal.accept(message("single " + i)));
            batches.add(journal.acceptAll(List.of(message("a" + i), message("b" + i), message("c" + i))));
        }
        for (CompletionStage<List<Receipt>> stage : batches) {
            List<Long> numbers = now(stage).stream()
                    .map(receipt -> ((Receipt.Accepted) receipt).number())
                    .toList();
            long first = numbers.getFirst();
            assertThat(numbers).containsExactly(first, first + 1, first + 2);
        }
        assertThat(single.stream().map(this::now)).allMatch(Receipt.Accepted.class::isInstance);
        assertThat(arrivals(Selection.HEADERS))
                .extracting(Arrival::number)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, 80).mapToObj(Long::valueOf).toList());
    }

    @Test
    @Tag("IN-19")
    @Tag("MB-18")
    public void acceptAll_overTheLimit_storesNothingOfIt() {
        now(journal.open(DESK, new SessionLimits(3, 100)));
        accept(keyed("known", "1"));
        List<Receipt> receipts = acceptAll(
                message("2"), keyed("known", "1"), keyed("new", "3"), message("4"), urgent(ArrivalKind.CANCEL));
        Receipt.Full full = new Receipt.Full(3, 3, "messages");
        assertThat(receipts.get(3)).isEqualTo(full);
        assertThat(receipts.get(1)).isInstanceOf(Receipt.Duplicate.class);
        assertRefusedForItsSake(receipts.get(0), full);
        assertRefusedForItsSake(receipts.get(2), full);
        assertRefusedForItsSake(receipts.get(4), full);
        assertThat(acceptAll(message("x".repeat(50)), message("x".repeat(50))).get(1))
                .isEqualTo(new Receipt.Full(51, 100, "bytes"));
        reopen();
        assertThat(bodies()).containsExactly("1");
        assertThat(summary().lastArrival()).isEqualTo(1);
        assertThat(summary().unread()).isEqualTo(1);
        assertThat(((Receipt.Accepted) accept(keyed("new", "another"))).number())
                .isEqualTo(2);
    }

    @Test
    @Tag("IN-19")
    public void acceptAll_refused_leavesNothingForWhatSharesItsCommit() {
        now(journal.open(DESK, new SessionLimits(2, 1_000)));
        CompletionStage<Receipt> before = journal.accept(message("before"));
        CompletionStage<List<Receipt>> batch =
                journal.acceptAll(List.of(message("x"), urgent(ArrivalKind.CANCEL), message("y")));
        CompletionStage<Receipt> after = journal.accept(message("after"));
        assertThat(now(before)).isInstanceOf(Receipt.Accepted.class);
        assertThat(now(batch)).allMatch(Receipt.Refusal.class::isInstance);
        assertThat(((Receipt.Accepted) now(after)).number()).isEqualTo(2);
        assertThat(bodies()).containsExactly("before", "after");
        assertThat(append(claim(), BatchDraft.after(0, "a").ifUrgentThrough(0)))
                .as("the cancel was not stored")
                .isEqualTo(new Appended.Committed(1));
    }

    @Test
    @Tag("IN-19")
    @Tag("IN-12")
    public void acceptAll_withKnownKeys_givesTheirFirstReceiptsAndRefusesNobody() {
        open(DESK);
        Receipt.Accepted first = (Receipt.Accepted) accept(keyed("a", "a"));
        List<Receipt> receipts = acceptAll(keyed("b", "b"), keyed("a", "a"), keyed("b", "b"), message("c"));
        assertThat(((Receipt.Accepted) receipts.get(0)).number()).isEqualTo(2);
        assertThat(receipts.get(1)).isEqualTo(new Receipt.Duplicate(first.id(), 1, first.acceptedAt()));
        assertThat(((Receipt.Duplicate) receipts.get(2)).number()).isEqualTo(2);
        assertThat(((Receipt.Accepted) receipts.get(3)).number()).isEqualTo(3);
        List<Receipt> again = acceptAll(keyed("b", "b"), keyed("a", "a"));
        assertThat(again).allMatch(Receipt.Duplicate.class::isInstance);
        assertThat(bodies()).containsExactly("a", "b", "c");
    }

    @Test
    @Tag("IN-19")
    @Tag("IN-12")
    public void acceptAll_withAKeyOfOtherContent_isRefusedWhole() {
        open(DESK);
        accept(keyed("a", "a"));
        List<Receipt> receipts = acceptAll(message("x"), keyed("a", "b"), keyed("new", "y"), keyed("a", "a"));
        assertThat(receipts.get(1)).isEqualTo(new Receipt.KeyConflict(1));
        assertRefusedForItsSake(receipts.get(0), new Receipt.KeyConflict(1));
        assertRefusedForItsSake(receipts.get(2), new Receipt.KeyConflict(1));
        assertThat(receipts.get(3)).isInstanceOf(Receipt.Duplicate.class);
        List<Receipt> within = acceptAll(keyed("new", "y"), keyed("new", "z"));
        assertThat(within.get(1)).isInstanceOf(Receipt.KeyConflict.class);
        assertThat(within.get(0)).isInstanceOf(Receipt.Refused.class);
        assertThat(bodies()).containsExactly("a");
        assertThat(accept(keyed("new", "z"))).isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    @Tag("IN-19")
    public void acceptAll_toNoSession_isRefusedByName() {
        assertThat(acceptAll(message("a"), message("b")))
                .containsExactly(new Receipt.UnknownSession(DESK), new Receipt.UnknownSession(DESK));
    }

    @Test
    @Tag("IN-19")
    public void acceptAll_ofNoneTooManyOrSeveralSessions_isAMistake() {
        open(DESK);
        Delivery elsewhere = delivery(new SessionName("other"), ArrivalKind.MESSAGE, Optional.empty(), "x");
        assertThatThrownBy(() -> journal.acceptAll(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> journal.acceptAll(Collections.nCopies(1_001, message("x"))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> journal.acceptAll(List.of(message("x"), elsewhere)))
                .isInstanceOf(IllegalArgumentException.class);
        List<Delivery> most =
                IntStream.range(0, 1_000).mapToObj(i -> message("m" + i)).toList();
        assertThat(now(journal.acceptAll(most))).allMatch(Receipt.Accepted.class::isInstance);
        assertThat(arrivals(Selection.HEADERS)).hasSize(1_000);
    }

    @Test
    @Tag("IN-19")
    @Tag("IN-20")
    public void acceptAll_twiceThroughAnAddressForOne_isRefusedWholeAndLeavesItClaimed() {
        open(DESK);
        now(journal.claimAddress(DESK, "call-1", AddressTerms.toolRun()));
        Delivery result = delivery(DESK, ArrivalKind.TOOL_RUN, Optional.empty(), "result");
        List<Receipt> receipts = acceptAll(through("call-1", result), message("x"), through("call-1", result));
        assertThat(receipts.get(2)).isEqualTo(new Receipt.Released("call-1"));
        assertThat(receipts.subList(0, 2)).allMatch(Receipt.Refused.class::isInstance);
        assertThat(arrivals(Selection.HEADERS)).isEmpty();
        assertThat(accept(through("call-1", result))).isInstanceOf(Receipt.Accepted.class);
    }

    // Only when idle

    @Test
    @Tag("TN-09")
    public void accept_onlyIdle_isRefusedWhileSomethingCountedIsUnreadOrATurnIsOpen() {
        open(DESK);
        accept(urgent(ArrivalKind.CANCEL));
        assertThat(accept(onlyIdle(keyed("first", "1")))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(onlyIdle(message("2")))).isEqualTo(new Receipt.Busy(OptionalLong.empty(), 1));
        assertThat(accept(message("3"))).isInstanceOf(Receipt.Accepted.class);
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "turn").taken(3, 2, 2).turn(7));
        assertThat(accept(onlyIdle(message("4")))).isEqualTo(new Receipt.Busy(OptionalLong.of(7), 0));
        reopen();
        assertThat(accept(onlyIdle(message("4")))).isEqualTo(new Receipt.Busy(OptionalLong.of(7), 0));
        assertThat(accept(onlyIdle(keyed("first", "1"))))
                .as("what was accepted is told so, busy or not")
                .isInstanceOf(Receipt.Duplicate.class);
        append(claim(), BatchDraft.after(1, "settled").taken(3, 2, 2));
        assertThat(accept(onlyIdle(message("5")))).isInstanceOf(Receipt.Accepted.class);
        assertThat(bodies()).containsExactly("", "1", "3", "5");
    }

    @Test
    @Tag("TN-09")
    public void accept_onlyIdleTwiceAtOnce_isAcceptedOnce() {
        open(DESK);
        List<CompletionStage<Receipt>> stages = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            stages.add(journal.accept(onlyIdle(message("m" + i))));
        }
        List<Receipt> receipts = stages.stream().map(this::now).toList();
        assertThat(receipts.stream().filter(Receipt.Accepted.class::isInstance)).hasSize(1);
        assertThat(receipts.stream().filter(Receipt.Busy.class::isInstance)).hasSize(9);
        assertThat(bodies()).hasSize(1);
    }

    @Test
    @Tag("TN-09")
    @Tag("IN-19")
    public void acceptAll_onlyIdle_looksAtTheSessionBeforeTheBatch() {
        open(DESK);
        assertThat(acceptAll(onlyIdle(message("1")), onlyIdle(message("2"))))
                .allMatch(Receipt.Accepted.class::isInstance);
        List<Receipt> receipts = acceptAll(message("3"), onlyIdle(message("4")));
        assertThat(receipts.get(1)).isEqualTo(new Receipt.Busy(OptionalLong.empty(), 2));
        assertRefusedForItsSake(receipts.get(0), new Receipt.Busy(OptionalLong.empty(), 2));
        assertThat(bodies()).containsExactly("1", "2");
    }

    // Appending only when nothing urgent came

    @Test
    @Tag("IN-13")
    public void append_behindAnUrgentArrival_isRefusedAndStoresNothing() {
        open(DESK);
        accept(message("a"));
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "turn").taken(1, 1, 1).turn(1));
        accept(urgent(ArrivalKind.CANCEL));
        accept(message("b"));
        Batch settled =
                BatchDraft.after(1, "settled").taken(1, 1, 1).ifUrgentThrough(0).batch();
        assertThat(now(claim.append(settled))).isEqualTo(new Appended.Behind(2));
        assertThat(now(journal.events(DESK, 0, 10))).hasSize(1);
        assertThat(summary().openTurn()).hasValue(1);
        assertThat(append(claim, BatchDraft.after(1, "settled").taken(1, 1, 1).ifUrgentThrough(2)))
                .as("ordinary arrivals do not matter")
                .isEqualTo(new Appended.Committed(2));
        accept(urgent(ArrivalKind.REPLACE));
        assertThat(append(claim, BatchDraft.after(2, "x").taken(1, 1, 1).ifUrgentThrough(3)))
                .isEqualTo(new Appended.Behind(4));
        assertThat(append(claim, BatchDraft.after(2, "unconditional").taken(1, 1, 1)))
                .isEqualTo(new Appended.Committed(3));
    }

    @Test
    @Tag("IN-13")
    public void append_behindAnUrgentArrival_isNoticedAfterReopeningToo() {
        open(DESK);
        accept(message("a"));
        accept(urgent(ArrivalKind.CANCEL));
        accept(message("b"));
        reopen();
        Claim claim = claim();
        assertThat(append(claim, BatchDraft.after(0, "x").ifUrgentThrough(1))).isEqualTo(new Appended.Behind(2));
        assertThat(append(claim, BatchDraft.after(0, "x").ifUrgentThrough(2))).isEqualTo(new Appended.Committed(1));
    }

    @Test
    @Tag("IN-13")
    public void append_atOnceWithACancel_oneOfTheTwoKnowsOfTheOther() {
        open(DESK);
        accept(message("a"));
        Claim claim = claim();
        append(claim, BatchDraft.after(0, "turn").taken(1, 1, 1).turn(1));
        long seq = 1;
        long urgentThrough = 0;
        for (int i = 0; i < 20; i++) {
            BatchDraft settled = BatchDraft.after(seq, "settled").taken(1, 1, 1).ifUrgentThrough(urgentThrough);
            CompletionStage<Receipt> cancel = i % 2 == 0 ? journal.accept(urgent(ArrivalKind.CANCEL)) : null;
            CompletionStage<Appended> append = claim.append(settled.batch());
            Receipt receipt = now(cancel == null ? journal.accept(urgent(ArrivalKind.CANCEL)) : cancel);
            long number = ((Receipt.Accepted) receipt).number();
            boolean bound = arrivals(Selection.HEADERS)
                    .get((int) number - 1)
                    .boundTurn()
                    .isPresent();
            assertThat(now(append) instanceof Appended.Behind)
                    .as("the settlement was refused exactly when the cancel was bound to the open turn")
                    .isEqualTo(bound);
            seq += bound ? 0 : 1;
            seq = ((Appended.Committed) append(
                            claim, BatchDraft.after(seq, "turn").taken(1, 1, 1).turn(i + 2)))
                    .seq();
            urgentThrough = number;
        }
    }

    @Test
    @Tag("IN-13")
    public void append_againAfterItWasCommitted_isRecognisedWhateverCameSince() {
        open(DESK);
        Claim claim = claim();
        Batch batch = BatchDraft.after(0, "a").ifUrgentThrough(0).batch();
        assertThat(now(claim.append(batch))).isEqualTo(new Appended.Committed(1));
        accept(urgent(ArrivalKind.CANCEL));
        assertThat(now(claim.append(batch))).isEqualTo(new Appended.Committed(1));
    }
}
