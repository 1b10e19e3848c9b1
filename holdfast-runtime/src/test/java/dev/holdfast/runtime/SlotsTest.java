package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.core.Input.SlotAnswer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Places under the cap on processes. */
class SlotsTest {
    private final HandTime time = new HandTime();
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

    /** Time that passes when a test says so, and tasks that run at once. */
    private static final class HandTime implements Surroundings {
        private Instant now = Instant.EPOCH;
        private final List<Pending> pending = new ArrayList<>();

        private record Pending(Instant at, Runnable task) {}

        void pass(Duration duration) {
            now = now.plus(duration);
            for (Pending p : List.copyOf(pending)) {
                if (!p.at().isAfter(now) && pending.remove(p)) {
                    p.task().run();
                }
            }
        }

        @Override
        public Instant now() {
            return now;
        }

        @Override
        public Executor executor() {
            return Runnable::run;
        }

        @Override
        public Executor toolExecutor() {
            return Runnable::run;
        }

        @Override
        public Alarm at(Instant at, Runnable task) {
            var alarm = new Pending(at, task);
            pending.add(alarm);
            return () -> pending.remove(alarm);
        }

        @Override
        public byte[] random(int count) {
            return new byte[count];
        }
    }
}
