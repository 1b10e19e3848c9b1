package dev.holdfast.it;

import static dev.holdfast.it.Station.stored;
import static dev.holdfast.it.Station.text;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Author;
import dev.holdfast.Inbox;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.SessionName;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Deadlines are absolute and stored: hosts come and go, and they do not move; in virtual time. */
final class DeadlinesTest {
    private static final SessionName NAME = new SessionName("patient");
    private static final Duration UNUSED = Duration.ofHours(2);

    private final VirtualHosts hosts =
            new VirtualHosts(1).limits(Limits.standard().withUnused(UNUSED));
    private VirtualHosts.Host host = hosts.host();

    private Inbox inbox() {
        return hosts.run(host.holdfast().inbox(NAME));
    }

    private void crash() {
        host.kill();
        host = hosts.host();
    }

    private Receipt send(Inbox inbox, String text) {
        return hosts.run(inbox.session().sendAsync(Message.of(text)));
    }

    @Tag("IN-17")
    @Test
    void question_keepsItsDeadlineOverCrashes() {
        var begun = hosts.time().now();
        var open = inbox().session().question("q-1", "Anybody?", Duration.ofMinutes(30));
        hosts.pass(Duration.ofMinutes(20));
        assertThat(open.toCompletableFuture()).isNotDone();
        crash();
        var again = inbox().session()
                .question("q-1", "Anybody?", Duration.ofMinutes(30))
                .toCompletableFuture();
        hosts.pass(Duration.ofMinutes(9));
        assertThat(again).isNotDone();
        hosts.pass(Duration.ofMinutes(2));
        assertThat(again).as("after 31 minutes, not 50").isCompletedWithValue(Optional.empty());
        assertThat(Duration.between(begun, hosts.time().now())).isLessThan(Duration.ofMinutes(32));
    }

    @Tag("IN-17")
    @Test
    void drain_keepsItsDeadlineOverCrashes() {
        var first = inbox();
        send(first, "slow");
        hosts.run(first.next());
        var mailbox = first.session().drain(Duration.ofMinutes(10)).toCompletableFuture();
        hosts.pass(Duration.ofMinutes(6));
        assertThat(mailbox).isNotDone();
        first.session().sendAsync(Message.of("waits"));
        hosts.pass(Duration.ofMinutes(5));
        assertThat(hosts.run(mailbox).queued()).isEqualTo(1);
    }

    @Tag("IN-17")
    @Test
    void session_unusedForItsTime_isClosedAndARestartDoesNotPushItOut() {
        var begun = hosts.time().now();
        var first = inbox();
        send(first, "one");
        hosts.run(first.settle(hosts.run(first.next()).orElseThrow(), "done"));
        first.close();
        for (int i = 0; i < 5; i++) {
            hosts.pass(Duration.ofMinutes(22));
            crash();
            hosts.run(host.holdfast().mailbox(NAME));
        }
        assertThat(send(inboxOf(), "in time")).isInstanceOf(Receipt.Accepted.class);
        assertThat(Duration.between(begun, hosts.time().now())).isLessThan(UNUSED);
    }

    private Inbox inboxOf() {
        crash();
        return inbox();
    }

    @Tag("IN-17")
    @Test
    void session_unusedForItsTime_isClosed() {
        var first = inbox();
        send(first, "one");
        hosts.run(first.settle(hosts.run(first.next()).orElseThrow(), "done"));
        var used = hosts.time().now();
        hosts.pass(Duration.ofMinutes(100));
        crash();
        var mailbox = hosts.run(host.holdfast().mailbox(NAME));
        hosts.pass(Duration.ofMinutes(19));
        var awaiting = mailbox.session().awaitMessage().toCompletableFuture();
        hosts.pass(Duration.ofSeconds(30));
        assertThat(awaiting)
                .as("119 minutes after its last use it is open, and waited for")
                .isNotDone();
        hosts.pass(Duration.ofMinutes(3));
        var refused = hosts.run(mailbox.session().sendAsync(Message.of("too late")));
        assertThat(refused).isInstanceOf(Receipt.Refused.class);
        assertThat(((Receipt.Refusal) refused).message()).contains("no turn for");
        assertThat(Duration.between(used, hosts.time().now()))
                .as("counted from its last use, not from the restart")
                .isLessThan(Duration.ofMinutes(125));
    }

    @Tag("IN-17")
    @Test
    void session_inUse_isNotClosedByTheAgeOfItsOpening() {
        var inbox = inbox();
        for (int i = 0; i < 5; i++) {
            hosts.pass(Duration.ofMinutes(50));
            assertThat(send(inbox, "m" + i)).isInstanceOf(Receipt.Accepted.class);
            hosts.run(inbox.settle(hosts.run(inbox.next()).orElseThrow(), "done"));
        }
        assertThat(Duration.between(
                        Instant.parse("2026-01-01T00:00:00Z"), hosts.time().now()))
                .isGreaterThan(UNUSED);
    }

    @Tag("IN-17")
    @Test
    void session_inWhichSomethingWaits_isNotClosedForLyingUnused() {
        var mailbox = hosts.run(host.holdfast().mailbox(NAME));
        stored(hosts.run(mailbox.session().sendAsync(Message.of("waits"))));
        hosts.pass(UNUSED.plusHours(1));
        assertThat(text(hosts.run(inboxAfter(mailbox).next()).orElseThrow())).isEqualTo("waits");
    }

    private Inbox inboxAfter(dev.holdfast.Mailbox mailbox) {
        mailbox.close();
        return inbox();
    }

    @Tag("IN-17")
    @Test
    void sessionTimeout_ofAFormerOwner_isIgnored() {
        var mail = hosts.run(host.holdfast().mailbox(NAME)).session();
        stored(hosts.run(mail.sendAsync(Message.of("opens it"))));
        crash();
        var agentless = hosts.run(host.holdfast().inbox(NAME));
        hosts.run(agentless.settle(hosts.run(agentless.next()).orElseThrow(), "done"));
        agentless.close();
        var nobody = hosts.host();
        var session = nobody.holdfast();
        stored(hosts.run(session.mailbox(NAME)
                .thenCompose(m -> m.session()
                        .submit(new Payload.SessionTimeout(1), new Author("clock", "host"), Optional.empty()))));
        hosts.pass(Duration.ofSeconds(5));
        var again = hosts.run(session.mailbox(NAME).handle((m, failure) -> session));
        assertThat(hosts.run(again.open(NAME).orElseThrow().sendAsync(Message.of("still open"))))
                .isInstanceOf(Receipt.Accepted.class);
    }
}
