package dev.holdfast.it;

import static dev.holdfast.it.Station.NAME;
import static dev.holdfast.it.Station.now;
import static dev.holdfast.it.Station.refused;
import static dev.holdfast.it.Station.texts;
import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A host with a reader is killed with -9, on real files: what it was told stays so, and what it held comes again. */
@Execution(ExecutionMode.CONCURRENT)
final class ReaderCrashIT {
    @TempDir
    Path data;

    @Tag("MB-05")
    @Tag("MB-06")
    @Tag("MB-17")
    @Tag("P1")
    @Test
    void reader_killed_itsSuccessorGetsTheUnsettledFirstAndTheSettledNever() throws Exception {
        try (var child = new ReaderMain.Child(data)) {
            for (int i = 1; i <= 4; i++) {
                assertThat(child.say("send m" + i)).isEqualTo("" + i);
            }
            assertThat(child.say("key k5 m5")).isEqualTo("5");
            assertThat(child.say("take")).isEqualTo("1 m1");
            assertThat(child.say("settle 1")).isEqualTo("true");
            assertThat(child.say("take")).isEqualTo("2 m2");
            assertThat(child.say("take")).isEqualTo("3 m3");
            assertThat(child.say("withdraw 4")).contains("Withdrawn");
            child.kill();
        }
        try (var station = new Station(data)) {
            var asleep = station.host().mail(NAME).status();
            assertThat(asleep.inFlight())
                    .as("a checkpoint that forgets the message in flight is a bug")
                    .isEqualTo(2);
            assertThat(asleep.consumed()).isEqualTo(3);
            var inbox = now(station.host().inbox(NAME));
            assertThat(texts(now(inbox.takeAll()))).containsExactly("m2", "m3", "m5");
            assertThat(inbox.session().status().lastEnd()).isEqualTo("CRASHED");
            assertThat(inbox.session().status().consumed())
                    .as("undone and taken again")
                    .isEqualTo(4);
            assertThat(now(inbox.session().reply(1)).outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(now(inbox.session().reply(4)).outcome()).isEqualTo(Outcome.WITHDRAWN);
            assertThat(inbox.session().send(Message.of("m5").key("k5"))).isInstanceOf(Receipt.Duplicate.class);
        }
    }

    @Tag("IN-08")
    @Tag("IN-10")
    @Tag("IN-14")
    @Test
    void addressesAndQuestions_surviveAKill() throws Exception {
        try (var child = new ReaderMain.Child(data)) {
            assertThat(child.say("claim a")).isEqualTo("a");
            assertThat(child.say("claim b")).isEqualTo("b");
            assertThat(child.say("ask q-1")).isEqualTo("q-1");
            child.kill();
        }
        try (var station = new Station(data)) {
            var session = now(station.host().inbox(NAME)).session();
            assertThat(now(session.addresses().claimed())).containsExactly("a", "b");
            Station.stored(now(session.answer("q-1", "yes")));
            assertThat(now(session.question("q-1", "Shall it?", java.time.Duration.ofHours(1))))
                    .contains("yes");
        }
        try (var child = new ReaderMain.Child(data)) {
            child.say("send unread");
            assertThat(child.say("release")).isEqualTo("1");
            child.kill();
        }
        try (var station = new Station(data)) {
            var words = new Payload.Words("late", DeliveryPolicy.NEXT);
            assertThat(now(station.host().deliver("a", words, new Author("ada", "web"), Optional.empty())))
                    .isInstanceOf(Receipt.Released.class);
            assertThat(now(now(station.host().inbox(NAME)).takeAll())).isEmpty();
        }
    }

    @Tag("MB-07")
    @Tag("MB-08")
    @Tag("MB-17")
    @Test
    void pauseAndFinish_surviveAKill() throws Exception {
        try (var child = new ReaderMain.Child(data)) {
            child.say("send one");
            child.say("pause lunch");
            child.kill();
        }
        try (var station = new Station(data)) {
            var inbox = now(station.host().inbox(NAME));
            assertThat(now(inbox.next())).isEmpty();
            assertThat(inbox.session().status().phase()).isEqualTo("PAUSED");
            Station.stored(now(inbox.session().resume()));
            Station.awaitStatus(inbox.session(), s -> s.phase().equals("OPEN"));
        }
        try (var child = new ReaderMain.Child(data)) {
            child.say("finish enough");
            child.kill();
        }
        try (var station = new Station(data)) {
            var inbox = now(station.host().inbox(NAME));
            Station.awaitStatus(inbox.session(), s -> s.finishing().equals(Optional.of("enough")));
            assertThat(refused(inbox.session().send(Message.of("late"))).message())
                    .contains("enough");
            assertThat(texts(now(inbox.takeAll()))).containsExactly("one");
        }
    }

    @Tag("P1")
    @Tag("P2")
    @Tag("MB-02")
    @Test
    void reader_killedAtAnyMoment_losesNoReceiptAndNoEnd_andEndsNothingTwice() throws Exception {
        long seed = Long.getLong("holdfast.seed", new Random().nextLong());
        System.err.println("ReaderCrashIT seed: -Dholdfast.seed=" + seed);
        var random = new Random(seed);
        Set<Long> sent = new HashSet<>();
        Set<Long> ended = new HashSet<>();
        for (int life = 0; life < 6; life++) {
            try (var child = new ReaderMain.Child(data)) {
                child.tell("run 100000");
                int lines = 1 + random.nextInt(60);
                for (int i = 0; i < lines; i++) {
                    note(child.line(), sent, ended);
                }
                child.kill();
                for (var line = child.line(); line.isPresent(); line = child.line()) {
                    note(line, sent, ended);
                }
            }
        }
        try (var station = new Station(data)) {
            var inbox = now(station.host().inbox(NAME));
            var left = now(inbox.takeAll());
            left.forEach(r -> assertThat(ended).doesNotContain(r.number()));
            for (var r : left) {
                assertThat(now(inbox.settle(r, "at last"))).isTrue();
            }
            for (long number : sent) {
                assertThat(now(inbox.session().reply(number)).outcome()).isEqualTo(Outcome.ANSWERED);
            }
            var ends = Station.events(inbox.session());
            long last = sent.stream().mapToLong(n -> n).max().orElse(0);
            ends.await("MessageEnded", "\"number\":" + last + ",");
            var numbers = ends.all().stream()
                    .filter(e -> e.type().equals("MessageEnded"))
                    .map(e -> e.body().replaceAll(".*\"number\":(\\d+),.*", "$1"))
                    .toList();
            assertThat(numbers).doesNotHaveDuplicates();
        }
    }

    private static void note(Optional<String> line, Set<Long> sent, Set<Long> ended) {
        line.ifPresent(l -> {
            var words = l.split(" ", -1);
            assertThat(words[0]).as(l).isIn("sent", "ended", "ran");
            if (words[0].equals("sent")) {
                sent.add(Long.parseLong(words[1]));
            } else if (words[0].equals("ended")) {
                assertThat(ended.add(Long.parseLong(words[1])))
                        .as("ended once: " + l)
                        .isTrue();
            }
        });
    }
}
