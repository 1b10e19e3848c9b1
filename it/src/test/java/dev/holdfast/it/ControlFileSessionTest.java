package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.now;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Mailbox;
import dev.holdfast.Mailbox.Feed;
import dev.holdfast.Mailbox.FeedOptions;
import dev.holdfast.Outcome;
import dev.holdfast.Received;
import dev.holdfast.runtime.ControlFile;
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
        Awaitility.await()
                .atMost(Duration.ofSeconds(5))
                .untilAsserted(() -> assertThat(acknowledgements())
                        .contains(
                                "\"duplicate\",\"number\":1",
                                "\"duplicate\",\"number\":2",
                                "\"accepted\",\"number\":3"));
    }

    @Test
    @Tag("CH-07")
    void cancelRightBehindAMessage_endsIt() throws IOException {
        append("{\"kind\":\"message\",\"text\":\"a\"}", "{\"kind\":\"cancel\"}");
        var feed = now(mailbox.feed(FeedOptions.none()));
        Awaitility.await()
                .atMost(Duration.ofSeconds(5))
                .until(() -> Files.exists(control.acknowledgements())
                        && acknowledgements().contains("\"number\":2"));
        assertThat(now(mailbox.session().reply(1)).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(feed.next().toCompletableFuture()).isNotDone();
    }

    @Test
    @Tag("CH-07")
    void answerLine_answersTheQuestion() throws IOException {
        var answer = mailbox.session().question("deploy-1", "Deploy?", Duration.ofMinutes(1));
        append("{\"kind\":\"answer\",\"question\":\"deploy-1\",\"text\":\"yes\"}");
        assertThat(now(answer)).contains("yes");
    }
}
