package dev.holdfast.process;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running child process and its three pipes. Started by {@link Spawner#spawn}; what it says goes to its
 * {@link ChildListener}. Safe for use by any number of threads; no method waits. Results are completed on the child's
 * own threads: what depends on them must be quick or go elsewhere.
 */
public final class Child {

    private static final Logger LOG = LoggerFactory.getLogger(Child.class);
    private static final int READ_SIZE = 16 << 10;
    private static final int STDERR_SIZE = 1 << 10;

    /** What an empty pipe holds at least, in bytes. */
    public static final int ROOM = 4_096;

    private final Keeper.Ward ward;
    private final Keeper keeper;
    private final Signals signals;
    private final boolean diesWithHost;

    private Child(Keeper.Ward ward, Keeper keeper, Signals signals, boolean diesWithHost) {
        this.ward = ward;
        this.keeper = keeper;
        this.signals = signals;
        this.diesWithHost = diesWithHost;
    }

    /**
     * Takes charge of a started process; its three threads run when this returns.
     *
     * @throws OutOfMemoryError if there are no threads to be had; then the listener hears nothing more
     */
    static Child begin(
            Process process,
            ProcessIdentity id,
            ChildSpec spec,
            Launch launch,
            RunFile runFile,
            ChildListener listener,
            Spawner spawner,
            Runnable forget) {
        Platform platform = spawner.platform();
        String name = "child " + id.pid() + " of session " + spec.marker().session();
        String threads = "holdfast-" + threadLabel(spec.marker().session()) + "-" + id.pid();
        InputQueue input = new InputQueue(
                process.getOutputStream(),
                spec.inputLimit(),
                name,
                writing -> platform.thread(threads + "-stdin", writing).start());
        StderrTail stderr = new StderrTail(spec.stderrTail());
        CountDownLatch pipes = new CountDownLatch(2);
        CountDownLatch stdout = new CountDownLatch(1);
        Delivery delivery = new Delivery(listener, name);
        Keeper.Ward ward = new Keeper.Ward(
                process,
                id,
                spec.marker(),
                launch.ownSession(),
                runFile,
                input,
                stderr,
                pipes,
                stdout,
                delivery,
                forget);
        Keeper keeper = new Keeper(ward, spawner.table(), spawner.censuses(), spawner.signals(), platform);
        Child child = new Child(ward, keeper, spawner.signals(), launch.diesWithHost());

        try {
            platform.thread(threads + "-stdout", () -> child.readOutput(spec.lineLimit()))
                    .start();
            platform.thread(threads + "-stderr", child::drainStderr).start();
            platform.thread(threads + "-keeper", keeper).start();
        } catch (OutOfMemoryError e) {
            delivery.mute();
            input.childGone("there are no threads to serve it");
            throw e;
        }
        return child;
    }

    private static String threadLabel(String session) {
        String plain = session.replaceAll("[^A-Za-z0-9._-]", "_");
        return plain.length() > 40 ? plain.substring(0, 40) : plain;
    }

    /** The process id. It may belong to another process once this child has {@linkplain #whenGone() gone}. */
    public long pid() {
        return ward.id().pid();
    }

    /** Which process this is, told apart from a later one with the same pid. */
    public ProcessIdentity identity() {
        return ward.id();
    }

    /** Whose child it is. */
    public Marker marker() {
        return ward.marker();
    }

    /** Whether the process has not exited yet. */
    public boolean isAlive() {
        return ward.process().isAlive();
    }

    /**
     * Whether the child gets TERM when this JVM dies, in whatever way, and what it leaves is ended within 10 s (HS-08,
     * HS-22). False where it was not asked for or where the system has no means for it; what is left then is found by
     * {@link Reaper}.
     */
    public boolean diesWithHost() {
        return diesWithHost;
    }

    /** The end of what the child has written to stderr so far (HS-11). */
    public String stderrTail() {
        return ward.stderr().text();
    }

    /**
     * Queues one line for stdin (HS-12). Lines come out whole and in the order queued.
     *
     * @param line the bytes without a line end; not to be changed afterwards
     * @return completes when the operating system has the whole line, which says nothing about the child having read
     *     it; fails with a {@link WriteFailed}: {@link ChildGone}, {@link InputClosed} or {@link InputFull}
     * @throws IllegalArgumentException if the bytes hold a {@code \n}
     */
    public CompletionStage<@Nullable Void> write(byte[] line) {
        return ward.input().offer(checked(line), false);
    }

    /**
     * Like {@link #write}, but spares the change of threads: the calling thread itself writes, unless other lines are on
     * their way. Only for a caller that knows that the child has read what was written before, save a few bytes: an empty
     * pipe takes a line of up to {@value #ROOM} bytes at once everywhere, and a longer one may make the caller wait.
     */
    public CompletionStage<@Nullable Void> writeIntoRoom(byte[] line) {
        return ward.input().offerNow(checked(line));
    }

    /**
     * Like {@link #write}, but passes every ordinary line that is not yet being written: for answers to the child's own
     * requests, which must not wait behind messages (HS-12). Urgent lines keep their order among themselves.
     */
    public CompletionStage<@Nullable Void> writeUrgent(byte[] line) {
        return ward.input().offer(checked(line), true);
    }

    private static byte[] checked(byte[] line) {
        for (int i = 0; i < line.length; i++) {
            if (line[i] == '\n') {
                throw new IllegalArgumentException("a line of " + line.length + " bytes holds a line end at byte " + i
                        + "; write each line by itself, without its end");
            }
        }
        return line;
    }

    /** Closes stdin once the lines already queued are out. A second call does nothing. */
    public void closeInput() {
        ward.input().close();
    }

    /** Sends a signal to this process alone. Does nothing once it has exited. */
    public void signal(ChildSignal signal) {
        signals.send(signal, List.of(ward.id()));
    }

    /**
     * Ends the child by the stop ladder (HS-07) and then everything it has left behind. Stdin is closed after the lines
     * already queued. The first call's ladder counts; later calls join, also after the end.
     *
     * @return what {@link #whenGone} returns
     */
    public CompletionStage<Stopped> stop(Ladder ladder) {
        keeper.stop(ladder);
        return whenGone();
    }

    /**
     * Completes when the child has exited, however that came, and everything it had started was seen dead or outlived
     * the ladder. What a child leaves behind is always ended (HS-07, HS-08).
     */
    public CompletionStage<Stopped> whenGone() {
        return keeper.gone().minimalCompletionStage();
    }

    private void readOutput(int lineLimit) {
        LineFramer framer = new LineFramer(lineLimit, ward.delivery());
        byte[] buffer = new byte[READ_SIZE];
        try (InputStream in = ward.process().getInputStream()) {
            int count = in.read(buffer);
            while (count >= 0) {
                int read = count;
                ward.delivery().read(() -> framer.accept(buffer, 0, read));
                count = in.read(buffer);
            }
        } catch (IOException e) {
            LOG.warn("reading stdout of child {} failed", pid(), e);
        } finally {
            ward.delivery().read(framer::end);
            ward.delivery().endOfOutput();
            ward.openStdout().countDown();
            ward.openPipes().countDown();
        }
    }

    private void drainStderr() {
        byte[] buffer = new byte[STDERR_SIZE];
        try (InputStream in = ward.process().getErrorStream()) {
            int count = in.read(buffer);
            while (count >= 0) {
                ward.stderr().accept(buffer, count);
                count = in.read(buffer);
            }
        } catch (IOException e) {
            LOG.warn("reading stderr of child {} failed", pid(), e);
        } finally {
            ward.openPipes().countDown();
        }
    }

    @Override
    public String toString() {
        return "Child[" + ward.id() + ", " + ward.marker().encoded() + "]";
    }
}
