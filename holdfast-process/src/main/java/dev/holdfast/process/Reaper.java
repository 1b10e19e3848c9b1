package dev.holdfast.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Finds and ends what earlier lives have left behind, at boot and before each incarnation (HS-08, HS-21): what the run
 * files name, checked by start time and boot so that a re-used pid is never touched, and every process whose environment
 * carries a marker, grandchildren included. Safe for use by several threads; what two find, both wait for.
 */
public final class Reaper {

    private final Path runDirectory;
    private final ProcessTable table;
    private final Platform platform = new Platform();
    private final Signals signals;

    /** @param runDirectory the run directory of the spawner whose children are to be found; it need not exist */
    public Reaper(Path runDirectory) {
        this(runDirectory, ProcessTable.ofThisMachine());
    }

    Reaper(Path runDirectory, ProcessTable table) {
        this.runDirectory = runDirectory;
        this.table = table;
        this.signals = new Signals(table);
    }

    /**
     * Ends everything that carries a marker the predicate accepts and returns when it was seen dead or the ladder's time
     * is up: at most its term and kill waits and some seconds more. Waits in the calling thread.
     *
     * @param older which markers belong to earlier lives; for one session {@code marker -> marker.isOlderThan(next)}, at
     *     boot {@code marker -> marker.store().equals(store)}
     * @param ladder how patiently; its close wait does not matter here
     * @throws UncheckedIOException if the run directory exists and cannot be read
     */
    public Reaped reap(Predicate<Marker> older, Ladder ladder) {
        Set<Marker> markers = new LinkedHashSet<>();
        List<RunFile.Content> named = new ArrayList<>();
        List<Path> unjudged = new ArrayList<>();
        Set<ProcessIdentity> above = new LinkedHashSet<>();
        sortFiles(older, markers, named, unjudged);
        Swept swept;
        try (CensusTaker censuses = new CensusTaker(table, platform, "holdfast-reap-census")) {
            Sweep sweep = new Sweep(
                    table,
                    censuses,
                    signals,
                    platform,
                    ladder,
                    census -> find(census, older, named, markers, above),
                    (kind, processes) -> {});
            swept = sweep.finish();
        }
        Swept all = withSurvivors(swept, above);
        if (all.allDead()) {
            named.forEach(content -> RunFile.remove(content.path()));
        }
        return new Reaped(all, markers, unjudged);
    }

    private void sortFiles(
            Predicate<Marker> older, Set<Marker> markers, List<RunFile.Content> named, List<Path> unjudged) {
        for (RunFile.Content content : readFiles()) {
            if (content.marker().isEmpty()) {
                removeIfNeverUsed(content);
                continue;
            }
            Marker marker = content.marker().get();
            if (!older.test(marker)) {
                continue;
            }
            markers.add(marker);
            if (isOfAnotherBoot(content)) {
                RunFile.remove(content.path());
            } else if (!content.boot().equals(table.boot())
                    || !content.pidSpace().equals(table.pidSpace())
                    || (content.child().isEmpty() && !table.isDead(content.host()))) {
                unjudged.add(content.path());
            } else {
                named.add(content);
            }
        }
    }

    private List<RunFile.Content> readFiles() {
        try {
            return RunFile.readAll(runDirectory);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "the run directory " + runDirectory + " cannot be read; make it readable for this user", e);
        }
    }

    private boolean isOfAnotherBoot(RunFile.Content content) {
        String now = table.boot();
        return !content.boot().equals(now)
                && !content.boot().equals(ProcessTable.UNKNOWN)
                && !now.equals(ProcessTable.UNKNOWN);
    }

    /** Its host died while creating it, before any spawn. */
    private void removeIfNeverUsed(RunFile.Content content) {
        if (table.isDead(content.host())) {
            RunFile.remove(content.path());
        }
    }

    /**
     * What is to be ended. An agent that started this very JVM cannot be ended by it: that one goes into {@code above} and
     * counts as surviving.
     */
    private static Set<ProcessIdentity> find(
            Census census,
            Predicate<Marker> older,
            List<RunFile.Content> named,
            Set<Marker> markers,
            Set<ProcessIdentity> above) {
        Set<Long> line = census.selfAndAncestors();
        Set<ProcessIdentity> roots = new LinkedHashSet<>();
        Set<Long> sessions = new LinkedHashSet<>();
        for (RunFile.Content content : named) {
            content.child().filter(census::isAlive).ifPresent(child -> {
                roots.add(child);
                sessions.add(child.pid());
            });
        }
        roots.addAll(census.matching(entry -> {
            Marker marker = entry.marker();
            if (marker != null && older.test(marker)) {
                markers.add(marker);
                return true;
            }
            return sessions.contains(entry.session());
        }));
        above.clear();
        roots.stream()
                .filter(id -> line.contains(id.pid())
                        && id.pid() != ProcessHandle.current().pid())
                .forEach(above::add);
        return census.withDescendants(roots, line);
    }

    private static Swept withSurvivors(Swept swept, Set<ProcessIdentity> more) {
        List<ProcessIdentity> survivors = new ArrayList<>(swept.survivors());
        survivors.addAll(more);
        return new Swept(swept.found(), swept.killed(), survivors, swept.complete());
    }
}
