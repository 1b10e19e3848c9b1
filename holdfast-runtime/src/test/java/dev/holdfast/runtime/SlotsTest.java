package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Input.SlotAnswer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Places under the cap on processes. */
class SlotsTest {
    private final HandClock time = new HandClock();
    private final Slots slots = new Slots(2, Duration.ofSeconds(60), time);
    private final List<String> said = new ArrayList<>();

    private void request(String holder) {
        slots.request(holder, answer -> said.add(holder + " " + answer));
    }

    @Test
    @Tag("HS-04")
    @Tag("HS-23")
    void freePlace_isGrantedUpToTheCap() {
        request("a");
        request("b");
        request("c");
        assertThat(said).containsExactly("a " + SlotAnswer.GRANTED, "b " + SlotAnswer.GRANTED);
        assertThat(slots.inUse()).isEqualTo(2);
    }

    @Test
    @Tag("HS-04")
    void newcomer_asksTheLeastRecentlyTurnedAndWaitsItsTurn() {
        request("a");
        request("b");
        slots.idle("b", true);
        slots.idle("a", true);
        said.clear();
        request("c");
        request("d");
        assertThat(said).containsExactly("b " + SlotAnswer.PLEASE_FREE, "a " + SlotAnswer.PLEASE_FREE);
        slots.release("b");
        slots.release("a");
        assertThat(said).endsWith("c " + SlotAnswer.GRANTED, "d " + SlotAnswer.GRANTED);
    }

    @Test
    @Tag("HS-04")
    void busyHolders_areNeverAsked_andTheNewcomerIsToldWhenItsPatienceIsOver() {
        request("a");
        request("b");
        said.clear();
        request("c");
        assertThat(said).isEmpty();
        time.pass(Duration.ofSeconds(60));
        assertThat(said).containsExactly("c " + SlotAnswer.DENIED);
        slots.idle("a", true);
        assertThat(said).endsWith("a " + SlotAnswer.PLEASE_FREE);
    }

    @Test
    void leavingTheLine_isForgotten() {
        request("a");
        request("b");
        request("c");
        slots.release("c");
        slots.release("c");
        slots.release("a");
        time.pass(Duration.ofMinutes(5));
        assertThat(said).noneMatch(s -> s.startsWith("c"));
        assertThat(slots.inUse()).isEqualTo(1);
    }
}
