package dev.holdfast.process;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a set of processes that may grow while it is being ended: look, TERM and CONT what is new, KILL what had its
 * time, look again, until two looks in a row find nothing alive or the time is up. A process found late still gets TERM
 * and a short while before KILL (HS-22). One look is not enough: a process shows no environment at the instant it replaces
 * its program, and one that is started while the list is read may stand in neither half of it. Owned by one thread, which waits in it.
 */
final class Sweep {

    private static final Logger LOG = LoggerFactory.getLogger(Sweep.class);
    private static final int LOOKS_TO_BE_SURE = 2;
    private static final Duration LATE_GRACE = Duration.ofMillis(500);
    private static final long SHORTEST_PAUSE = Duration.ofMillis(2).toNanos();
    private static final long LONGEST_PAUSE = Duration.ofMillis(50).toNanos();

    private static final class Target {
        final long termAt;
        boolean killed;

        Target(long termAt) {
            this.termAt = termAt;
        }
    }

    private final ProcessTable table;
    private final CensusTaker censuses;
    private final Signals signals;
    private final Platform platform;
    private final Function<Census, Set<ProcessIdentity>> finder;
    private final BiConsumer<StopStep.Kind, Integer> steps;
    private final Ladder ladder;
    private final Map<ProcessIdentity, Target> targets = new LinkedHashMap<>();
    private final long killAt;
    private final long giveUpAt;
    private int emptyLooks;

    /**
     * @param finder what of a census is to be ended; asked again at each look
     * @param steps hears of each TERM and KILL and how many processes it went to
     */
    Sweep(
            ProcessTable table,
            CensusTaker censuses,
            Signals signals,
            Platform platform,
            Ladder ladder,
            Function<Census, Set<ProcessIdentity>> finder,
            BiConsumer<StopStep.Kind, Integer> steps) {
        this.table = table;
        this.censuses = censuses;
        this.signals = signals;
        this.platform = platform;
        this.ladder = ladder;
        this.finder = finder;
        this.steps = steps;
        this.killAt = platform.now() + ladder.termWait().toNanos();
        this.giveUpAt = killAt + LATE_GRACE.toNanos() + ladder.killWait().toNanos();
    }

    /** One look: finds and sends TERM to what is new, KILL to what had its time. */
    void look() {
        boolean complete = false;
        try {
            Census census = censuses.take();
            complete = census.environmentsSeen() || !table.showsEnvironments();
            terminateNew(finder.apply(census));
        } catch (UncheckedIOException e) {
            LOG.warn("the processes of this machine cannot be looked at; trying on", e);
            platform.pause(LONGEST_PAUSE);
        }
        killDue();
        emptyLooks = complete && alive().isEmpty() ? emptyLooks + 1 : 0;
    }

    private void terminateNew(Set<ProcessIdentity> found) {
        List<ProcessIdentity> fresh = new ArrayList<>();
        for (ProcessIdentity id : found) {
            if (!targets.containsKey(id) && !table.isDead(id)) {
                targets.put(id, new Target(platform.now()));
                fresh.add(id);
            }
        }
        if (!fresh.isEmpty()) {
            signals.send(ChildSignal.TERM, fresh);
            signals.send(ChildSignal.CONT, fresh);
            steps.accept(StopStep.Kind.LEFTOVERS_TERMINATED, fresh.size());
        }
    }

    /** Goes on until everything is dead or the ladder's time is up. What died at the last moment is looked at again. */
    Swept finish() {
        int late = 0;
        while (emptyLooks < LOOKS_TO_BE_SURE
                && (platform.now() - giveUpAt < 0 || (alive().isEmpty() && late++ < LOOKS_TO_BE_SURE))) {
            awaitDeath();
            look();
        }
        List<ProcessIdentity> killed = targets.entrySet().stream()
                .filter(target -> target.getValue().killed)
                .map(Map.Entry::getKey)
                .toList();
        return new Swept(List.copyOf(targets.keySet()), killed, alive(), emptyLooks >= LOOKS_TO_BE_SURE);
    }

    /** Waits until all targets are dead, the next KILL is due, or the time is up. */
    private void awaitDeath() {
        long pause = SHORTEST_PAUSE;
        while (!alive().isEmpty() && platform.now() - giveUpAt < 0 && due().isEmpty()) {
            platform.pause(pause);
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        }
    }

    private void killDue() {
        List<ProcessIdentity> due = due();
        if (!due.isEmpty()) {
            due.forEach(id -> {
                Target target = targets.get(id);
                if (target != null) {
                    target.killed = true;
                }
            });
            signals.send(ChildSignal.KILL, due);
            steps.accept(StopStep.Kind.LEFTOVERS_KILLED, due.size());
        }
    }

    private List<ProcessIdentity> due() {
        long now = platform.now();
        return targets.entrySet().stream()
                .filter(target -> !target.getValue().killed
                        && now - killAt >= 0
                        && now - target.getValue().termAt >= graceNanos()
                        && !table.isDead(target.getKey()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private long graceNanos() {
        return Math.min(LATE_GRACE.toNanos(), ladder.termWait().toNanos());
    }

    private List<ProcessIdentity> alive() {
        return targets.keySet().stream().filter(id -> !table.isDead(id)).toList();
    }
}
