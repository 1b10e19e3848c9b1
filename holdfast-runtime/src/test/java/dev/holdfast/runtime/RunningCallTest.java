package dev.holdfast.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolProgress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** One answer for each call, in time; and a tool nobody waits for is interrupted. */
class RunningCallTest {
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final List<ToolAnswer> answers = new ArrayList<>();
    private final List<ToolProgress> told = new ArrayList<>();
    private final HandClock time = new HandClock();
    private final RunningCall call = new RunningCall("c", "slow", answers::add, told::add);

    @Test
    @Tag("TL-06")
    void tool_beyondItsDeadline_isAnsweredAndInterruptedAndItsLateAnswerIsDropped() throws Exception {
        var entered = new CountDownLatch(1);
        call.within(DEADLINE, time);
        try (var threads = Executors.newSingleThreadExecutor()) {
            var run = threads.submit(() -> call.run(() -> {
                entered.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    return ToolAnswer.text("too late, cancelled: " + call.isCancelled());
                }
                return ToolAnswer.text("never");
            }));
            assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();
            time.pass(DEADLINE.minusMillis(1));
            assertThat(answers).isEmpty();
            time.pass(Duration.ofMillis(1));
            run.get(20, TimeUnit.SECONDS);
            assertThat(answers).singleElement().satisfies(answer -> {
                assertThat(answer.error()).isTrue();
                assertThat(answer.text()).contains("'slow'", "PT30S", "may have happened");
            });
            assertThat(threads.submit(() -> Thread.currentThread().isInterrupted())
                            .get(20, TimeUnit.SECONDS))
                    .as("an interrupt left to the thread's next task")
                    .isFalse();
        }
    }

    @Test
    @Tag("TL-06")
    void tool_thatAnswersJustInTime_keepsItsAnswer() {
        call.within(DEADLINE, time);
        call.run(() -> {
            time.pass(DEADLINE.minusMillis(1));
            return ToolAnswer.text("in time");
        });
        time.pass(DEADLINE);
        assertThat(answers).containsExactly(ToolAnswer.text("in time"));
    }

    @Test
    @Tag("TL-06")
    void call_cancelledBeforeItRuns_isNotRun() {
        call.within(DEADLINE, time);
        call.cancel();
        call.run(() -> {
            throw new AssertionError("ran");
        });
        assertThat(answers).singleElement().satisfies(a -> assertThat(a.text()).contains("nothing was done"));
    }

    @Test
    @Tag("TL-06")
    void call_cancelledWhileItRuns_isInterruptedAndItsEndReported() throws Exception {
        var entered = new CountDownLatch(1);
        call.within(DEADLINE, time);
        try (var threads = Executors.newSingleThreadExecutor()) {
            var run = threads.submit(() -> call.run(() -> {
                entered.countDown();
                try {
                    new CountDownLatch(1).await();
                    return ToolAnswer.text("never");
                } catch (InterruptedException e) {
                    return ToolAnswer.error("stopped, cancelled: " + call.isCancelled());
                }
            }));
            assertThat(entered.await(20, TimeUnit.SECONDS)).isTrue();
            call.cancel();
            run.get(20, TimeUnit.SECONDS);
        }
        assertThat(answers).containsExactly(ToolAnswer.error("stopped, cancelled: true"));
    }

    @Test
    @Tag("TL-03")
    void tool_thatThrowsAnError_isAnsweredAtOnce() {
        call.within(DEADLINE, time);
        call.run(() -> {
            throw new StackOverflowError("too deep");
        });
        assertThat(answers).singleElement().satisfies(a -> assertThat(a.text()).contains("too deep"));
    }

    @Test
    @Tag("TL-10")
    void progress_fasterThanItIsTaken_keepsTheNewest() {
        call.within(DEADLINE, time);
        call.run(() -> {
            call.report(1, OptionalDouble.of(3), "one");
            call.report(2, OptionalDouble.of(3), "two");
            assertThat(told).hasSize(1);
            assertThat(call.take()).isEqualTo(new ToolProgress("c", "slow", 2, OptionalDouble.of(3), "two"));
            call.report(3, OptionalDouble.of(3), "three");
            assertThat(told).hasSize(2);
            return ToolAnswer.text("done");
        });
        assertThat(call.take()).isNotNull();
        call.report(4, OptionalDouble.empty(), "after the answer");
        assertThat(told).hasSize(2);
        assertThat(call.take()).isNull();
    }
}
