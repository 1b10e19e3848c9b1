package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ArrivalKind;
import dev.holdfast.MessageId;
import dev.holdfast.Outcome;
import dev.holdfast.SessionEvent;
import dev.holdfast.TurnMark;
import dev.holdfast.Usage;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import dev.holdfast.core.Told;
import dev.holdfast.runtime.EventCodec;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class LiveAnswerTest {
    private final StringWriter out = new StringWriter();
    private final LiveAnswer live;

    LiveAnswerTest() {
        var screen = new Screen(new PrintWriter(out), false, false);
        live = new LiveAnswer(screen, screen, EventWords::notice, true);
    }

    private void settle(long turn, String text) {
        var taken = new Taken(turn, new MessageId(new UUID(0, turn)), 1, ArrivalKind.MESSAGE);
        var event = new Event.TurnSettled(
                turn,
                Told.Kind.MESSAGE,
                List.of(taken),
                Outcome.ANSWERED,
                Event.Evidence.RESULT,
                text,
                "",
                Usage.unknown(),
                new TurnMark(turn, List.of(), ""),
                "");
        var stored = new EventCodec().encode(event);
        live.onEvent(new SessionEvent(
                turn,
                Instant.EPOCH,
                stored.type(),
                stored.version(),
                stored.turn(),
                new String(stored.body(), StandardCharsets.UTF_8)));
    }

    @Test
    void answer_allStreamed_isShownOnce() {
        live.onText(1, "one ");
        live.onText(1, "two");
        settle(1, "one two");
        assertThat(out).hasToString("agent  one two\n");
        assertThat(live.end(1)).isCompleted();
    }

    @Test
    void answer_settledBeforeItsLastFragments_isCompletedAndLateOnesIgnored() {
        live.onText(1, "one ");
        settle(1, "one two");
        live.onText(1, "two");
        assertThat(out).hasToString("agent  one two\n");
    }

    @Test
    void answer_afterWordsBeforeATool_isNotRepeated() {
        live.onText(1, "Let me look. ");
        live.onText(1, "It is\nhere.");
        settle(1, "It is\nhere.");
        assertThat(out).hasToString("agent  Let me look. It is\n       here.\n");
    }

    @Test
    void answer_neverStreamed_isShownWhole() {
        settle(1, "all");
        assertThat(out).hasToString("agent  all\n");
    }
}
