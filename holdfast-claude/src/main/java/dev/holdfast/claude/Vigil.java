package dev.holdfast.claude;

import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Watches that an agent that was told something shows signs of life (TN-04). While nothing was told it watches nothing;
 * while a tool runs its clock stands still. Each breach is told once per told line. Not thread-safe; time is handed in.
 */
final class Vigil {
    private enum Watch {
        /** Nothing was told, or the turn is over, or a breach was told. */
        NONE,
        /** A line was told and nothing came of it yet. */
        FIRST_OUTPUT,
        /** Work has begun. */
        SILENCE
    }

    private final long firstOutputNanos;
    private final long silenceNanos;
    private final Set<String> running = new HashSet<>();
    private Watch watch = Watch.NONE;
    private long since;
    private boolean held;
    private long heldSince;

    Vigil(Deadlines deadlines) {
        firstOutputNanos = deadlines.firstOutput().toNanos();
        silenceNanos = deadlines.silence().toNanos();
    }

    void told(long now) {
        if (watch == Watch.NONE) {
            watch = Watch.FIRST_OUTPUT;
            since = now;
        }
    }

    /** Any sign that the agent works on something. */
    void life(long now) {
        if (watch != Watch.NONE) {
            watch = Watch.SILENCE;
            since = now;
        }
    }

    void toolBegan(String id, long now) {
        running.add(id);
        life(now);
    }

    void toolEnded(String id, long now) {
        running.remove(id);
        life(now);
    }

    /** The agent waits for an answer of ours: nothing can be expected of it. */
    void hold(long now) {
        held = true;
        heldSince = now;
    }

    /** It has its answer; what it waited for does not count. */
    void release(long now) {
        held = false;
        long from = since - heldSince > 0 ? since : heldSince;
        since += now - from;
    }

    /** The turn is over. */
    void quiet() {
        watch = Watch.NONE;
        running.clear();
    }

    OptionalLong dueNanos() {
        if (held) {
            return OptionalLong.empty();
        }
        return switch (watch) {
            case NONE -> OptionalLong.empty();
            case FIRST_OUTPUT -> OptionalLong.of(since + firstOutputNanos);
            case SILENCE -> running.isEmpty() ? OptionalLong.of(since + silenceNanos) : OptionalLong.empty();
        };
    }

    /** The deadline that has passed, once. */
    Optional<String> breached(long now) {
        OptionalLong due = dueNanos();
        if (due.isEmpty() || now - due.getAsLong() < 0) {
            return Optional.empty();
        }
        String name = watch == Watch.FIRST_OUTPUT ? "first_output" : "silence";
        watch = Watch.NONE;
        return Optional.of(name);
    }
}
