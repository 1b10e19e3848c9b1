package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A point at which a scripted model waits until a test lets it go on: {@code [[gate NAME]]}. Opened once, it stays
 * open. Safe for use by several threads.
 */
public sealed interface Gate {

    /** Lets everybody pass, now and later. */
    void open();

    /** Whether the model has come here. */
    boolean isReached();

    /**
     * Waits until the model has come to this gate.
     *
     * @param limit how long at most
     * @return false when the limit was reached first
     * @throws InterruptedException when the calling thread is interrupted
     */
    boolean awaitReached(Duration limit) throws InterruptedException;

    /** A gate within this process, for the {@link ScriptedMessagesApi}. */
    final class Local implements Gate {
        private final CountDownLatch reached = new CountDownLatch(1);
        private final CompletableFuture<Void> opened = new CompletableFuture<>();

        Local() {}

        @Override
        public void open() {
            opened.complete(null);
        }

        @Override
        public boolean awaitReached(Duration limit) throws InterruptedException {
            return reached.await(limit.toMillis(), TimeUnit.MILLISECONDS);
        }

        @Override
        public boolean isReached() {
            return reached.getCount() == 0;
        }

        void pass() throws InterruptedException {
            reached();
            var go = new CountDownLatch(1);
            whenOpen(go::countDown);
            go.await();
        }

        void reached() {
            reached.countDown();
        }

        void whenOpen(Runnable action) {
            var unused = opened.thenRun(action);
        }
    }

    /** A gate between two processes, for the {@link ScriptedAgent}: two files in a directory that both know. */
    final class Shared implements Gate {
        private final Path reached;
        private final Path opened;

        Shared(Path directory, String name) {
            this.reached = directory.resolve(name + ".reached");
            this.opened = directory.resolve(name + ".open");
        }

        @Override
        public void open() {
            touch(opened);
        }

        @Override
        public boolean isReached() {
            return Files.exists(reached);
        }

        @Override
        public boolean awaitReached(Duration limit) throws InterruptedException {
            CountDownLatch pause = new CountDownLatch(1);
            for (long left = limit.toMillis(); left > 0 && !isReached(); left -= 2) {
                pause.await(2, TimeUnit.MILLISECONDS);
            }
            return isReached();
        }

        void reach() {
            touch(reached);
        }

        boolean isOpen() {
            return Files.exists(opened);
        }

        private static void touch(Path file) {
            try {
                Files.createFile(file);
            } catch (FileAlreadyExistsException alreadyThere) {
                // Reached or opened twice is the same as once.
            } catch (IOException e) {
                throw new UncheckedIOException("Cannot write the gate file " + file, e);
            }
        }
    }
}
