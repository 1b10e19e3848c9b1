package dev.holdfast.process;

import java.util.List;

/**
 * What ending a set of processes came to.
 *
 * @param found everything that was found alive and sent TERM
 * @param killed those of them that needed KILL
 * @param survivors those still alive at the end, or that must not be touched (an ancestor of this JVM)
 * @param environmentsSeen whether environments could be searched for markers; false where the operating system does not
 *     show them, or the search took too long, so that a process that left its parent may have been missed
 */
public record Swept(
        List<ProcessIdentity> found,
        List<ProcessIdentity> killed,
        List<ProcessIdentity> survivors,
        boolean environmentsSeen) {

    /** Takes copies of the lists. */
    public Swept {
        found = List.copyOf(found);
        killed = List.copyOf(killed);
        survivors = List.copyOf(survivors);
    }

    /** Whether everything that was found has been seen dead; a zombie is dead. */
    public boolean allDead() {
        return survivors.isEmpty();
    }
}
