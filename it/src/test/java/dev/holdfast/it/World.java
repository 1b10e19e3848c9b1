package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.testkit.Gate;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/** One conversation of one contender, over several lives of its host, each in a home of its own. */
final class World implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final Path data;
    private final Path home;
    private final Contender.Mind mind;
    /** The gates of all scripts: one may be come to only after a crash, so all are opened. */
    private static final List<String> GATES = List.of("hit");

    private final Promises promises;
    private final List<String> guarded;
    private HostUnderTest host;

    World(Contender contender, Path directory, ModelScript script) throws IOException {
        this(contender, directory, script, List.of());
    }

    /** @param guarded as the further arguments of {@link HostMain} */
    World(Contender contender, Path directory, ModelScript script, List<String> guarded) throws IOException {
        this.guarded = guarded;
        data = directory.resolve("data");
        home = Files.createDirectory(directory.resolve("home"));
        mind = contender.mind(directory, script);
        promises = new Promises(data, mind);
        host = start();
    }

    private HostUnderTest start() {
        return new HostUnderTest(data, home, mind.program(), mind.url(), guarded);
    }

    HostUnderTest host() {
        return host;
    }

    Path data() {
        return data;
    }

    Contender.Mind mind() {
        return mind;
    }

    /** Sends a message whose first word is its key; returns when it was accepted (P1). */
    void send(String text) {
        send(text.split(" ", 2)[0], text);
    }

    void send(String key, String text) {
        promises.sent(key, text);
        host.command("send", key, text);
        assertThat(host.await("receipt", key).get(2)).isEqualTo("Accepted");
    }

    /** Sends and waits for the committed end. */
    void ask(String text) {
        String key = text.split(" ", 2)[0];
        send(text);
        awaitReply(key);
    }

    String awaitReply(String key) {
        return host.await("reply", key).get(2);
    }

    void steer(String text) {
        String key = text.split(" ", 2)[0];
        promises.steered(key, text);
        host.command("steer", key, text);
    }

    /** Waits until the model stands at this gate. */
    void awaitGate(String name) {
        try {
            assertThat(gate(name).awaitReached(PATIENCE))
                    .as("the model came to gate " + name)
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    Gate gate(String name) {
        return mind.gate(name);
    }

    void openGates() {
        GATES.forEach(name -> gate(name).open());
    }

    /** Ends the warm process between turns; returns when it is gone. */
    void evict() {
        int mark = host.mark();
        host.command("evict");
        host.awaitFrom(mark, "event", "IncarnationEnded");
    }

    /** Where the agent works. */
    Path workingDirectory() {
        return data.resolve("agents").resolve(HostMain.SESSION).resolve("work");
    }

    /** Deletes the agent's own record, as soon as the agent has written it. */
    void deleteRecord() throws IOException {
        Awaitility.await("a record").atMost(PATIENCE).until(() -> !records().isEmpty());
        records().forEach(World::delete);
    }

    private List<Path> records() throws IOException {
        try (var files = Files.walk(data.resolve("agents"))) {
            return files.filter(file -> file.toString().endsWith(".jsonl")).toList();
        }
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void restart() {
        promises.neverTwoAgents(host.lines());
        host.close();
        host = start();
    }

    /** Waits until every message has its terminal record. */
    void awaitEnds() {
        try {
            Awaitility.await("every message has its end")
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(50))
                    .until(promises::everythingEnded);
        } catch (ConditionTimeoutException e) {
            throw new AssertionError(e.getMessage() + host.tail(), e);
        }
    }

    Promises promises() {
        return promises;
    }

    /** One more message, then the promises are looked at, and an orderly end leaves nothing behind. */
    void finish() {
        openGates();
        host.command("release");
        ask("LAST is anybody there?");
        promises.everyMessageStandsOnceInOrder();
        promises.everyMessageHasOneEnd();
        promises.neverTwoAgents(host.lines());
        promises.sendersCanReadTheirEnds(host);
        assertThat(host.end()).isZero();
        promises.nothingIsLeft();
    }

    @Override
    public void close() {
        openGates();
        host.close();
        mind.close();
        promises.killLeftovers();
    }
}
