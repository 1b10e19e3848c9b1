package dev.holdfast.process;

import dev.holdfast.process.SpawnFailed.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts children, all of them from one platform thread that lives as long as the spawner: the kernel ties a child's
 * death signal to the thread that started it. Holds no static state; two in one JVM do not know each other (HS-16). Safe
 * for use by any number of threads.
 *
 * <p>Closing ends every child by the standard ladder, waits for that, and ends the thread.
 */
public final class Spawner implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Spawner.class);
    private static final Duration START_DEADLINE = Duration.ofSeconds(60);

    private final Path runDirectory;
    private final ProcessTable table;
    private final Platform platform;
    private final Signals signals;
    private final CensusTaker censuses;
    private final HostTools tools;
    private final ProcessIdentity self;
    private final HostGuard guard;
    private final Optional<String> guardName;
    private final BlockingQueue<Runnable> starts = new LinkedBlockingQueue<>();
    /** Of the children being started and of those not yet gone. */
    private final Set<Marker> markersInUse = ConcurrentHashMap.newKeySet();

    private final Map<Marker, Child> children = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    /** Belongs to the spawn thread. */
    private boolean over;

    private final CompletableFuture<Void> allClosed = new CompletableFuture<>();

    private Spawner(Path runDirectory, HostTools tools, boolean guarded) {
        this.runDirectory = runDirectory;
        this.tools = tools;
        this.table = ProcessTable.ofThisMachine();
        this.platform = new Platform();
        String name = platform.uniqueName();
        this.guard = new HostGuard(name, tools);
        this.guardName = guarded ? Optional.of(name) : Optional.empty();
        this.signals = new Signals(table);
        this.self = table.self();
        this.censuses = new CensusTaker(table, platform, "holdfast-census");
        platform.thread("holdfast-spawn", this::serve).start();
    }

    /**
     * Opens a spawner.
     *
     * @param runDirectory where the files of running children are kept (HS-21); created, for this user only, if missing
     * @throws SpawnFailed with {@link Reason#RUN_FILE} if the directory cannot be created
     */
    public static Spawner open(Path runDirectory) {
        return open(runDirectory, HostTools.find(), HostGuard.isPossible());
    }

    static Spawner open(Path runDirectory, HostTools tools, boolean guarded) {
        try {
            RunFile.createDirectory(runDirectory);
        } catch (IOException e) {
            throw new SpawnFailed(
                    Reason.RUN_FILE,
                    "cannot create the run directory " + runDirectory + ": " + e.getMessage()
                            + "; make its parent writable or name another",
                    e);
        }
        return new Spawner(runDirectory, tools, guarded);
    }

    /** Whether children can be bound to this JVM's life here (HS-08). */
    public boolean canBindToHost() {
        return guardName.isPresent() || tools.setpriv().isPresent();
    }

    /** The children that are not yet gone. */
    public List<Child> children() {
        return List.copyOf(children.values());
    }

    /**
     * Starts a child. Waits for the start, usually some milliseconds and at most 60 s. The listener may be called before
     * this returns.
     *
     * @throws SpawnFailed if it could not be started; then nothing of it is left and the listener is never called
     */
    public Child spawn(ChildSpec spec, ChildListener listener) {
        Objects.requireNonNull(listener, "listener");
        Launch launch = Launch.prepare(spec, tools, guardName);
        CompletableFuture<Child> started = new CompletableFuture<>();
        starts.add(() -> start(spec, launch, listener, started));
        if (closed.get()) {
            started.completeExceptionally(closedFailure(spec));
        }
        return await(spec, started);
    }

    private static SpawnFailed closedFailure(ChildSpec spec) {
        return new SpawnFailed(
                Reason.CLOSED, "cannot start \"" + spec.command().getFirst() + "\": the spawner is closed");
    }

    private Child await(ChildSpec spec, CompletableFuture<Child> started) {
        String program = "\"" + spec.command().getFirst() + "\"";
        SpawnFailed failure;
        try {
            return started.get(START_DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof SpawnFailed failed) {
                throw failed;
            }
            throw new SpawnFailed(Reason.OTHER, "cannot start " + program + ": " + e.getCause(), e);
        } catch (TimeoutException e) {
            failure = new SpawnFailed(
                    Reason.TIMED_OUT,
                    "starting " + program + " did not come back within " + START_DEADLINE.toSeconds()
                            + " s; look for a slow disk or a machine out of processes");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            failure = new SpawnFailed(Reason.INTERRUPTED, "starting " + program + " was interrupted");
        }
        if (started.completeExceptionally(failure)) {
            throw failure;
        }
        return await(spec, started);
    }

    private void serve() {
        while (!over) {
            try {
                starts.take().run();
            } catch (InterruptedException e) {
                // Nobody has this thread to interrupt it; an interrupt must not end it, for that would end the
                // children.
                LOG.warn("the spawn thread was interrupted and goes on", e);
            }
        }
    }

    /** Runs on the spawn thread. A start nobody waits for any more is not made, or is ended at once. */
    private void start(ChildSpec spec, Launch launch, ChildListener listener, CompletableFuture<Child> started) {
        if (started.isDone()) {
            return;
        }
        if (closed.get()) {
            started.completeExceptionally(closedFailure(spec));
            return;
        }
        try {
            Child child = startNow(spec, launch, listener);
            children.put(spec.marker(), child);
            if (!markersInUse.contains(spec.marker())) {
                children.remove(spec.marker(), child);
            }
            if (!started.complete(child)) {
                child.stop(Ladder.urgent());
            }
        } catch (RuntimeException | Error e) {
            started.completeExceptionally(e);
        }
    }

    private Child startNow(ChildSpec spec, Launch launch, ChildListener listener) {
        if (launch.guarded()) {
            guard.ensureRunning();
        }
        if (!markersInUse.add(spec.marker())) {
            throw markerInUse(spec);
        }
        RunFile file = placeRunFile(spec);
        Process process = null;
        try {
            process = startProcess(spec, launch);
            ProcessIdentity id = new ProcessIdentity(
                    process.pid(), table.startOf(process.pid()).orElse(0));
            file.complete(id);
            return Child.begin(process, id, spec, launch, file, listener, this, () -> forget(spec.marker()));
        } catch (IOException e) {
            throw abandoned(spec, process, file, runFileFailure(spec, e));
        } catch (UncheckedIOException | OutOfMemoryError e) {
            throw abandoned(spec, process, file, noResources(spec, e));
        } catch (SpawnFailed e) {
            throw abandoned(spec, process, file, e);
        } catch (RuntimeException | Error e) {
            throw abandoned(
                    spec,
                    process,
                    file,
                    new SpawnFailed(
                            Reason.OTHER, "cannot start \"" + spec.command().getFirst() + "\": " + e, e));
        }
    }

    private void forget(Marker marker) {
        markersInUse.remove(marker);
        children.remove(marker);
    }

    /** Ending the one would end the other, since they carry the same marker. */
    private SpawnFailed markerInUse(ChildSpec spec) {
        Child holder = children.get(spec.marker());
        return new SpawnFailed(
                Reason.MARKER_IN_USE,
                "cannot start \"" + spec.command().getFirst() + "\": "
                        + (holder == null ? "a child" : "child " + holder.pid()) + " with marker "
                        + spec.marker().encoded() + " is not gone yet; stop it and wait, or use another incarnation");
    }

    private RunFile placeRunFile(ChildSpec spec) {
        try {
            return RunFile.place(runDirectory, platform.uniqueName(), spec.marker(), self, table);
        } catch (IOException e) {
            forget(spec.marker());
            throw runFileFailure(spec, e);
        }
    }

    private SpawnFailed runFileFailure(ChildSpec spec, IOException e) {
        if (String.valueOf(e.getMessage()).contains("Too many open files")) {
            return noResources(spec, e);
        }
        return new SpawnFailed(
                Reason.RUN_FILE,
                "cannot start \"" + spec.command().getFirst() + "\": its file in " + runDirectory
                        + " could not be written (" + e.getMessage() + "); make room there or make it writable",
                e);
    }

    private static SpawnFailed noResources(ChildSpec spec, Throwable cause) {
        return new SpawnFailed(
                Reason.NO_RESOURCES,
                "cannot start \"" + spec.command().getFirst() + "\": no descriptors, threads or memory for it ("
                        + cause.getMessage() + "); end other sessions or raise the limits",
                cause);
    }

    /** The child has not been told anything yet, so it loses nothing by being ended without a word. */
    private SpawnFailed abandoned(ChildSpec spec, @Nullable Process process, RunFile file, SpawnFailed failure) {
        if (process != null) {
            process.toHandle().destroyForcibly();
        }
        file.remove();
        forget(spec.marker());
        return failure;
    }

    private static Process startProcess(ChildSpec spec, Launch launch) {
        ProcessBuilder builder = new ProcessBuilder(launch.command())
                .directory(launch.directory().toFile());
        Map<String, String> environment = builder.environment();
        environment.clear();
        environment.putAll(launch.environment());
        try {
            return builder.start();
        } catch (IOException e) {
            throw systemFailure(spec, e);
        }
    }

    private static SpawnFailed systemFailure(ChildSpec spec, IOException e) {
        String message = String.valueOf(e.getMessage());
        Reason reason = Reason.OTHER;
        if (says(message, 11) || says(message, 12) || says(message, 23) || says(message, 24)) {
            reason = Reason.NO_RESOURCES;
        } else if (says(message, 7)) {
            reason = Reason.ARGUMENT_TOO_LONG;
        } else if (says(message, 2)) {
            reason = Reason.NOT_FOUND;
        } else if (says(message, 13) || says(message, 8)) {
            reason = Reason.NOT_EXECUTABLE;
        }
        return new SpawnFailed(reason, "cannot start \"" + spec.command().getFirst() + "\": " + message, e);
    }

    private static boolean says(String message, int errno) {
        return message.contains("error=" + errno + ",");
    }

    /** Ends every child by the standard ladder, waits for their trees to be dead, and ends the spawn thread. */
    @Override
    public void close() {
        close(Ladder.standard());
    }

    /** Like {@link #close()} with another ladder. A second call waits for the same end. */
    public void close(Ladder ladder) {
        Duration patience = ladder.closeWait()
                .plus(ladder.termWait().multipliedBy(2))
                .plus(ladder.killWait().multipliedBy(2))
                .plusSeconds(10);
        if (!closed.compareAndSet(false, true)) {
            awaitQuietly(allClosed, START_DEADLINE.plus(patience));
            return;
        }
        List<CompletableFuture<Stopped>> ends = new ArrayList<>();
        CompletableFuture<Void> drained = new CompletableFuture<>();
        starts.add(() -> drained.complete(null));
        awaitQuietly(drained, START_DEADLINE);
        for (Child child : children()) {
            ends.add(child.stop(ladder).toCompletableFuture());
        }
        awaitQuietly(CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new)), patience);
        CompletableFuture<Void> dismissed = new CompletableFuture<>();
        starts.add(() -> {
            guard.dismiss();
            over = true;
            dismissed.complete(null);
        });
        awaitQuietly(dismissed, START_DEADLINE);
        censuses.close();
        allClosed.complete(null);
    }

    private static void awaitQuietly(CompletableFuture<Void> end, Duration patience) {
        try {
            end.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("closing the spawner left something unfinished", e);
        }
    }

    /** The guard's process, for tests. */
    Optional<ProcessHandle> guardProcess() {
        return guard.process();
    }

    ProcessTable table() {
        return table;
    }

    Platform platform() {
        return platform;
    }

    Signals signals() {
        return signals;
    }

    CensusTaker censuses() {
        return censuses;
    }
}
