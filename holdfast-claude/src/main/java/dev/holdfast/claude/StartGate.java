package dev.holdfast.claude;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one agent after another start in the configuration directory of a login they share, since starting agents write
 * the same file there (HS-20). First come, first served; nobody waits in a thread. Thread-safe.
 */
final class StartGate {
    /** A place in the line; {@link #leave} may be called at any time and again. */
    interface Place {
        void leave();
    }

    private static final Place NONE = () -> {};

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Path, ArrayDeque<Entrant>> lines = new HashMap<>();

    /** Runs {@code go}, at once or when everyone before has left; it must be quick. */
    Place enter(Optional<Path> shared, Runnable go) {
        if (shared.isEmpty()) {
            go.run();
            return NONE;
        }
        var entrant = new Entrant(shared.get(), go);
        boolean first;
        lock.lock();
        try {
            var line = lines.computeIfAbsent(shared.get(), path -> new ArrayDeque<>());
            line.add(entrant);
            first = line.size() == 1;
        } finally {
            lock.unlock();
        }
        if (first) {
            go.run();
        }
        return entrant;
    }

    private final class Entrant implements Place {
        private final Path path;
        private final Runnable go;

        Entrant(Path path, Runnable go) {
            this.path = path;
            this.go = go;
        }

        @Override
        public void leave() {
            Runnable next = null;
            lock.lock();
            try {
                var line = lines.get(path);
                boolean inside = line != null && line.peek() == this;
                if (line == null || !line.remove(this)) {
                    return;
                }
                if (line.isEmpty()) {
                    lines.remove(path);
                } else if (inside) {
                    next = line.getFirst().go;
                }
            } finally {
                lock.unlock();
            }
            if (next != null) {
                next.run();
            }
        }
    }
}
