package dev.holdfast.claude;

import java.time.Duration;
import java.util.OptionalLong;

/**
 * The one alarm of a serial object, set to the nearest of its due times. One that rings too early, because what it was for
 * is over, costs a look. Not thread-safe: its owner calls it one at a time.
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

    void set(OptionalLong dueNanos) {
        if (dueNanos.isEmpty() || (setFor.isPresent() && setFor.getAsLong() - dueNanos.getAsLong() <= 0)) {
            return;
        }
        setFor = dueNanos;
        background.after(Duration.ofNanos(Math.max(0, dueNanos.getAsLong() - background.nanoTime())), ring);
    }

    /** The nearer of two due times. */
    static OptionalLong nearer(OptionalLong one, OptionalLong other) {
        if (one.isEmpty()) {
            return other;
        }
        return other.isEmpty() || one.getAsLong() - other.getAsLong() <= 0 ? one : other;
    }

    static boolean passed(OptionalLong dueNanos, long now) {
        return dueNanos.isPresent() && now - dueNanos.getAsLong() >= 0;
    }
}
