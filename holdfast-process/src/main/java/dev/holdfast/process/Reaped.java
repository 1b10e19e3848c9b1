package dev.holdfast.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * What {@link Reaper#reap} found and did.
 *
 * @param swept the processes: found, killed, surviving
 * @param markers the older markers that were met, in files or environments
 * @param unjudged run files that say nothing certain: written in another pid namespace (another container), or by a live
 *     JVM that is just about to start its child; they are left in place
 */
public record Reaped(Swept swept, Set<Marker> markers, List<Path> unjudged) {

    /** Takes copies. */
    public Reaped {
        markers = Set.copyOf(markers);
        unjudged = List.copyOf(unjudged);
    }

    /** Whether nothing with an older marker is left as far as this machine can see (HS-21): the session may resume. */
    public boolean allDead() {
        return swept.allDead() && unjudged.isEmpty();
    }
}
