package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class InputQueueTest {

    /** A pipe whose reader is asleep until it is woken. */
    private static final class SleepyPipe extends OutputStream {
        final ByteArrayOutputStream taken = new ByteArrayOutputStream();
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch awake = new CountDownLatch(1);
        volatile boolean broken;
        volatile @Nullable Error failure;
        volatile boolean closed;

        @Override
        public void write(int b) throws IOException {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public synchronized void write(byte[] bytes, int from, int count) throws IOException {
            entered.countDown();
            try {
                awake.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            Error unexpected = failure;
            if (unexpected != null) {
                throw unexpected;
            }
            if (broken) {
                throw new IOException("Broken pipe");
            }
            taken.write(bytes, from, count);
        }

        @Override
        public void close() {
            closed = true;
        }

        synchronized String text() {
            return taken.toString(StandardCharsets.UTF_8);
        }
    }

    private final SleepyPipe pipe = new SleepyPipe();
    private final AtomicReference<Thread> writer = new AtomicReference<>();
    private final AtomicInteger writers = new AtomicInteger();
    private final InputQueue queue = new InputQueue(pipe, 1_000, "child 1", writing -> {
        writers.incrementAndGet();
        writer.set(Thread.ofPlatform().daemon().start(writing));
    });

    private static byte[] bytes(String line) {
        return line.getBytes(StandardCharsets.UTF_8);
    }

    private CompletionStage<Void> offer(String line, boolean urgent) {
        return queue.offer(line.getBytes(StandardCharsets.UTF_8), urgent);
    }

    @Test
    @Tag("HS-12")
    void offer_urgentWhileALineIsBeingWritten_passesTheWaitingOnesOnly() throws Exception {
        CompletionStage<Void> first = offer("first", false);
        pipe.entered.await();
        offer("second", false);
        offer("third", false);
        offer("answer 1", true);
        CompletionStage<Void> last = offer("answer 2", true);
        queue.close();
        pipe.awake.countDown();
        Recorder.get(first);
        Recorder.get(last);
        writer.get().join();
        assertThat(pipe.text()).isEqualTo("first\nanswer 1\nanswer 2\nsecond\nthird\n");
        assertThat(pipe.closed).isTrue();
    }

    @Test
    @Tag("HS-11")
    void offer_beyondTheBound_failsTypedWithoutWaitingAndLeavesTheUrgentLaneOpen() throws Exception {
        CompletionStage<Void> first = offer("x".repeat(600), false);
        pipe.entered.await();
        assertThat(Recorder.failure(offer("y".repeat(600), false)))
                .isInstanceOf(InputFull.class)
                .hasMessageContaining("child 1 is not reading its stdin");
        CompletionStage<Void> answer = offer("z", true);
        pipe.awake.countDown();
        Recorder.get(first);
        Recorder.get(answer);
        await().untilAsserted(() -> Recorder.get(offer("y".repeat(600), false)));
        assertThat(Recorder.failure(offer("x".repeat(2_000), false)))
                .isInstanceOf(InputFull.class)
                .hasMessageContaining("exceeds the bound");
    }

    @Test
    void offer_emptyLinesWithoutEnd_meetTheBoundToo() throws Exception {
        offer("", false);
        pipe.entered.await();
        int accepted = 0;
        while (!offer("", false).toCompletableFuture().isCompletedExceptionally() && accepted < 1_000) {
            accepted++;
        }
        assertThat(accepted).isLessThan(100);
        pipe.awake.countDown();
    }

    @Test
    @Tag("HS-11")
    void childGone_failsTheLineBeingWrittenAndAllWaiting() throws Exception {
        CompletionStage<Void> writing = offer("one", false);
        pipe.entered.await();
        CompletionStage<Void> waiting = offer("two", false);
        CompletionStage<Void> urgent = offer("three", true);
        queue.childGone("it has exited with code 1");
        assertThat(Recorder.failure(writing)).isInstanceOf(ChildGone.class).hasMessageContaining("exited with code 1");
        assertThat(Recorder.failure(waiting)).isInstanceOf(ChildGone.class);
        assertThat(Recorder.failure(urgent)).isInstanceOf(ChildGone.class);
        assertThat(Recorder.failure(offer("four", false))).isInstanceOf(ChildGone.class);
        pipe.awake.countDown();
        writer.get().join();
        assertThat(pipe.text()).isEqualTo("one\n");
    }

    @Test
    @Tag("HS-11")
    void run_brokenPipe_failsTyped() throws Exception {
        CompletionStage<Void> writing = offer("one", false);
        pipe.broken = true;
        pipe.awake.countDown();
        assertThat(Recorder.failure(writing)).isInstanceOf(ChildGone.class).hasMessageContaining("Broken pipe");
        writer.get().join();
        assertThat(pipe.closed).isTrue();
    }

    @Test
    void offer_afterClose_failsTyped() {
        queue.close();
        assertThat(Recorder.failure(offer("late", true))).isInstanceOf(InputClosed.class);
    }

    @Test
    @Tag("HS-12")
    void offerNow_withNothingOnItsWay_isWrittenByTheCaller() {
        pipe.awake.countDown();
        assertThat(queue.offerNow(bytes("one")).toCompletableFuture()).isCompleted();
        assertThat(pipe.text()).isEqualTo("one\n");
    }

    @Test
    @Tag("HS-11")
    void offerNow_thatBreaksUnexpectedly_failsTheChildAndEverythingAfterIt() throws Exception {
        pipe.failure = new OutOfMemoryError("heap");
        pipe.awake.countDown();
        assertThatThrownBy(() -> queue.offerNow(bytes("one"))).isSameAs(pipe.failure);
        assertThat(queue.offer(bytes("two"), false).toCompletableFuture())
                .failsWithin(java.time.Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(ChildGone.class);
        await().until(() -> pipe.closed);
    }

    @Test
    @Tag("HS-12")
    void offerNow_behindOtherLines_keepsTheOrder() throws Exception {
        queue.offer(bytes("one"), false);
        pipe.entered.await();
        queue.offer(bytes("two"), false);
        var third = queue.offerNow(bytes("three")).toCompletableFuture();
        assertThat(third).isNotDone();
        pipe.awake.countDown();
        await().until(third::isDone);
        assertThat(pipe.text()).isEqualTo("one\ntwo\nthree\n");
    }

    @Test
    @Tag("HS-12")
    void offer_whileACallerWrites_neverCutsItsLine() throws Exception {
        Thread caller = Thread.ofPlatform().daemon().start(() -> queue.offerNow(bytes("by the caller")));
        pipe.entered.await();
        var urgent = queue.offer(bytes("urgent"), true).toCompletableFuture();
        var closing = queue.offer(bytes("last"), false).toCompletableFuture();
        queue.close();
        assertThat(urgent).isNotDone();
        pipe.awake.countDown();
        await().until(closing::isDone);
        caller.join();
        assertThat(pipe.text()).isEqualTo("by the caller\nurgent\nlast\n");
        await().until(() -> pipe.closed);
    }

    @Test
    @Tag("HS-12")
    void writer_withNothingToDo_goesAndComesAgain_andTheLastOneOutClosesThePipe() throws Exception {
        pipe.awake.countDown();
        assertThat(writers).hasValue(0);
        Recorder.get(offer("one", false));
        writer.get().join(10_000);
        assertThat(writer.get().isAlive()).isFalse();
        assertThat(pipe.closed).isFalse();
        Recorder.get(offer("two", true));
        assertThat(writers).hasValue(2);
        writer.get().join(10_000);
        queue.close();
        assertThat(pipe.closed).isTrue();
        assertThat(pipe.text()).isEqualTo("one\ntwo\n");
    }

    @Test
    @Tag("HS-11")
    void offer_withoutAThreadToWriteWith_failsTyped() {
        var alone = new InputQueue(pipe, 1_000, "child 1", writing -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
        assertThat(Recorder.failure(alone.offer(bytes("one"), false)))
                .isInstanceOf(ChildGone.class)
                .hasMessageContaining("no thread");
        assertThat(pipe.closed).isTrue();
    }

    @Test
    @Tag("HS-11")
    void offerNow_brokenPipe_failsTyped() {
        pipe.broken = true;
        pipe.awake.countDown();
        assertThat(queue.offerNow(bytes("one")).toCompletableFuture())
                .failsWithin(java.time.Duration.ofSeconds(5))
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(ChildGone.class);
        assertThat(queue.offer(bytes("two"), false).toCompletableFuture()).isCompletedExceptionally();
    }
}
