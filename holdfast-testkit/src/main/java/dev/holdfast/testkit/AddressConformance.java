package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Address;
import dev.holdfast.AddressClaim;
import dev.holdfast.AddressTerms;
import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.Journal;
import dev.holdfast.JournalException;
import dev.holdfast.JournalException.Problem;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What every {@link Journal} must do with addresses: claims, deliveries through them, releases. */
public abstract class AddressConformance extends BatchConformance {
    private static final SessionName OTHER = new SessionName("other");
    private static final AddressTerms OPEN = AddressTerms.open();

    private AddressClaim claimed(SessionName session, String token) {
        return claimed(session, token, OPEN);
    }

    private AddressClaim claimed(SessionName session, String token, AddressTerms terms) {
        return now(journal.claimAddress(session, token, terms));
    }

    private List<String> tokens(SessionName session) {
        return now(journal.addresses(session)).stream().map(Address::token).toList();
    }

    private List<Address> released(String... tokens) {
        return now(journal.releaseAddresses(DESK, List.of(tokens)));
    }

    private static Delivery of(ArrivalKind kind, Optional<String> key) {
        return delivery(DESK, kind, key, "body");
    }

    // Claiming

    @Test
    @Tag("IN-08")
    public void claimAddress_again_isTheSameClaimInItsPlace() {
        open(DESK);
        assertThat(claimed(DESK, "hook/é ✓")).isEqualTo(new AddressClaim.Claimed("hook/é ✓"));
        claimed(DESK, "b");
        assertThat(claimed(DESK, "hook/é ✓")).isEqualTo(new AddressClaim.Claimed("hook/é ✓"));
        claimed(DESK, "a");
        claimed(DESK, "hook/é ✓", AddressTerms.authorization());
        reopen();
        assertThat(now(journal.addresses(DESK)))
                .containsExactly(
                        new Address("hook/é ✓", DESK, AddressTerms.authorization(), OptionalLong.empty()),
                        new Address("b", DESK, OPEN, OptionalLong.empty()),
                        new Address("a", DESK, OPEN, OptionalLong.empty()));
        assertThat(now(journal.address("b"))).hasValue(new Address("b", DESK, OPEN, OptionalLong.empty()));
        assertThat(now(journal.address("B"))).isEmpty();
    }

    @Test
    @Tag("IN-08")
    public void claimAddress_ownedElsewhere_namesTheOwnerAndLeavesNothing() {
        open(DESK);
        open(OTHER);
        claimed(OTHER, "taken");
        assertThat(claimed(DESK, "taken")).isEqualTo(new AddressClaim.Owned("taken", OTHER));
        assertThat(tokens(DESK)).isEmpty();
        assertThat(tokens(OTHER)).containsExactly("taken");
    }

    @Test
    @Tag("IN-08")
    public void claimAddress_bySeveralSessionsAtOnce_belongsToOneAndTheOthersAreToldWhich() {
        List<SessionName> names =
                IntStream.range(0, 8).mapToObj(i -> new SessionName("s" + i)).toList();
        names.forEach(this::open);
        List<CompletionStage<AddressClaim>> stages = new ArrayList<>();
        names.forEach(name -> stages.add(journal.claimAddress(name, "wanted", OPEN)));
        List<AddressClaim> claims = stages.stream().map(this::now).toList();
        SessionName owner = now(journal.address("wanted")).orElseThrow().session();
        for (int i = 0; i < names.size(); i++) {
            assertThat(claims.get(i))
                    .isEqualTo(
                            names.get(i).equals(owner)
                                    ? new AddressClaim.Claimed("wanted")
                                    : new AddressClaim.Owned("wanted", owner));
        }
    }

