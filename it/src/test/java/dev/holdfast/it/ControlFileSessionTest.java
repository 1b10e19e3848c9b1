package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.now;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Mailbox;
import dev.holdfast.Mailbox.Feed;
import dev.holdfast.Mailbox.FeedOptions;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.runtime.ControlFile;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A control file of a real session on real files. */
final class ControlFileSessionTest {
    @TempDir
    Path directory;

    private Path file;
    private Station station;
    private Mailbox mailbox;
    private ControlFile control;

    @BeforeEach
    void open() {
        file = directory.resolve("control.jsonl");
        station = new Station(directory.resolve("data"));
        follow();
    }

    private void follow() {
        mailbox = now(station.host().mailbox(NAME));
        control = ControlFile.follow(mailbox.session(), file);
    }

    @AfterEach
    void close() {
        control.close();
        station.close();
    }

    private void append(String... lines) throws IOException {
        for (String line : lines) {
            Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
    }

    private String acknowledgements() throws IOException {
        return Files.readString(control.acknowledgements());
    }

    private static Received take(Feed feed, String text) {
        var received = now(feed.next()).orElseThrow(() -> new AssertionError("the feed ended: " + feed.end()));
        assertThat(Station.text(received)).isEqualTo(text);
        assertThat(received.author().surface()).isEqualTo("control file");
        assertThat(now(feed.settle(received, Outcome.ANSWERED, "done"))).isTrue();
        return received;
    }

    @Test
    @Tag("CH-06")
    @Tag("CH-07")
    @Tag("IN-12")
    void lines_areTakenOnce_alsoWhenNoAcknowledgementIsLeft() throws IOException {
        append("{\"kind\":\"message\",\"text\":\"a\",\"author\":\"ci\"}", "{\"kind\":\"message\",\"text\":\"b\"}");
        var feed = now(mailbox.feed(FeedOptions.none()));
        assertThat(take(feed, "a").author().name()).isEqualTo("ci");
        take(feed, "b");
        control.close();
        Files.delete(control.acknowledgements());
        station.restart();
        append("{\"kind\":\"message\",\"text\":\"c\"}");
        follow();
        assertThat(take(now(mailbox.feed(FeedOptions.none())), "c").number()).isEqualTo(3);
        awaitAcknowledged("\"accepted\",\"number\":3");
        assertThat(acknowledgements()).contains("\"duplicate\",\"number\":1", "\"duplicate\",\"number\":2");
    }

    @Test
    @Tag("CH-07")
    void agentsSession_isDrivenByTheFile() throws IOException {
        control.close();
        Files.delete(control.acknowledgements());
        var program = ScriptedAgent.worst().writeExecutable(directory.resolve("agent"));
        var agent = ClaudeCode.agent().binary(program).configDirectory(directory.resolve("config"));
        var session = station.host().session("agent", agent);
        control = ControlFile.follow(session, file);
        append("{\"kind\":\"message\",\"text\":\"hello\"}");
        awaitAcknowledged("\"number\":1");
        assertThat(now(session.reply(1)).text()).isEqualTo("echo: hello");

        append("{\"kind\":\"message\",\"text\":\"[[sleep 600000]]\"}", "{\"kind\":\"cancel\"}");
        awaitAcknowledged("\"number\":3");
        assertThat(now(session.reply(2)).outcome()).isEqualTo(Outcome.CANCELLED);

        var answer = session.question("deploy-1", "Deploy?", Duration.ofMinutes(1));
        append("{\"kind\":\"answer\",\"question\":\"deploy-1\",\"text\":\"yes\"}");
        assertThat(now(answer)).contains("yes");
    }

    private void awaitAcknowledged(String part) {
        Awaitility.await()
                .atMost(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(acknowledgements()).contains(part));
    }
}
