package dev.holdfast.it;

import static dev.holdfast.it.Station.stored;
import static dev.holdfast.it.Station.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.FeedEnd;
import dev.holdfast.Inbox;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Received;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SteerAnswer;
import dev.holdfast.Withdrawal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two hosts on one store: the session is one's, goes to the other, and whoever sends does not notice; in virtual time. */
final class HandOffTest {
    private static final SessionName NAME = new SessionName("shared");

    private final LeasedJournal.Leases leases = new LeasedJournal.Leases();

    private VirtualHosts.Host host(VirtualHosts hosts) {
        return hosts.host(journal -> new LeasedJournal(journal, leases));
    }

    private static Received take(VirtualHosts hosts, Inbox inbox) {
        return hosts.run(inbox.next()).orElseThrow(() -> new AssertionError("the inbox ended: " + inbox.lastEnd()));
    }

    private static long send(VirtualHosts hosts, Session session, String text) {
        return stored(hosts.run(session.sendAsync(Message.of(text)))).number();
    }

    @Tag("IN-18")
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void release_handsTheSessionOver_andSendersDoNotNotice(long seed) {
        var hosts = new VirtualHosts(seed);
        var one = host(hosts);
        var two = host(hosts);
        var first = hosts.run(one.holdfast().inbox(NAME));
        var session = first.session();
        var before = send(hosts, session, "before");
        hosts.run(first.settle(take(hosts, first), "by the first"));
        var parked = first.next();
        var waiting = send(hosts, session, "waits");
        var reply = session.reply(waiting);
        hosts.run(first.settle(hosts.run(parked).orElseThrow(), "by the first too"));
        var later = session.sendAsync(Message.of("while it is let go"));
        var released = one.holdfast().release(NAME, Duration.ofSeconds(10));
        var during = session.sendAsync(Message.of("in between"));
        hosts.run(released);
        assertThat(leases.owned(NAME)).isFalse();
        assertThat(hosts.run(first.next())).isEmpty();
        assertThat(one.holdfast().open(NAME)).isEmpty();
        var after = hosts.run(session.sendAsync(Message.of("after")));
        var afterReply = session.reply(stored(after).number());
        var second = hosts.run(two.holdfast().inbox(NAME));
        var given = new ArrayList<String>();
        for (int i = 0; i < 3; i++) {
            var taken = take(hosts, second);
            given.add(text(taken));
            assertThat(hosts.run(second.settle(taken, Outcome.ANSWERED, "by the second")))
                    .isTrue();
        }
        assertThat(given).containsExactlyInAnyOrder("while it is let go", "in between", "after");
        assertThat(given.getLast()).isEqualTo("after");
        stored(hosts.run(later));
        stored(hosts.run(during));
        assertThat(hosts.run(reply).text()).isEqualTo("by the first too");
        assertThat(hosts.run(afterReply).text()).as("told where it was sent").isEqualTo("by the second");
        assertThat(hosts.run(session.reply(before)).text()).isEqualTo("by the first");
    }

    @Tag("IN-18")
    @Test
    void release_withAMessageInFlight_waitsForItOrForTheDeadline() {
        var hosts = new VirtualHosts(1);
        var one = host(hosts);
        var two = host(hosts);
        var first = hosts.run(one.holdfast().inbox(NAME));
        send(hosts, first.session(), "slow");
        send(hosts, first.session(), "slower");
        var taken = take(hosts, first);
        var released = one.holdfast().release(NAME, Duration.ofSeconds(30)).toCompletableFuture();
        hosts.pass(Duration.ofSeconds(20));
        assertThat(released).as("only when drained").isNotDone();
        assertThat(leases.owned(NAME)).isTrue();
        assertThat(hosts.run(first.settle(taken, "done"))).isTrue();
        assertThat(hosts.run(released).queued()).isEqualTo(1);
        var second = hosts.run(two.holdfast().inbox(NAME));
        var slower = take(hosts, second);
        hosts.run(two.holdfast().release(NAME, Duration.ofSeconds(5)));
        assertThat(hosts.run(second.settle(slower, "too late"))).isFalse();
        var again = hosts.run(one.holdfast().inbox(NAME));
        assertThat(text(take(hosts, again)))
                .as("what was in flight at the deadline goes on with the next owner")
                .isEqualTo("slower");
    }

