package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.awaitStatus;
import static dev.holdfast.it.Station.failure;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.send;
import static dev.holdfast.it.Station.stored;
import static dev.holdfast.it.Station.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import dev.holdfast.Inbox;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A session as one document, on real files. */
final class ExportTest {
    private static final SessionName COPY = new SessionName("copy");

    @TempDir
    Path data;

    private Station station;
    private Inbox inbox;

    @BeforeEach
    void open() {
        station = new Station(data.resolve("here"));
        inbox = now(station.host().inbox(NAME));
    }

    @AfterEach
    void close() {
        station.close();
    }

    /** Ended, in flight, given back, queued, withdrawn, with keys and an address, and being finished. */
    private byte[] eventful() {
        var session = inbox.session();
        now(session.addresses().claim("hook"));
        session.send(Message.of("answered").key("k1"));
        send(session, "in flight one", "in flight two", "queued", "withdrawn");
        now(inbox.settle(now(inbox.next()).orElseThrow(), "the answer"));
        now(inbox.next());
        now(inbox.next());
        now(session.withdraw(5));
        stored(now(session.finish("enough")));
        awaitStatus(session, s -> s.finishing().isPresent() && s.inFlight() == 2);
        return now(station.host().exportSession(NAME));
    }

    @Tag("MB-22")
    @Test
    void import_elsewhere_givesAnEqualStateWithTheInFlightInFront() {
        var document = eventful();
        var before = inbox.session().status();
        try (var there = new Station(data.resolve("there"))) {
            now(there.host().importSession(document, COPY));
            var session = there.host().mail(COPY);
            assertThat(session.status().phase()).isEqualTo("OPEN");
            assertThat(session.status().finishing()).contains("enough");
            assertThat(session.send(Message.of("late"))).isInstanceOf(Receipt.Refused.class);
            assertThat(session.send(Message.of("answered").key("k1")))
                    .as("keys are kept for ever")
                    .isInstanceOf(Receipt.Duplicate.class);
            assertThat(now(session.reply(1)).text()).isEqualTo("the answer");
            assertThat(now(session.reply(5)).outcome()).isEqualTo(Outcome.WITHDRAWN);
            assertThat(now(session.addresses().claimed())).containsExactly("hook");
            var copy = now(there.host().inbox(COPY));
            var status = session.status();
            assertThat(status.queued()).isEqualTo(before.queued() + before.inFlight());
            assertThat(status.consumed()).isEqualTo(before.consumed() - before.inFlight());
            var all = now(copy.takeAll());
            assertThat(texts(all)).containsExactly("in flight one", "in flight two", "queued");
            for (var message : all) {
                assertThat(now(copy.settle(message, "done there"))).isTrue();
            }
            assertThat(awaitStatus(session, s -> s.phase().equals("CLOSED")).phaseReason())
                    .isEqualTo("enough");
        }
        assertThat(inbox.session().status()).as("the original is untouched").isEqualTo(before);
    }

    @Tag("MB-22")
    @Test
    void export_ofADrainedSession_goesOnElsewhere() {
        send(inbox.session(), "one", "two");
        now(inbox.session().drain(Duration.ofSeconds(5)));
        var document = now(station.host().exportSession(NAME));
        try (var there = new Station(data.resolve("there"))) {
            now(there.host().importSession(document, NAME));
            assertThat(texts(now(now(there.host().inbox(NAME)).takeAll()))).containsExactly("one", "two");
        }
    }

    @Tag("MB-22")
    @Test
    void export_importedTwice_isTheSameDocument() {
        send(inbox.session(), "one", "two");
        var document = now(station.host().exportSession(NAME));
        try (var there = new Station(data.resolve("there"))) {
            now(there.host().importSession(document, NAME));
            assertThat(new String(now(there.host().exportSession(NAME)), StandardCharsets.UTF_8))
                    .isEqualTo(new String(document, StandardCharsets.UTF_8));
        }
    }

    @Tag("MB-22")
    @Test
    void import_underATakenName_isRefused() {
        send(inbox.session(), "one");
        var document = now(station.host().exportSession(NAME));
        assertThat(failure(station.host().importSession(document, NAME)))
                .hasMessageContaining("exists or existed")
                .hasMessageContaining("another name");
        assertThat(texts(now(inbox.takeAll()))).containsExactly("one");
        inbox.session().close("over");
        awaitStatus(inbox.session(), s -> s.phase().equals("CLOSED"));
        assertThat(failure(station.host().importSession(document, NAME))).hasMessageContaining("existed");
        now(station.host().importSession(document, COPY));
        assertThat(texts(now(now(station.host().inbox(COPY)).takeAll()))).containsExactly("one");
    }

