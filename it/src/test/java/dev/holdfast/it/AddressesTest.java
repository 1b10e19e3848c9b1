package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.awaitStatus;
import static dev.holdfast.it.Station.failure;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.send;
import static dev.holdfast.it.Station.stored;
import static dev.holdfast.it.Station.text;
import static dev.holdfast.it.Station.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Address;
import dev.holdfast.AddressTerms;
import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.HoldfastException;
import dev.holdfast.Inbox;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.SessionName;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Addresses of sessions: claimed, released and restored, on real files. */
final class AddressesTest {
    private static final Author WEB = new Author("ada", "web");

    @TempDir
    Path data;

    private Station station;
    private Inbox inbox;

    @BeforeEach
    void open() {
        station = new Station(data);
        inbox = now(station.host().inbox(NAME));
    }

    @AfterEach
    void close() {
        station.close();
    }

    private void restart() {
        station.restart();
        inbox = now(station.host().inbox(NAME));
    }

    private void claim(String... tokens) {
        for (String token : tokens) {
            now(inbox.session().addresses().claim(token));
        }
    }

    private List<String> claimed() {
        return now(inbox.session().addresses().claimed());
    }

    private Receipt deliver(String token, String text) {
        return now(station.host().deliver(token, new Payload.Words(text, DeliveryPolicy.NEXT), WEB, Optional.empty()));
    }

    @Tag("IN-08")
    @Test
    void claim_again_isTheSameAndKeepsItsPlace() {
        claim("b", "a", "c", "a", "b");
        assertThat(claimed()).as("in claim order").containsExactly("b", "a", "c");
        var address = now(inbox.session().addresses().claim("a"));
        assertThat(address.token()).isEqualTo("a");
        assertThat(address.session()).isEqualTo(NAME);
        restart();
        assertThat(claimed()).as("durable when answered").containsExactly("b", "a", "c");
    }

    @Tag("IN-08")
    @Test
    void claim_byManyAtOnce_isOne() {
        var claims = IntStream.range(0, 16)
                .mapToObj(i -> inbox.session().addresses().claim("same"))
                .toList();
        claims.forEach(c -> assertThat(now(c).token()).isEqualTo("same"));
        assertThat(claimed()).containsExactly("same");
    }

    @Tag("IN-08")
    @Test
    void claim_ownedElsewhere_failsNamingTheOwnerAndLeavesNothing() {
        claim("mine");
        var other = now(station.host().inbox(new SessionName("other")));
        assertThat(failure(other.session().addresses().claim("mine")))
                .hasMessageContaining("'mine'")
                .hasMessageContaining("belongs to session station");
        assertThat(now(other.session().addresses().claimed())).isEmpty();
        now(inbox.session().addresses().release());
        assertThat(now(other.session().addresses().claim("mine")).session())
                .as("free once it was released")
                .isEqualTo(new SessionName("other"));
    }

    @Tag("IN-08")
    @Test
    void claim_byTwoSessionsAtOnce_isOneOfTheirs() {
        var other = now(station.host().inbox(new SessionName("other")));
        for (int i = 0; i < 20; i++) {
            var token = "contested-" + i;
            var here = inbox.session().addresses().claim(token);
            var there = other.session().addresses().claim(token);
            var winners = List.of(here, there).stream()
                    .map(c -> c.handle((address, failure) -> failure == null))
                    .filter(Station::now)
                    .toList();
            assertThat(winners).hasSize(1);
        }
        assertThat(claimed().size() + now(other.session().addresses().claimed()).size())
                .isEqualTo(20);
    }

    @Tag("IN-08")
    @Test
    void claim_beyondTheLimit_isRefusedUntilOneIsReleased() {
        var all = IntStream.range(0, Address.PER_SESSION_MAX)
                .mapToObj(i -> "t" + i)
                .toList();
        now(inbox.session().addresses().claimAll(all));
        assertThat(failure(inbox.session().addresses().claim("one-more")))
                .hasMessageContaining("256 addresses, which is the limit")
                .hasMessageContaining("one-more");
        assertThat(claimed()).containsExactlyElementsOf(all);
        now(inbox.session().addresses().dispose());
        claim("one-more");
        assertThat(claimed()).containsExactly("one-more");
    }

    @Tag("IN-08")
    @Test
    void claim_ofAnEmptyToken_isRefused() {
        for (String token : List.of("", " ", "x".repeat(Address.TOKEN_MAX + 1))) {
            assertThatThrownBy(() -> inbox.session().addresses().claim(token))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 to 256");
        }
        assertThat(claimed()).isEmpty();
    }

    @Tag("IN-09")
    @Test
    void claimAll_withDoublesAndFailures_claimsTheRestAndThrowsTheFirst() {
        var other = now(station.host().inbox(new SessionName("other")));
        now(other.session().addresses().claimAll(List.of("taken-1", "taken-2")));
        assertThat(failure(
                        inbox.session().addresses().claimAll(List.of("a", "taken-2", "b", "a", "taken-1", "c", "b"))))
                .as("the first in the given order")
                .hasMessageContaining("'taken-2'");
        assertThat(claimed()).containsExactly("a", "b", "c");
        assertThat(now(inbox.session().addresses().claimAll(List.of("c", "d", "c"))))
                .extracting(Address::token)
                .containsExactly("c", "d");
        assertThatThrownBy(() -> now(inbox.session().addresses().claimAll(List.of("e", "", "f"))))
                .as("a token that is not allowed fails in its place")
                .hasMessageContaining("1 to 256");
        assertThat(claimed()).containsExactly("a", "b", "c", "d", "e", "f");
    }

