package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Address;
import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.HoldfastException;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.SessionName;
import dev.holdfast.testkit.SeededBug;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Claim against release, and both against deliveries, in every order (IN-08, IN-10). */
final class AddressOrdersTest {
    private static final SessionName OTHER = new SessionName("other");
    private static final Author WEB = new Author("ada", "web");

    private static CompletionStage<Receipt> deliver(Race race, String text) {
        return race.holdfast().deliver("hook", new Payload.Words(text, DeliveryPolicy.NEXT), WEB, Optional.empty());
    }

    private static Optional<String> failure(CompletableFuture<Address> claim) {
        if (!claim.isDone()) {
            throw new AssertionError("a claim hangs");
        }
        return claim.handle((address, failure) -> {
                    var cause = failure instanceof CompletionException e ? e.getCause() : failure;
                    assertThat(cause == null || cause instanceof HoldfastException)
                            .as("how it failed: " + failure)
                            .isTrue();
                    return Optional.ofNullable(cause).map(Throwable::getMessage);
                })
                .join();
    }

    /** Two sessions, one of them twice. */
    static void claimed(Race race) {
        var here = race.now(race.holdfast().inbox(Race.NAME)).session().addresses();
        var there = race.now(race.holdfast().inbox(OTHER)).session().addresses();
        var once = race.atOnce(() -> here.claim("hook"));
        var twice = race.atOnce(() -> here.claim("hook"));
        var others = race.atOnce(() -> there.claim("hook"));
        race.go();
        assertThat(failure(once).isPresent())
                .as("idempotent")
                .isEqualTo(failure(twice).isPresent());
        assertThat(failure(once).isPresent())
                .as("one has it")
                .isNotEqualTo(failure(others).isPresent());
        failure(once).ifPresent(why -> assertThat(why).contains("belongs to session other"));
        failure(others).ifPresent(why -> assertThat(why).contains("belongs to session race"));
        assertThat(race.now(here.claimed())).isEqualTo(failure(once).isPresent() ? List.of() : List.of("hook"));
        assertThat(race.now(there.claimed()))
                .as("a claim that failed leaves nothing")
                .isEqualTo(failure(others).isPresent() ? List.of() : List.of("hook"));
    }

    /** Deliveries to an address that is being given up, and wanted by another. */
    static void released(Race race) {
        var inbox = race.now(race.holdfast().inbox(Race.NAME));
        var other = race.now(race.holdfast().inbox(OTHER));
        var here = inbox.session().addresses();
        race.now(here.claim("hook"));
        race.now(deliver(race, "before"));
        var receipts = race.atOnce(() -> deliver(race, "one")
                .thenCompose(first -> deliver(race, "two").thenApply(second -> List.of(first, second))));
        var release = race.atOnce(here::release);
        var given = race.atOnce(inbox::takeAll);
        var wanted = race.atOnce(() -> other.session().addresses().claim("hook"));
        race.go();
        var released = Race.done("the release", release);
        var taken = Race.done("the reader", given);
        boolean theirs = failure(wanted).isEmpty();
        failure(wanted).ifPresent(why -> assertThat(why).contains("belongs to session race"));
        var both = new ArrayList<>(taken.stream().map(Received::number).toList());
        released.forEach(m -> both.add(m.number()));
        assertThat(both)
                .as("in one hand each, in order")
                .doesNotHaveDuplicates()
                .isSorted();
        var read = new ArrayList<>(taken.stream().map(Race::text).toList());
        released.forEach(m -> read.add(Race.text(m)));
        race.now(other.takeAll()).forEach(m -> read.add(Race.text(m)));
        var stored = new ArrayList<>(List.of("before"));
        for (int i = 0; i < 2; i++) {
            switch (Race.done("the deliveries", receipts).get(i)) {
                case Receipt.Stored unused -> stored.add(List.of("one", "two").get(i));
                case Receipt.Released gone -> assertThat(gone.address()).isEqualTo("hook");
                case Receipt.Refusal why -> throw new AssertionError("refused for another reason: " + why);
            }
        }
        assertThat(read).as("what was stored has one reader").containsExactlyInAnyOrderElementsOf(stored);
        assertThat(race.now(inbox.takeAll())).as("nothing is left behind").isEmpty();
        assertThat(race.now(here.claimed())).isEmpty();
        assertThat(race.now(deliver(race, "late")))
                .isInstanceOf(theirs ? Receipt.Accepted.class : Receipt.Released.class);
        assertThat(race.now(here.release())).as("a second call").isEmpty();
    }

    @Tag("IN-08")
    @Test
    void claim_bySeveralAtOnce_isOfOneSession(TestReporter reporter) {
        Race.keeps(Race.MIXED, reporter, AddressOrdersTest::claimed);
        Race.catches(SeededBug.CLAIM_LEAKED_ON_FAILURE, Race.MIXED, reporter, AddressOrdersTest::claimed);
    }

    @Tag("IN-10")
    @Tag("IN-08")
    @Test
    void release_whileDeliveriesComeAndAnotherClaims_losesNone(TestReporter reporter) {
        Race.keeps(Race.ONE, reporter, AddressOrdersTest::released);
        Race.catches(SeededBug.RELEASED_ADDRESS_ACCEPTS, Race.TWO, reporter, AddressOrdersTest::released);
    }
}
