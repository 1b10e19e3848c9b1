package dev.holdfast.runtime;

import dev.holdfast.Harness;
import dev.holdfast.SessionName;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of one host: at most one object for each name at any time. One that sleeps, that nobody waits on and that
 * can be made again is kept only as long as somebody else refers to it, so that sleepers cost nothing. Thread-safe.
 */
final class Sessions {
    private final Map<SessionName, Entry> entries = new ConcurrentHashMap<>();
    private final ReferenceQueue<LiveSession> gone = new ReferenceQueue<>();
    private final Set<Harness> harnesses =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    /** A session; {@code strong} while it may not be forgotten. */
    private static final class Entry extends WeakReference<LiveSession> {
        private final SessionName name;

        @SuppressWarnings("unused") // held, not read
        private volatile @Nullable LiveSession strong;

        Entry(LiveSession session, ReferenceQueue<LiveSession> gone) {
            super(session, gone);
            name = session.name();
            strong = session;
        }
    }

    /** A session's agent is of that harness from now on. */
    void uses(Harness harness) {
        harnesses.add(harness);
    }

    /** Of all agents there ever were: their sessions may have another one by now, or be forgotten. */
    List<Harness> harnesses() {
        synchronized (harnesses) {
            return List.copyOf(harnesses);
        }
    }

    Optional<LiveSession> find(SessionName name) {
        sweep();
        return Optional.ofNullable(entries.get(name)).map(Entry::get);
    }

    LiveSession findOrAdd(SessionName name, Function<SessionName, LiveSession> make) {
        sweep();
        var found = new ArrayList<LiveSession>(1); // also what keeps it alive until it is returned
        entries.compute(name, (n, entry) -> {
            var known = entry == null ? null : entry.get();
            if (entry != null && known != null) {
                found.add(known);
                return entry;
            }
            var made = make.apply(n);
            found.add(made);
            return new Entry(made, gone);
        });
        return found.getFirst();
    }

    void remove(LiveSession session) {
        entries.computeIfPresent(session.name(), (n, entry) -> entry.get() == session ? null : entry);
    }

    /** It has work: it may not be forgotten. */
    void keep(LiveSession session) {
        hold(session, session);
    }

    /** It sleeps and nobody waits on it: it may be forgotten. */
    void letGo(LiveSession session) {
        hold(session, null);
    }

    private void hold(LiveSession session, @Nullable LiveSession strong) {
        entries.computeIfPresent(session.name(), (n, entry) -> {
            if (entry.get() == session) {
                entry.strong = strong;
            }
            return entry;
        });
    }

    List<LiveSession> all() {
        sweep();
        return entries.values().stream()
                .flatMap(e -> Optional.ofNullable(e.get()).stream())
                .toList();
    }

    private void sweep() {
        for (var entry = gone.poll(); entry != null; entry = gone.poll()) {
            if (entry instanceof Entry e) {
                entries.remove(e.name, e);
            }
        }
    }
}
