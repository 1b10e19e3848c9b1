package dev.holdfast.it;

import static dev.holdfast.it.Station.stored;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Journal;
import dev.holdfast.Message;
import dev.holdfast.SessionName;
import java.lang.ref.WeakReference;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sessions with nothing to do cost nothing, and whatever comes in wakes them, announced or not; in virtual time. */
final class SleepTest {
    private static final SessionName NAME = new SessionName("sleeper");

    private final VirtualHosts hosts = new VirtualHosts(1);
    private final AtomicReference<Journal> store = new AtomicReference<>();

    /** How often somebody took the session up. */
    private long epoch() {
        return hosts.run(store.get().session(NAME)).orElseThrow().epoch();
    }

    private VirtualHosts.Host host() {
        return hosts.host(journal -> {
            store.set(journal);
            return journal;
        });
    }

    /** The same store, which announces nothing. */
    private static Journal deaf(Journal store) {
        return (Journal) Proxy.newProxyInstance(
                Journal.class.getClassLoader(), new Class<?>[] {Journal.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("onAccepted")) {
                        return null;
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Tag("IN-21")
    @Test
    void mailThatNobodyCanTake_wakesAnOwnerOnceAndNotEachSecond() {
        var host = host();
        var mailbox = hosts.run(host.holdfast().mailbox(NAME));
        stored(hosts.run(mailbox.session().sendAsync(Message.of("waits"))));
        hosts.pass(Duration.ofSeconds(5));
        long epoch = epoch();
        hosts.pass(Duration.ofMinutes(5));
        assertThat(epoch()).isEqualTo(epoch);
        stored(hosts.run(mailbox.session().sendAsync(Message.of("waits as well"))));
        hosts.pass(Duration.ofSeconds(5));
        assertThat(epoch()).isLessThanOrEqualTo(epoch + 1);
        assertThat(hosts.run(mailbox.drainFeed())).extracting(Station::text).containsExactly("waits", "waits as well");
    }

    @Tag("IN-21")
    @Test
    void mailOfAPausedSession_wakesNobodyEachSecond_andRunsOnceItIsResumed() {
        var host = host();
        var session = hosts.run(host.holdfast().sessionAsync(NAME, new InstantAgent(host.executor())));
        hosts.run(session.pause("for lunch"));
        long number = stored(hosts.run(session.sendAsync(Message.of("waits")))).number();
        hosts.pass(Duration.ofSeconds(5));
        long epoch = epoch();
        hosts.pass(Duration.ofMinutes(5));
        assertThat(epoch()).isEqualTo(epoch);
        hosts.run(session.resume());
        assertThat(hosts.run(session.reply(number)).text()).isNotEmpty();
    }

    @Tag("IN-21")
    @Test
    void signalsThatAreLost_areMadeUpFor_awakeAndAsleep() {
        var host = hosts.host(SleepTest::deaf);
        var session = hosts.run(host.holdfast().sessionAsync(NAME, new InstantAgent(host.executor())));
        for (int i = 0; i < 3; i++) {
            long number = stored(hosts.run(session.sendAsync(Message.of("message " + i))))
                    .number();
            hosts.pass(Duration.ofSeconds(3));
            assertThat(session.reply(number).toCompletableFuture()).isCompleted();
            hosts.pass(Duration.ofHours(1)); // its agent is evicted, its owner rests
        }
    }

    @Tag("IN-21")
    @Test
    void resumeOfAPausedSession_whoseSignalIsLost_isActedOn() {
        var host = hosts.host(SleepTest::deaf);
        var session = hosts.run(host.holdfast().sessionAsync(NAME, new InstantAgent(host.executor())));
        hosts.run(session.pause("for lunch"));
        hosts.pass(Duration.ofHours(1));
        long number = stored(hosts.run(session.sendAsync(Message.of("waits")))).number();
        var elsewhere = hosts.host();
        hosts.run(hosts.run(elsewhere.holdfast().mailAsync(NAME)).resume());
        elsewhere.kill();
        hosts.pass(Duration.ofSeconds(5));
        assertThat(hosts.run(session.reply(number)).text()).isNotEmpty();
    }

    @Test
    void sessionThatIsOnlyWrittenTo_isForgottenOnceNobodyRefersToIt() {
        var reading = hosts.host();
        var inbox = hosts.run(reading.holdfast().inbox(NAME));
        var writing = hosts.host();
        var forgotten = new WeakReference<>(hosts.run(writing.holdfast().mailAsync(NAME)));
        long number = stored(hosts.run(inbox.session().sendAsync(Message.of("hello"))))
                .number();
        var reply = hosts.run(writing.holdfast().mailAsync(NAME)).reply(number).toCompletableFuture();
        hosts.pass(Duration.ofSeconds(3));
        collect();
        assertThat(forgotten.get()).as("somebody waits for its reply").isNotNull();
        hosts.run(inbox.settle(hosts.run(inbox.next()).orElseThrow(), "good day"));
        assertThat(hosts.run(reply).text()).isEqualTo("good day");
        hosts.pass(Duration.ofSeconds(3));
        collect();
        assertThat(forgotten.get()).as("nobody waits, nobody refers to it").isNull();
    }

    private static void collect() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
    }
}