    @Tag("IN-18")
    @Test
    void takingUp_duringAHandOff_retriesForFiveSeconds() {
        var hosts = new VirtualHosts(1);
        var one = host(hosts);
        var two = host(hosts);
        var first = hosts.run(one.holdfast().inbox(NAME));
        send(hosts, first.session(), "for whoever comes");
        var begun = hosts.time().now();
        var refused = two.holdfast().inbox(NAME);
        assertThat(hosts.failure(refused))
                .hasMessageContaining("cannot be read here")
                .hasMessageContaining("another host owns it");
        assertThat(Duration.between(begun, hosts.time().now())).isBetween(Duration.ofSeconds(5), Duration.ofSeconds(7));
        assertThat(text(take(hosts, first))).as("nothing was done").isEqualTo("for whoever comes");
        var patient = two.holdfast().inbox(NAME).toCompletableFuture();
        hosts.pass(Duration.ofSeconds(2));
        assertThat(patient).isNotDone();
        hosts.run(one.holdfast().release(NAME, Duration.ZERO));
        var second = hosts.run(patient);
        assertThat(text(take(hosts, second))).isEqualTo("for whoever comes");
    }

    @Tag("IN-18")
    @Test
    void wishes_sentThroughTheOtherHost_areActedOnByTheOwner() {
        var hosts = new VirtualHosts(1);
        var one = host(hosts);
        var two = host(hosts);
        var first = hosts.run(one.holdfast().inbox(NAME));
        send(hosts, first.session(), "one");
        var elsewhere = hosts.run(two.holdfast().mailbox(NAME)).session();
        var withdrawn = elsewhere.withdraw(1);
        assertThat(hosts.run(withdrawn)).isEqualTo(new Withdrawal.Withdrawn(1));
        assertThat(hosts.run(elsewhere.reply(1)).outcome()).isEqualTo(Outcome.WITHDRAWN);
        var steered = hosts.run(elsewhere.steerAsync(Message.of("steer")));
        assertThat(steered).as("durable, and not in a turn").isEqualTo(SteerAnswer.QUEUED);
        stored(hosts.run(elsewhere.interruptAsync()));
        assertThat(text(take(hosts, first))).isEqualTo("steer");
        assertThat(take(hosts, first).payload()).isEqualTo(Payload.Cancel.any());
        assertThat(hosts.failure(elsewhere.question("q", "Anybody?", Duration.ofHours(1))))
                .hasMessageContaining("nothing was done");
        assertThat(hosts.run(elsewhere.drain(Duration.ofSeconds(1))).queued()).isZero();
        assertThat(hosts.run(first.next())).isEmpty();
        assertThat(first.lastEnd()).contains(FeedEnd.DRAINED);
    }

    @Tag("IN-18")
    @Tag("P3")
    @Test
    void owner_overtaken_isFencedAndItsCallersAreTold() {
        var hosts = new VirtualHosts(1);
        var one = host(hosts);
        var two = host(hosts);
        var first = hosts.run(one.holdfast().inbox(NAME));
        long number = send(hosts, first.session(), "one");
        var taken = take(hosts, first);
        var reply = first.session().reply(number);
        var parked = first.next();
        var awaiting = first.session().awaitMessage();
        leases.expire(NAME);
        var second = hosts.run(two.holdfast().inbox(NAME));
        var again = take(hosts, second);
        assertThat(again.number()).isEqualTo(taken.number());
        assertThat(hosts.run(first.settle(taken, "stale"))).isFalse();
        assertThat(hosts.run(parked)).isEmpty();
        assertThat(first.lastEnd()).contains(FeedEnd.FENCED);
        assertThat(hosts.run(awaiting)).isFalse();
        assertThat(hosts.failure(reply)).hasMessageContaining("taken the session over");
        assertThat(hosts.run(second.settle(again, "fresh"))).isTrue();
        assertThat(hosts.run(first.session().reply(number)).text()).isEqualTo("fresh");
        send(hosts, first.session(), "two");
        assertThat(text(take(hosts, second))).isEqualTo("two");
    }

    @Tag("IN-16")
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void session_openedByTwoHostsAtOnce_isOneWithBothMessages(long seed) {
        var hosts = new VirtualHosts(seed);
        var opened = List.of(host(hosts), host(hosts)).stream()
                .map(h -> h.holdfast().mailbox(NAME))
                .toList();
        var sent = new ArrayList<java.util.concurrent.CompletionStage<?>>();
        for (int i = 0; i < 2; i++) {
            String text = "from host " + i;
            sent.add(opened.get(i).thenCompose(m -> m.session().sendAsync(Message.of(text))));
        }
        sent.forEach(hosts::run);
        var mailbox = hosts.run(opened.getFirst());
        var all = hosts.run(mailbox.drainFeed());
        assertThat(all).extracting(Station::text).containsExactlyInAnyOrder("from host 0", "from host 1");
        assertThat(all).extracting(Received::number).containsExactly(1L, 2L);
        assertThat(Optional.of(mailbox.session().name())).contains(NAME);
    }
}
