package dev.holdfast.claude;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The one alarm of a serial object, set to the nearest of its due times; never more than one is pending. One that rings too
 * early, because what it was for is over, costs a look. Not thread-safe: its owner calls it one at a time.
 */
final class Alarm {
    private record Pending(long dueNanos, Background.Later later) {}

    private final Background background;
    private final Consumer<Runnable> owner;
    private final Runnable sound;
    private @Nullable Pending pending;
    /** Tells the alarm that is pending from one that was replaced while it was about to ring. */
    private long settings;

    /**
     * @param owner the way into the owner, called on another thread
     * @param sound what is then run
     */
    Alarm(Background background, Consumer<Runnable> owner, Runnable sound) {
        this.background = background;
        this.owner = owner;
        this.sound = sound;
    }

    /** Sets it, unless it is pending for no later time. */
    void set(OptionalLong dueNanos) {
        if (dueNanos.isEmpty() || (pending != null && pending.dueNanos() - dueNanos.getAsLong() <= 0)) {
            return;
        }
        callOff();
        long due = dueNanos.getAsLong();
        long mine = settings;
        var delay = Duration.ofNanos(Math.max(0, due - background.nanoTime()));
        pending = new Pending(due, background.after(delay, () -> owner.accept(() -> ring(mine))));
    }

    /** Leaves none pending. */
    void callOff() {
        settings++;
        if (pending != null) {
            pending.later().callOff();
            pending = null;
        }
    }

    private void ring(long setting) {
        if (setting == settings) {
            pending = null;
            sound.run();
        }
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
