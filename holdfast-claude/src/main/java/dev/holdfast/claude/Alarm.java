package dev.holdfast.claude;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The one alarm of an attachment, set to the nearest of its due times. One that rings too early, because what it was for
 * is over, costs a look. Not thread-safe: its owner calls it under its lock.
 */
final class Alarm {
    private final Background background;
    private final Runnable ring;
    private OptionalLong setFor = OptionalLong.empty();

    /** @param ring is run on another thread; it must call {@link #rang} */
    Alarm(Background background, Runnable ring) {
        this.background = background;
        this.ring = ring;
    }

    void rang() {
        setFor = OptionalLong.empty();
    }

    void set(Stream<OptionalLong> dueNanos) {
        long now = background.nanoTime();
        OptionalLong wait = dueNanos.flatMapToLong(
                        due -> due.isPresent() ? LongStream.of(due.getAsLong() - now) : LongStream.empty())
                .min();
        if (wait.isPresent() && (setFor.isEmpty() || now + wait.getAsLong() - setFor.getAsLong() < 0)) {
            setFor = OptionalLong.of(now + wait.getAsLong());
            background.after(Duration.ofNanos(Math.max(0, wait.getAsLong())), ring);
        }
    }
}