    @Tag("IN-10")
    @Test
    void release_returnsTheUnreadInOrder_andLaterDeliveriesAreTold() {
        claim("hook", "thread");
        stored(deliver("hook", "one"));
        stored(deliver("thread", "two"));
        send(inbox.session(), "three");
        stored(deliver("hook", "four"));
        var taken = now(inbox.next()).orElseThrow();
        assertThat(text(taken)).isEqualTo("one");
        var released = now(inbox.session().addresses().release());
        assertThat(texts(released)).containsExactly("two", "three", "four");
        assertThat(released.getFirst().address()).contains("thread");
        assertThat(claimed()).isEmpty();
        var late = deliver("hook", "late");
        assertThat(late).isInstanceOf(Receipt.Released.class);
        assertThat(((Receipt.Refusal) late).message()).contains("'hook'").contains("claimed by no session");
        assertThat(now(inbox.session().addresses().release()))
                .as("a second call")
                .isEmpty();
        assertThat(now(inbox.hasPending()))
                .as("nobody here reads them any more")
                .isFalse();
        assertThat(now(inbox.takeAll())).isEmpty();
        assertThat(now(inbox.settle(taken, "done")))
                .as("what was read before is not released")
                .isTrue();
    }

    @Tag("IN-10")
    @Test
    void release_isDurable() {
        claim("hook");
        stored(deliver("hook", "one"));
        var released = now(inbox.session().addresses().release());
        restart();
        assertThat(deliver("hook", "late")).isInstanceOf(Receipt.Released.class);
        assertThat(claimed()).isEmpty();
        assertThat(now(inbox.takeAll())).as("held by the releaser").isEmpty();
        now(inbox.session().addresses().restore(released));
        assertThat(texts(now(inbox.takeAll()))).containsExactly("one");
    }

    @Tag("IN-10")
    @Test
    void dispose_givesTheAddressesUpAndLeavesTheUnread() {
        claim("hook");
        stored(deliver("hook", "one"));
        now(inbox.session().addresses().dispose());
        now(inbox.session().addresses().dispose());
        assertThat(deliver("hook", "late")).isInstanceOf(Receipt.Released.class);
        assertThat(claimed()).isEmpty();
        assertThat(texts(now(inbox.takeAll()))).containsExactly("one");
    }

    @Tag("IN-10")
    @Test
    void release_withoutAnAgentOrAReader_worksAsWell() {
        claim("hook");
        stored(deliver("hook", "one"));
        station.restart();
        var session = station.host().mail(NAME);
        assertThat(texts(now(session.addresses().release()))).containsExactly("one");
        now(session.addresses().claim("hook"));
        now(session.addresses().restore(List.of()));
    }

    @Tag("IN-11")
    @Test
    void restore_putsThemBackInFrontInTheirOrder() {
        claim("hook");
        stored(deliver("hook", "one"));
        stored(deliver("hook", "two"));
        stored(deliver("hook", "three"));
        var released = now(inbox.session().addresses().release());
        claim("hook");
        stored(deliver("hook", "later"));
        var shuffled = List.of(released.get(2), released.get(0), released.get(1));
        now(inbox.session().addresses().restore(shuffled));
        now(inbox.session().addresses().restore(released));
        var all = now(inbox.takeAll());
        assertThat(texts(all)).as("in front, in order, once").containsExactly("one", "two", "three", "later");
        assertThat(now(inbox.settle(all.getFirst(), "done"))).isTrue();
        assertThat(now(inbox.session().reply(all.getFirst().number())).text()).isEqualTo("done");
    }

    @Tag("IN-11")
    @Test
    void restore_ofSome_leavesTheOthersWithTheReleaser() {
        claim("hook");
        stored(deliver("hook", "one"));
        stored(deliver("hook", "two"));
        var released = now(inbox.session().addresses().release());
        now(inbox.session().addresses().restore(released.subList(1, 2)));
        assertThat(texts(now(inbox.takeAll()))).containsExactly("two");
        now(inbox.session().addresses().restore(released));
        assertThat(texts(now(inbox.takeAll()))).as("each once").containsExactly("one");
    }

    @Tag("IN-11")
    @Test
    void restore_intoAClosedSession_fails() {
        claim("hook");
        stored(deliver("hook", "one"));
        var released = now(inbox.session().addresses().release());
        var reply = inbox.session().reply(released.getFirst().number());
        inbox.session().close("over");
        assertThat(now(reply).outcome()).as("nothing is without an end").isEqualTo(Outcome.CLOSED);
        awaitStatus(inbox.session(), s -> s.phase().equals("CLOSED"));
        assertThat(failure(inbox.session().addresses().restore(released)))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("closed");
        assertThat(failure(inbox.session().addresses().claim("hook"))).hasMessageContaining("closed");
    }

    @Tag("IN-01")
    @Test
    void address_isReached_whileItsSessionSleeps() {
        claim("hook");
        station.restart();
        var number = stored(deliver("hook", "for the sleeper")).number();
        inbox = now(station.host().inbox(NAME));
        var taken = now(inbox.next()).orElseThrow();
        assertThat(taken.number()).isEqualTo(number);
        assertThat(taken.address()).contains("hook");
        var once = now(inbox.session().addresses().claim("cb", AddressTerms.authorization()));
        assertThat(once.terms().once()).isTrue();
    }
}
