package dev.holdfast.process;

import java.util.List;
import java.util.Optional;

/**
 * The end of a child and of everything it had started.
 *
 * @param ended how the child ended; empty only when it survived KILL (a process stuck in the kernel)
 * @param steps every step on the way, in order
 * @param leftovers what it left behind and what became of that
 */
public record Stopped(Optional<Ended> ended, List<StopStep> steps, Swept leftovers) {

    /** Takes a copy of the steps. */
    public Stopped {
        steps = List.copyOf(steps);
    }

    /** Whether the child and everything it had started were seen dead (HS-21). */
    public boolean allDead() {
        return ended.isPresent() && leftovers.allDead();
    }
}