    @Tag("MB-22")
    @Test
    void import_ofADamagedDocument_isRefusedWhole() {
        var document = eventful();
        try (var there = new Station(data.resolve("there"))) {
            int step = Math.max(1, document.length / 400);
            for (int at = 0; at < document.length; at += step) {
                var damaged = document.clone();
                damaged[at] ^= 0x04;
                refused(there, damaged, "byte " + at + " of " + document.length);
            }
            for (int length : List.of(0, 1, 40, document.length / 2, document.length - 1)) {
                refused(there, Arrays.copyOf(document, length), "cut to " + length);
            }
            refused(there, Arrays.copyOf(document, document.length + 1), "one byte more");
            refused(there, "{}\n{}".getBytes(StandardCharsets.UTF_8), "another document");
            var unknown = new String(document, StandardCharsets.UTF_8);
            refused(
                    there,
                    unknown.replaceFirst("\"version\":1", "\"version\":2").getBytes(StandardCharsets.UTF_8),
                    "newer");
            assertThatThrownBy(() -> there.host()
                            .importSession(
                                    unknown.replaceFirst("\"version\":1", "\"version\":2")
                                            .getBytes(StandardCharsets.UTF_8),
                                    COPY))
                    .hasMessageContaining("version 2")
                    .hasMessageContaining("use a newer one");
            now(there.host().importSession(document, COPY));
        }
    }

    /** Nothing of it is stored, and the one family of exceptions says why. */
    private static void refused(Station there, byte[] document, String what) {
        assertThatThrownBy(() -> now(there.host().importSession(document, COPY)))
                .as(what)
                .satisfiesAnyOf(
                        e -> assertThat(e)
                                .isInstanceOf(HoldfastException.class)
                                .hasMessageContaining("Nothing was stored"),
                        e -> assertThat(e.getCause()).hasCauseInstanceOf(HoldfastException.class));
        assertThatThrownBy(() -> there.host().mail(COPY)).as(what).hasMessageContaining("there is no session");
    }

    /** Whole and with a right checksum, but of a session that no owner could take up. */
    @Tag("MB-22")
    @Test
    void import_ofASessionThatDoesNotAddUp_isRefusedWhole() {
        var document = eventful();
        try (var there = new Station(data.resolve("there"))) {
            unfit(there, forged(document, "\"type\":\"FeedOpened\"", "\"type\":\"FeedPainted\""), "type 'FeedPainted'");
            unfit(there, forged(document, "\"type\":\"FeedOpened\"", "\"type\":\"FeedEnded\""), "cannot be read");
            unfit(
                    there,
                    forged(document, "\"ordinaryDone\":[0-9]+", "\"ordinaryDone\":1"),
                    "its head says messages done 1");
            unfit(
                    there,
                    forged(document, "\"header\":\"[^\"]{8}", "\"header\":\"AAAAAAAA"),
                    "the header of arrival 1 cannot");
            unfit(there, withEvent(document, "MessagesTaken", "\"number\":1,", "\"number\":0,"), "does not follow");
            now(there.host().importSession(forged(document, "nothing", "of this"), COPY));
        }
    }

    private static void unfit(Station there, byte[] document, String why) {
        assertThatThrownBy(() -> now(there.host().importSession(document, COPY)))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining(why)
                .hasMessageContaining("Nothing was stored");
        assertThatThrownBy(() -> there.host().mail(COPY)).hasMessageContaining("there is no session");
    }

    /** The document with another first match in its contents, and the heading of those. */
    private static byte[] forged(byte[] document, String pattern, String other) {
        var whole = new String(document, StandardCharsets.UTF_8);
        var body = whole.substring(whole.indexOf('\n') + 1).replaceFirst(pattern, other);
        var bytes = body.getBytes(StandardCharsets.UTF_8);
        var heading = whole.substring(0, whole.indexOf('\n'))
                .replaceFirst("\"bytes\":[0-9]+", "\"bytes\":" + bytes.length)
                .replaceFirst("[0-9a-f]{64}", sha256(bytes));
        return (heading + '\n' + body).getBytes(StandardCharsets.UTF_8);
    }

    /** As {@link #forged}, within the first event of that type. */
    private static byte[] withEvent(byte[] document, String type, String from, String to) {
        var whole = new String(document, StandardCharsets.UTF_8);
        var record = Pattern.compile("\"type\":\"" + type + "\"[^}]*?\"body\":\"([^\"]*)\"")
                .matcher(whole);
        assertThat(record.find()).as("an event of type " + type).isTrue();
        var event = new String(Base64.getDecoder().decode(record.group(1)), StandardCharsets.UTF_8);
        assertThat(event).contains(from);
        var other = Base64.getEncoder().encodeToString(event.replace(from, to).getBytes(StandardCharsets.UTF_8));
        return forged(document, Pattern.quote(record.group(1)), other);
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Tag("MB-22")
    @Test
    void export_ofASessionThatIsNotThere_fails() {
        assertThat(failure(station.host().exportSession(new SessionName("nobody"))))
                .hasMessageContaining("nobody");
        Session session = inbox.session();
        assertThat(session.name()).isEqualTo(NAME);
    }
}
