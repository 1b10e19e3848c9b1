package dev.holdfast.claude;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Where an attachment is in its one life. */
enum Stage {
    /** Nothing was asked yet. */
    NEW,
    /** Older processes are being ended and the record is read. */
    KNOWING,
    /** What the agent has was told; nothing runs. */
    KNOWN,
    /** The process is being started, or started again with the other flag. */
    SPAWNING,
    /** The process runs and was greeted; its answer is awaited. */
    GREETING,
    /** The line that shows the tool list was written. */
    PROBING,
    /** The tool list is right: lines may be told. */
    READY,
    /** The process is being ended. */
    STOPPING,
    /** Over; nothing is reported any more. */
    ENDED;

    private static final Map<Stage, Set<Stage>> NEXT = new EnumMap<>(Map.of(
            NEW, EnumSet.of(KNOWING, ENDED),
            KNOWING, EnumSet.of(KNOWN, STOPPING, ENDED),
            KNOWN, EnumSet.of(SPAWNING, ENDED),
            SPAWNING, EnumSet.of(GREETING, STOPPING, ENDED),
            GREETING, EnumSet.of(PROBING, SPAWNING, STOPPING, ENDED),
            PROBING, EnumSet.of(READY, SPAWNING, STOPPING, ENDED),
            READY, EnumSet.of(STOPPING, ENDED),
            STOPPING, EnumSet.of(ENDED),
            ENDED, EnumSet.noneOf(Stage.class)));

    boolean mayBecome(Stage next) {
        return NEXT.getOrDefault(this, Set.of()).contains(next);
    }

    /** Whether a process may exist. */
    boolean running() {
        return this == GREETING || this == PROBING || this == READY;
    }
}
