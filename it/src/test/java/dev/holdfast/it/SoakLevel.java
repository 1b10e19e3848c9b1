package dev.holdfast.it;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * What the system holds for this JVM at one moment of a soak.
 *
 * @param state {@code warm} with every place taken, {@code cold} without a host
 * @param threads platform threads without the JDK's own process reapers, which live on for a minute each
 * @param heap bytes in use after a collection
 */
record SoakLevel(String state, int round, int threads, long children, long descriptors, long heap) {
    /** Threads of pools that come and go. */
    private static final int THREADS_SPARE = 6;

    private static final int DESCRIPTORS_SPARE = 8;

    /** What caches, counters and the soak's own books may take. */
    private static final long HEAP_SPARE = 24L << 20;

    /** The level once it no longer falls: what ends, ends a moment after the last answer. */
    static SoakLevel now(String state, int round) throws IOException {
        SoakLevel lowest = look(state, round);
        for (int calm = 0; calm < 3; calm++) {
            Awaitility.await().pollDelay(Duration.ofMillis(250)).until(() -> true);
            SoakLevel next = look(state, round);
            if (next.threads < lowest.threads || next.descriptors < lowest.descriptors) {
                calm = 0;
            }
            lowest = next.threads <= lowest.threads ? next : lowest;
        }
        return lowest;
    }

    private static SoakLevel look(String state, int round) throws IOException {
        for (int i = 0; i < 4; i++) { // one of four leaves no dead wood behind
            System.gc();
        }
        var runtime = Runtime.getRuntime();
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return new SoakLevel(
                    state,
                    round,
                    (int) Thread.getAllStackTraces().keySet().stream()
                            .filter(thread -> !thread.getName().startsWith("process reaper"))
                            .count(),
                    Offspring.living().size(),
                    descriptors.count(),
                    runtime.totalMemory() - runtime.freeMemory());
        }
    }

    /** What the last level of each state has more than the first; empty when it is flat. */
    static List<String> compare(List<SoakLevel> levels, int agents) {
        var breaches = new ArrayList<String>();
        for (String state : List.of("warm", "cold")) {
            var of = levels.stream().filter(level -> level.state.equals(state)).toList();
            if (of.size() > 1) {
                of.getFirst().against(of.getLast(), breaches);
            }
        }
        levels.stream()
                .filter(level -> level.state.equals("cold") && level.children > 0)
                .forEach(level -> breaches.add("children without a host: " + level));
        levels.stream()
                .filter(level -> level.state.equals("warm") && level.children > agents + 2L)
                .forEach(level -> breaches.add("more children than " + agents + " places and the guards: " + level));
        return breaches;
    }

    private void against(SoakLevel last, List<String> breaches) {
        if (last.threads > threads + THREADS_SPARE
                || last.descriptors > descriptors + DESCRIPTORS_SPARE
                || last.heap > heap + HEAP_SPARE) {
            breaches.add("grown: from " + this + " to " + last);
        }
    }

    @Override
    public String toString() {
        return "round " + round + " " + state + ": threads " + threads + ", children " + children + ", descriptors "
                + descriptors + ", heap " + (heap >> 10) + " KiB";
    }
}