    @Test
    @Tag("IN-08")
    public void claimAddress_pastTheLimit_isRefusedUntilOneIsReleased() {
        open(DESK);
        List<CompletionStage<AddressClaim>> stages = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            stages.add(journal.claimAddress(DESK, "t" + i, OPEN));
        }
        assertThat(stages.stream().map(this::now)).allMatch(AddressClaim.Claimed.class::isInstance);
        assertThat(claimed(DESK, "one more")).isEqualTo(new AddressClaim.TooMany("one more", 256));
        assertThat(now(journal.address("one more"))).isEmpty();
        assertThat(claimed(DESK, "t7")).as("it has that one").isEqualTo(new AddressClaim.Claimed("t7"));
        released("t7");
        assertThat(claimed(DESK, "one more")).isEqualTo(new AddressClaim.Claimed("one more"));
        assertThat(claimed(DESK, "t7")).isEqualTo(new AddressClaim.TooMany("t7", 256));
        assertThat(tokens(DESK)).hasSize(256).endsWith("t255", "one more");
    }

    @Test
    @Tag("IN-08")
    public void claimAddress_blankOrTooLong_isAMistake() {
        open(DESK);
        assertThatThrownBy(() -> journal.claimAddress(DESK, "", OPEN)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> journal.claimAddress(DESK, "  ", OPEN)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> journal.claimAddress(DESK, "x".repeat(257), OPEN))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(claimed(DESK, "x".repeat(256))).isInstanceOf(AddressClaim.Claimed.class);
    }

    @Test
    @Tag("IN-08")
    public void claimAddress_forAnUnknownOrClosedSession_failsByName() {
        assertProblem(Problem.UNKNOWN_SESSION, journal.claimAddress(DESK, "a", OPEN));
        assertProblem(Problem.UNKNOWN_SESSION, journal.releaseAddresses(DESK, List.of()));
        assertProblem(Problem.UNKNOWN_SESSION, journal.addresses(DESK));
        open(DESK);
        claimed(DESK, "before");
        append(
                claim(),
                BatchDraft.after(0, "closed").admitting(false, "done with it").summary(BatchDraft.closed("")));
        assertThatThrownBy(() -> now(journal.claimAddress(DESK, "a", OPEN)))
                .isInstanceOf(JournalException.class)
                .hasMessageContaining("order-desk")
                .hasMessageContaining("closed");
        assertThat(now(journal.address("a"))).isEmpty();
        assertThat(released()).extracting(Address::token).containsExactly("before");
    }

    @Test
    @Tag("IN-09")
    public void claimAddress_severalAtOnce_eachSettlesAndWhatSucceededStays() {
        open(DESK);
        open(OTHER);
        claimed(OTHER, "taken");
        List<CompletionStage<AddressClaim>> stages = new ArrayList<>();
        List.of("a", "taken", "b", "a").forEach(token -> stages.add(journal.claimAddress(DESK, token, OPEN)));
        assertThat(stages.stream().map(this::now))
                .containsExactly(
                        new AddressClaim.Claimed("a"),
                        new AddressClaim.Owned("taken", OTHER),
                        new AddressClaim.Claimed("b"),
                        new AddressClaim.Claimed("a"));
        reopen();
        assertThat(tokens(DESK)).containsExactly("a", "b");
    }

    // Delivering

    @Test
    @Tag("IN-01")
    public void accept_throughAnAddress_isAnArrivalOfTheSessionThatHasIt() {
        open(DESK);
        claimed(DESK, "hook");
        assertThat(accept(through("hook", message("one")))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(through("hook", urgent(ArrivalKind.CANCEL)))).isInstanceOf(Receipt.Accepted.class);
        assertThat(accept(message("two"))).isInstanceOf(Receipt.Accepted.class);
        assertThat(arrivals(Selection.HEADERS)).extracting(Arrival::number).containsExactly(1L, 2L, 3L);
        assertThat(tokens(DESK)).containsExactly("hook");
    }

    @Test
    @Tag("IN-10")
    public void accept_throughAnAddressTheSessionDoesNotHave_isReleasedAndStoresNothing() {
        open(DESK);
        open(OTHER);
        claimed(OTHER, "theirs");
        claimed(DESK, "mine");
        released("mine");
        assertThat(accept(through("theirs", message("x")))).isEqualTo(new Receipt.Released("theirs"));
        assertThat(accept(through("never", message("x")))).isEqualTo(new Receipt.Released("never"));
        assertThat(accept(through("mine", message("x")))).isEqualTo(new Receipt.Released("mine"));
        assertThat(arrivals(Selection.HEADERS)).isEmpty();
    }

    @Test
    @Tag("IN-20")
    public void accept_ofAKindTheAddressDoesNotTake_isRefusedWithWhatItTakes() {
        open(DESK);
        Set<ArrivalKind> kinds = Set.of(ArrivalKind.AUTHORIZATION, ArrivalKind.ANSWER);
        claimed(DESK, "auth", new AddressTerms(kinds, true));
        for (ArrivalKind kind : ArrivalKind.values()) {
            if (!kinds.contains(kind)) {
                assertThat(accept(through("auth", of(kind, Optional.empty()))))
                        .isInstanceOfSatisfying(
                                Receipt.Refused.class,
                                refused -> assertThat(refused.reason())
                                        .containsIgnoringCase("authorization")
                                        .containsIgnoringCase("answer"));
            }
        }
        assertThat(arrivals(Selection.HEADERS)).isEmpty();
        assertThat(tokens(DESK)).as("a refusal uses nothing up").containsExactly("auth");
        assertThat(accept(through("auth", of(ArrivalKind.ANSWER, Optional.empty()))))
                .isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    @Tag("IN-20")
    @Tag("IN-12")
    public void accept_throughAnAddressForOne_usesItUpInTheSameCommit() {
        open(DESK);
        accept(message("before"));
        claimed(DESK, "auth", AddressTerms.authorization());
        Receipt.Accepted first =
                (Receipt.Accepted) accept(through("auth", of(ArrivalKind.AUTHORIZATION, Optional.of("k"))));
        assertThat(accept(through("auth", of(ArrivalKind.AUTHORIZATION, Optional.of("other")))))
                .isEqualTo(new Receipt.Released("auth"));
        reopen();
        assertThat(accept(through("auth", of(ArrivalKind.AUTHORIZATION, Optional.empty()))))
                .isEqualTo(new Receipt.Released("auth"));
        assertThat(accept(through("auth", of(ArrivalKind.AUTHORIZATION, Optional.of("k")))))
                .as("the same delivery again")
                .isEqualTo(new Receipt.Duplicate(first.id(), 2, first.acceptedAt()));
        assertThat(now(journal.address("auth")))
                .hasValue(new Address("auth", DESK, AddressTerms.authorization(), OptionalLong.of(2)));
        assertThat(tokens(DESK)).isEmpty();
        assertThat(released()).isEmpty();
        assertThat(arrivals(Selection.HEADERS)).hasSize(2);
    }

    @Test
    @Tag("IN-20")
    public void accept_severalAtOnceThroughAnAddressForOne_isAcceptedOnce() {
        open(DESK);
        claimed(DESK, "call", AddressTerms.toolRun());
        List<CompletionStage<Receipt>> stages = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            stages.add(journal.accept(through("call", of(ArrivalKind.TOOL_RUN, Optional.of("key " + i)))));
        }
        List<Receipt> receipts = stages.stream().map(this::now).toList();
        assertThat(receipts.stream().filter(Receipt.Accepted.class::isInstance)).hasSize(1);
        assertThat(receipts.stream().filter(new Receipt.Released("call")::equals))
                .hasSize(9);
    }

    @Test
    @Tag("IN-20")
    public void accept_refusedForWantOfRoom_leavesTheAddressForOneClaimed() {
        now(journal.open(DESK, new SessionLimits(1, 100)));
        claimed(DESK, "call", AddressTerms.toolRun());
        accept(message("full"));
        Delivery result = through("call", of(ArrivalKind.TOOL_RUN, Optional.empty()));
        assertThat(accept(result)).isInstanceOf(Receipt.Full.class);
        assertThat(tokens(DESK)).containsExactly("call");
        append(claim(), BatchDraft.after(0, "taken").taken(1, 1, 4));
        assertThat(accept(result)).isInstanceOf(Receipt.Accepted.class);
    }

    // Releasing

    @Test
    @Tag("IN-10")
    public void releaseAddresses_marksThemDurablyWithTheLastArrivalBefore() {
        open(DESK);
        claimed(DESK, "b");
        claimed(DESK, "a");
        accept(through("a", message("one")));
        CompletionStage<Receipt> before = journal.accept(through("b", message("two")));
        CompletionStage<List<Address>> release = journal.releaseAddresses(DESK, List.of());
        CompletionStage<Receipt> after = journal.accept(through("b", message("three")));
        assertThat(now(before)).isInstanceOf(Receipt.Accepted.class);
        assertThat(now(release))
                .containsExactly(
                        new Address("b", DESK, OPEN, OptionalLong.of(2)),
                        new Address("a", DESK, OPEN, OptionalLong.of(2)));
        assertThat(now(after)).isEqualTo(new Receipt.Released("b"));
        assertThat(released()).as("a second call gives nothing up").isEmpty();
        reopen();
        assertThat(released()).isEmpty();
        assertThat(tokens(DESK)).isEmpty();
        assertThat(accept(through("a", message("late")))).isEqualTo(new Receipt.Released("a"));
        assertThat(now(journal.address("a"))).hasValue(new Address("a", DESK, OPEN, OptionalLong.of(2)));
        assertThat(arrivals(Selection.HEADERS)).hasSize(2);
    }

    @Test
    @Tag("IN-10")
    public void releaseAddresses_ofSome_passesOverWhatTheSessionDoesNotHave() {
        open(DESK);
        open(OTHER);
        List.of("a", "b", "c").forEach(token -> claimed(DESK, token));
        claimed(OTHER, "theirs");
        assertThat(released("c", "theirs", "never", "a", "c"))
                .extracting(Address::token)
                .containsExactly("a", "c");
        assertThat(tokens(DESK)).containsExactly("b");
        assertThat(tokens(OTHER)).containsExactly("theirs");
    }

    @Test
    @Tag("IN-10")
    @Tag("IN-08")
    public void claimAddress_ofAReleasedOne_isOpenToEverySession() {
        open(DESK);
        open(OTHER);
        claimed(DESK, "a");
        claimed(DESK, "b");
        released("a");
        assertThat(claimed(OTHER, "a")).isEqualTo(new AddressClaim.Claimed("a"));
        assertThat(claimed(DESK, "a")).isEqualTo(new AddressClaim.Owned("a", OTHER));
        assertThat(accept(through("a", message("x")))).isEqualTo(new Receipt.Released("a"));
        assertThat(now(journal.address("a"))).hasValue(new Address("a", OTHER, OPEN, OptionalLong.empty()));
        now(journal.releaseAddresses(OTHER, List.of("a")));
        assertThat(claimed(DESK, "a")).isEqualTo(new AddressClaim.Claimed("a"));
        assertThat(tokens(DESK)).as("claimed anew, it is the last").containsExactly("b", "a");
        assertThat(accept(through("a", message("x")))).isInstanceOf(Receipt.Accepted.class);
    }

    @Test
    public void claimAddress_isNeitherAnArrivalNorAnEvent() {
        open(DESK);
        Claim claim = claim();
        claimed(DESK, "a");
        released("a");
        assertThat(ready()).isEmpty();
        assertThat(append(claim, BatchDraft.after(0, "a"))).isEqualTo(new Claim.Appended.Committed(1));
    }
}
