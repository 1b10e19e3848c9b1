package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.EventListener;
import dev.holdfast.HoldfastException;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Session;
import dev.holdfast.SessionEvent;
import dev.holdfast.SessionName;
import dev.holdfast.SessionStatus;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/** One data directory and the host on it, which can be closed and opened again. Nothing may hang: every wait is bounded. */
final class Station implements AutoCloseable {
    static final SessionName NAME = new SessionName("station");
    static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Path data;
    private final Options options;
    private Holdfast host;

    Station(Path data) {
        this(data, Options.standard());
    }

    Station(Path data, Options options) {
        this.data = data;
        this.options = options;
        host = Holdfast.open(SqliteJournal.at(data), options);
    }

    Holdfast host() {
        return host;
    }

    /** An orderly end and a new host on the same files. */
    void restart() {
        host.close();
        host = Holdfast.open(SqliteJournal.at(data), options);
    }

    /** The value of a stage that must complete soon. */
    static <T> T now(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("it hangs: " + stage, e);
        } catch (ExecutionException e) {
            throw new AssertionError("it failed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** How a stage fails that must fail soon, in the one family of exceptions. */
    static HoldfastException failure(CompletionStage<?> stage) {
        try {
            var value = stage.toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            throw new AssertionError("it did not fail, and gave " + value);
        } catch (TimeoutException e) {
            throw new AssertionError("it hangs: " + stage, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof HoldfastException failure) {
                return failure;
            }
            throw new AssertionError("it failed in another way: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** Sends each as a message of its own; their numbers. */
    static List<Long> send(Session session, String... texts) {
        var numbers = new ArrayList<Long>();
        for (String text : texts) {
            numbers.add(stored(session.send(Message.of(text))).number());
        }
        return numbers;
    }

    static Receipt.Stored stored(Receipt receipt) {
        assertThat(receipt).isInstanceOf(Receipt.Stored.class);
        return (Receipt.Stored) receipt;
    }

    static Receipt.Refusal refused(Receipt receipt) {
        assertThat(receipt).isInstanceOf(Receipt.Refusal.class);
        return (Receipt.Refusal) receipt;
    }

    static String text(Received received) {
        return received.payload() instanceof Payload.Words words
                ? words.text()
                : received.payload().toString();
    }

    static List<String> texts(List<Received> received) {
        return received.stream().map(Station::text).toList();
    }

    static Optional<String> text(CompletionStage<Optional<Received>> stage) {
        return now(stage).map(Station::text);
    }

    /** Waits until the committed status is so. */
    static SessionStatus awaitStatus(Session session, java.util.function.Predicate<SessionStatus> wanted) {
        return Awaitility.await("a status of session " + session.name())
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(5))
                .until(session::status, wanted);
    }

    /** The committed events of a session, as they come. */
    static Events events(Session session) {
        var events = new Events();
        var unused = session.events(0, events);
        return events;
    }

    /** What a subscriber was told. */
    static final class Events implements EventListener {
        private final List<SessionEvent> all = new CopyOnWriteArrayList<>();

        @Override
        public void onEvent(SessionEvent event) {
            all.add(event);
        }

        List<SessionEvent> all() {
            return List.copyOf(all);
        }

        List<String> types() {
            return all.stream().map(SessionEvent::type).toList();
        }

        /** The first event of this type whose body has all these parts. */
        SessionEvent await(String type, String... parts) {
            return Awaitility.await("event " + type + " with " + List.of(parts))
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> find(type, parts), Optional::isPresent)
                    .orElseThrow();
        }

        private Optional<SessionEvent> find(String type, String... parts) {
            return all.stream()
                    .filter(e -> e.type().equals(type))
                    .filter(e -> List.of(parts).stream().allMatch(p -> e.body().contains(p)))
                    .findFirst();
        }
    }

    @Override
    public void close() {
        host.close();
    }
}
