package dev.holdfast.process;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The life of one child from its start to the death of everything it had started, as one thread goes through it: wait
 * for the exit, climb the stop ladder when asked (HS-07), drain, report, sweep what was left behind, remove the run
 * file. Nothing but {@link #stop} and {@link #gone} is called from other threads.
 */
final class Keeper implements Runnable {

    private static final Logger LOG = LoggerFactory.getLogger(Keeper.class);

    /** How long output is still read after the exit when something else holds the pipe. */
    private static final Duration DRAIN = Duration.ofSeconds(2);

    /** Output that does not end by itself this soon after the exit is held by something left behind. */
    private static final Duration PROMPT_END = Duration.ofMillis(100);

    /**
     * The part of a child that its keeper works on.
     *
     * @param openPipes stdout and stderr as far as they have not ended
     * @param forget frees the child's marker; run before anybody is told that the child is gone
     */
    record Ward(
            Process process,
            ProcessIdentity id,
            Marker marker,
            boolean ownSession,
            RunFile runFile,
            InputQueue input,
            StderrTail stderr,
            CountDownLatch openPipes,
            CountDownLatch openStdout,
            Delivery delivery,
            Runnable forget) {}

    private final Ward ward;
    private final ProcessTable table;
    private final CensusTaker censuses;
    private final Signals signals;
    private final Platform platform;
    private final long startedAt;
    private final CompletableFuture<Stopped> gone = new CompletableFuture<>();
    private final Set<ProcessIdentity> descendants = new LinkedHashSet<>();
    private final List<StopStep> steps = Collections.synchronizedList(new ArrayList<>());

    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable Ladder asked;
    private @Nullable Thread waiter;

    Keeper(Ward ward, ProcessTable table, CensusTaker censuses, Signals signals, Platform platform) {
        this.ward = ward;
        this.table = table;
        this.censuses = censuses;
        this.signals = signals;
        this.platform = platform;
        this.startedAt = platform.now();
    }

    CompletableFuture<Stopped> gone() {
        return gone;
    }

    /** Asks for the ladder; the first asker's ladder counts, later ones join. */
    void stop(Ladder ladder) {
        lock.lock();
        try {
            if (asked == null) {
                asked = ladder;
                if (waiter != null) {
                    waiter.interrupt();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void run() {
        try {
            awaitExit();
            long exitedAt = platform.now();
            step(StopStep.Kind.EXITED, 1);
            ward.input().childGone("it has exited with code " + ward.process().exitValue());
            Sweep sweep = newSweep();
            Ended ended = drain(exitedAt, sweep);
            ward.delivery().ended(ended);
            Swept swept = sweep.finish();
            report(new Stopped(Optional.of(ended), steps, swept));
        } catch (RuntimeException | Error e) {
            LOG.error("keeping child {} failed; it is ended", ward.id(), e);
            endUnkept();
            ward.forget().run();
            gone.completeExceptionally(e);
        }
    }

    /** After a failure of this thread: no child stays behind without a keeper, and its end is told all the same. */
    private void endUnkept() {
        try {
            signals.send(ChildSignal.TERM, List.of(ward.id()));
            if (!exitsWithin(Ladder.urgent().termWait())) {
                signals.send(ChildSignal.KILL, List.of(ward.id()));
                awaitUninterruptibly();
            }
            ward.input().childGone("its keeper failed");
            ward.delivery()
                    .ended(new Ended(
                            ward.process().exitValue(),
                            ward.stderr().text(),
                            ward.stderr().total(),
                            false));
        } catch (RuntimeException | Error e) {
            LOG.error("ending child {} failed", ward.id(), e);
        }
    }

    private void report(Stopped stopped) {
        step(stopped.allDead() ? StopStep.Kind.TREE_DEAD : StopStep.Kind.SURVIVED, leftAlive(stopped));
        if (stopped.allDead()) {
            ward.runFile().remove();
        }
        Stopped complete = new Stopped(stopped.ended(), steps, stopped.leftovers());
        ward.forget().run();
        ward.delivery().gone(complete);
        gone.complete(complete);
    }

    private static int leftAlive(Stopped stopped) {
        return stopped.leftovers().survivors().size();
    }

    /** Returns when the child has exited; climbs the ladder when it is asked for. */
    private void awaitExit() {
        enterWait();
        try {
            ward.process().waitFor();
        } catch (InterruptedException e) {
            // Only stop() interrupts this thread, at most once, and only inside this wait.
        }
        Ladder ladder = leaveWait();
        if (ladder != null && ward.process().isAlive()) {
            climb(ladder);
        }
    }

    private void enterWait() {
        lock.lock();
        try {
            waiter = Thread.currentThread();
            if (asked != null) {
                waiter.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Ladder leaveWait() {
        lock.lock();
        try {
            waiter = null;
            Thread.interrupted();
            return asked;
        } finally {
            lock.unlock();
        }
    }

    private void climb(Ladder ladder) {
        rememberDescendants();
        ward.input().close();
        step(StopStep.Kind.INPUT_CLOSED, 1);
        if (exitsWithin(ladder.closeWait())) {
            return;
        }
        rememberDescendants();
        List<ProcessIdentity> child = List.of(ward.id());
        signals.send(ChildSignal.TERM, child);
        step(StopStep.Kind.TERMINATED, 1);
        signals.send(ChildSignal.CONT, child);
        step(StopStep.Kind.CONTINUED, 1);
        if (exitsWithin(ladder.termWait())) {
            return;
        }
        rememberDescendants();
        signals.send(ChildSignal.KILL, child);
        step(StopStep.Kind.KILLED, 1);
        if (!exitsWithin(ladder.killWait())) {
            reportUnkillable();
            awaitUninterruptibly();
        }
    }

    /** A process stuck in the kernel: whoever waits learns of it now; its exit is still told when it comes. */
    private void reportUnkillable() {
        Swept survivor = new Swept(List.of(ward.id()), List.of(ward.id()), List.of(ward.id()), true);
        step(StopStep.Kind.SURVIVED, 1);
        gone.complete(new Stopped(Optional.empty(), steps, survivor));
    }

    private boolean exitsWithin(Duration wait) {
        try {
            return ward.process().waitFor(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("a keeper thread was interrupted outside its wait; nothing may do that", e);
        }
    }

    private void awaitUninterruptibly() {
        try {
            ward.process().waitFor();
        } catch (InterruptedException e) {
            throw new IllegalStateException("a keeper thread was interrupted outside its wait; nothing may do that", e);
        }
    }

    private void rememberDescendants() {
        try {
            descendants.addAll(tree(censuses.take(), List.of(ward.id())));
            descendants.remove(ward.id());
        } catch (UncheckedIOException e) {
            LOG.warn("the descendants of child {} cannot be looked at; its marker must do", ward.id(), e);
        }
    }

    private Set<ProcessIdentity> tree(Census census, List<ProcessIdentity> more) {
        Set<ProcessIdentity> roots = new LinkedHashSet<>(more);
        roots.addAll(descendants);
        roots.addAll(census.matching(this::belongs));
        return census.withDescendants(roots, census.selfAndAncestors());
    }

    /** By the inherited marker, or by the session the child leads, which outlives it as long as it has members. */
    private boolean belongs(Census.Entry entry) {
        if (ward.marker().equals(entry.marker())) {
            return true;
        }
        return ward.ownSession()
                && ward.id().start() > 0
                && entry.session() == ward.id().pid()
                && entry.id().start() >= ward.id().start();
    }

    private Sweep newSweep() {
        Ladder ladder = currentLadder();
        return new Sweep(table, censuses, signals, platform, ladder, census -> tree(census, List.of()), this::step);
    }

    private Ladder currentLadder() {
        lock.lock();
        try {
            return asked == null ? Ladder.standard() : asked;
        } finally {
            lock.unlock();
        }
    }

    /** Reads on until the pipes end, or for the drain time; what holds them open is swept meanwhile. */
    private Ended drain(long exitedAt, Sweep sweep) {
        if (!await(ward.openPipes(), PROMPT_END)) {
            sweep.look();
            await(ward.openPipes(), DRAIN.minus(platform.since(exitedAt)));
        }
        return new Ended(
                ward.process().exitValue(),
                ward.stderr().text(),
                ward.stderr().total(),
                ward.openStdout().getCount() == 0);
    }

    private static boolean await(CountDownLatch latch, Duration wait) {
        try {
            return latch.await(Math.max(0, wait.toNanos()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("a keeper thread was interrupted outside its wait; nothing may do that", e);
        }
    }

    private void step(StopStep.Kind kind, int processes) {
        StopStep step = new StopStep(kind, processes, platform.since(startedAt));
        steps.add(step);
        ward.delivery().step(step);
    }
}
