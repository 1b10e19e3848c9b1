package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.testkit.SeededBug;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Interrupt against settle, in every order: judged by what the store did first (IN-13). */
final class InterruptOrdersTest {
    private static final Set<String> NOTHING_TO_CANCEL = Set.of("turn 2 is not open any more", "there is no turn 2");

    private static final long TURN = 2;

    private static Session session(Race race) {
        return race.now(race.holdfast().sessionAsync(Race.NAME, new InstantAgent(race.executor())));
    }

    private static CompletionStage<Reply> asked(Session session, String text) {
        return session.sendAsync(Message.of(text))
                .thenCompose(receipt -> session.reply(((Receipt.Stored) receipt).number()));
    }

    /** A cancel of the first turn of the race, while a second message waits. */
    static void turnCancelled(Race race) {
        var session = session(race);
        race.now(asked(session, "zero")); // its agent runs from now on
        var replies = List.of(race.atOnce(() -> asked(session, "one")), race.atOnce(() -> asked(session, "two")));
        var cancel = race.atOnce(() -> session.cancel(Payload.Cancel.turn(TURN)));
        race.go();
        long number = ((Receipt.Stored) Race.done("the cancel", cancel)).number();
        boolean accepted = false;
        boolean opened = false;
        var expected = EnumSet.allOf(Outcome.class);
        for (var stored : race.stored()) {
            switch (stored) {
                case Race.Stored.Accepted a
                when a.number() == number -> {
                    accepted = true;
                    if (opened) {
                        expected = EnumSet.of(Outcome.CANCELLED);
                    }
                }
                case Race.Stored.Recorded e when e.turn() == TURN && e.is("TurnOpened") -> opened = true;
                case Race.Stored.Recorded e
                when e.turn() == TURN && e.is("TurnSettled") -> {
                    opened = false;
                    expected = accepted ? expected : EnumSet.of(Outcome.ANSWERED);
                    assertThat(outcome(e)).as("accepted before: " + accepted).isIn(expected);
                    expected = EnumSet.of(outcome(e));
                }
                default -> {}
            }
        }
        assertThat(saysWhatItDid(race, number).map(NOTHING_TO_CANCEL::contains))
                .isEqualTo(expected.contains(Outcome.CANCELLED) ? Optional.empty() : Optional.of(true));
        replies.stream()
                .map(r -> Race.done("an end", r))
                .filter(end -> end.turn() != TURN)
                .forEach(end -> assertThat(end.outcome()).as("a later turn").isEqualTo(Outcome.ANSWERED));
    }

    /** A cancel that names nothing is for what stood when it was accepted, whatever has begun since. */
    static void interrupted(Race race) {
        var session = session(race);
        var replies = List.of(race.atOnce(() -> asked(session, "one")), race.atOnce(() -> asked(session, "two")));
        var interrupt = race.atOnce(session::interruptAsync);
        race.go();
        long number = ((Receipt.Stored) Race.done("the interrupt", interrupt)).number();
        var unended = new TreeSet<Long>();
        var open = Optional.<Long>empty();
        var meant = Optional.<Long>empty();
        for (var stored : race.stored()) {
            switch (stored) {
                case Race.Stored.Accepted a -> {
                    if (a.number() != number) {
                        unended.add(a.number());
                    } else {
                        meant = open.or(() -> unended.stream().findFirst());
                    }
                }
                case Race.Stored.Recorded e -> {
                    if (e.is("TurnOpened")) {
                        open = Optional.of(Race.numbers(e).getFirst());
                    } else if (e.is("TurnSettled")) {
                        open = Optional.empty();
                        unended.removeAll(Race.numbers(e));
                    } else if (e.is("MessageEnded")) {
                        unended.removeAll(Race.numbers(e));
                    }
                }
            }
        }
        var cancelled = replies.stream()
                .map(r -> Race.done("an end", r))
                .filter(end -> end.outcome() == Outcome.CANCELLED)
                .map(Reply::number)
                .toList();
        assertThat(cancelled).isEqualTo(meant.stream().toList());
        saysWhatItDid(race, number);
    }

    private static Outcome outcome(Race.Stored.Recorded settled) {
        return Outcome.valueOf(settled.body().path("outcome").asString());
    }

    /** Either the turn is asked to end or an event says why not, once; gives what that says. */
    private static Optional<String> saysWhatItDid(Race race, long number) {
        var said = race.stored().stream()
                .filter(s -> s instanceof Race.Stored.Recorded e
                        && (e.is("InterruptAsked") || e.is("ArrivalDone"))
                        && e.body().path("number").asLong() == number)
                .map(Race.Stored.Recorded.class::cast)
                .toList();
        assertThat(said).as("it says what it did, once").hasSize(1);
        return said.stream()
                .filter(e -> e.is("ArrivalDone"))
                .map(e -> e.body().path("what").asString())
                .findFirst();
    }

    @Tag("IN-13")
    @Test
    void cancelOfATurn_whileItSettles_winsWhenItWasAcceptedFirst(TestReporter reporter) {
        Race.keeps(Race.TWO, reporter, InterruptOrdersTest::turnCancelled);
        Race.catches(SeededBug.CANCEL_LOSES_TO_RESULT, Race.TWO, reporter, InterruptOrdersTest::turnCancelled);
    }

    @Tag("IN-06")
    @Tag("IN-13")
    @Test
    void interrupt_whileTurnsBeginAndSettle_isForWhatStoodWhenItWasAccepted(TestReporter reporter) {
        Race.keeps(Race.ONE, reporter, InterruptOrdersTest::interrupted);
        Race.catches(SeededBug.CANCEL_LOSES_TO_RESULT, Race.TWO, reporter, InterruptOrdersTest::interrupted);
    }
}
