package dev.holdfast.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jline.utils.Signals;

/**
 * The wish of a person or of the system that this command ends: Ctrl-C, SIGTERM, SIGHUP. While it is open, signals do
 * not end the JVM; the command sees them here and leaves in its own order.
 */
final class Departure implements AutoCloseable {
    private record Handled(String signal, Object before) {}

    private final CompletableFuture<Integer> asked = new CompletableFuture<>();
    private final List<Handled> handled = new ArrayList<>();

    private Departure() {}

    /** @param interrupted what the first Ctrl-C does; the second one ends the command */
    static Departure watching(Runnable interrupted) {
        var departure = new Departure();
        var again = new boolean[1];
        departure.handle("INT", () -> {
            if (again[0]) {
                departure.asked.complete(Exit.INTERRUPTED);
            } else {
                again[0] = true;
                interrupted.run();
            }
        });
        departure.handle("TERM", () -> departure.asked.complete(Exit.TERMINATED));
        departure.handle("HUP", () -> departure.asked.complete(Exit.TERMINATED));
        return departure;
    }

    /** Ctrl-C ends the command at once. */
    static Departure atOnce() {
        var departure = new Departure();
        departure.handle("INT", () -> departure.asked.complete(Exit.INTERRUPTED));
        departure.handle("TERM", () -> departure.asked.complete(Exit.TERMINATED));
        departure.handle("HUP", () -> departure.asked.complete(Exit.TERMINATED));
        return departure;
    }

    /** Ctrl-C is left to the terminal. */
    static Departure ofSystem() {
        var departure = new Departure();
        departure.handle("TERM", () -> departure.asked.complete(Exit.TERMINATED));
        departure.handle("HUP", () -> departure.asked.complete(Exit.TERMINATED));
        return departure;
    }

    private void handle(String signal, Runnable handler) {
        Object before = Signals.register(signal, handler);
        if (before != null) {
            handled.add(new Handled(signal, before));
        }
    }

    /** The exit code under which to leave; incomplete while nobody wants that. */
    CompletableFuture<Integer> asked() {
        return asked;
    }

    /** Waits for the given time, or until the command is to end; then with the exit code. */
    OptionalInt within(Duration time) {
        try {
            return OptionalInt.of(asked.get(time.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return OptionalInt.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalInt.of(Exit.INTERRUPTED);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public void close() {
        handled.forEach(h -> Signals.unregister(h.signal(), h.before()));
    }
}
