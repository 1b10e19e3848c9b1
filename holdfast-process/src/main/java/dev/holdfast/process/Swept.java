package dev.holdfast.process;

import java.util.List;

/**
 * What ending a set of processes came to.
 *
 * @param found everything that was found alive and sent TERM
 * @param killed those of them that needed KILL
 * @param survivors those still alive at the end, or that must not be touched (an ancestor of this JVM)
 * @param complete false when this JVM could not look at the machine's processes (no free descriptor, a look that took too
 *     long), so that something may have been missed. Where the system shows no environments at all, which is everywhere
 *     but on Linux, what has left its parent is never found and this stays true
 */
public record Swept(
        List<ProcessIdentity> found, List<ProcessIdentity> killed, List<ProcessIdentity> survivors, boolean complete) {

    /** Takes copies of the lists. */
    public Swept {
        found = List.copyOf(found);
        killed = List.copyOf(killed);
        survivors = List.copyOf(survivors);
    }

    /** Whether all there was to find has been seen dead; a zombie is dead. */
    public boolean allDead() {
        return complete && survivors.isEmpty();
    }
}
