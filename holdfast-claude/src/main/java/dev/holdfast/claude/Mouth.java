package dev.holdfast.claude;

import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells a session's events to those who listen, one at a time and in order, on the executor of the options. Where nobody
 * listens, a completion goes its way at once, without a change of threads.
 *
 * <p>What waits for a slow listener is bounded: pieces of text are put together, and beyond {@link #EVENTS_MAX} events a
 * {@link HeldEvent.Gap} takes the place of those that follow, until half of them are told. Completions always wait, behind
 * no more than that. Thread-safe; listeners are called with no lock held.
 */
final class Mouth {
    private static final Logger LOG = LoggerFactory.getLogger(Mouth.class);

    /** How many events may wait, gaps not counted. */
    static final int EVENTS_MAX = 10_000;

    /** While fewer wait, each piece of text is told by itself. */
    private static final int MERGING_FROM = 100;

    /** A piece of text that waits does not become longer than this, in characters. */
    private static final int TEXT_MAX = 8_192;

    /** What waits to be told or run. */
    private sealed interface Item {}

    private static final class Words implements Item {
        private final StringBuilder text;
        private final SessionHandle named;
        private final Optional<HeldListener> ofTurn;

        Words(String text, SessionHandle named, Optional<HeldListener> ofTurn) {
            this.text = new StringBuilder(text);
            this.named = named;
            this.ofTurn = ofTurn;
        }
    }

    private static final class Missing implements Item {
        private final SessionHandle named;
        private final Optional<HeldListener> ofTurn;
        private long events = 1;

        Missing(SessionHandle named, Optional<HeldListener> ofTurn) {
            this.named = named;
            this.ofTurn = ofTurn;
        }
    }

    private record Said(HeldEvent event, SessionHandle named, Optional<HeldListener> ofTurn) implements Item {}

    private record Completion(Runnable step) implements Item {}

    private final Executor executor;
    private final Optional<HeldListener> all;
    private final Runnable deliver = this::deliver;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Item> waiting = new ArrayDeque<>();
    private int events;
    private boolean delivering;
    private volatile Optional<SessionHandle> handle;

    Mouth(Executor executor, Optional<HeldListener> all, Optional<SessionHandle> handle) {
        this.executor = executor;
        this.all = all;
        this.handle = handle;
    }

    /** From now on events are told under this handle; before, a session without one says nothing. */
    void handle(SessionHandle given) {
        handle = Optional.of(given);
    }

    boolean heard(Optional<HeldListener> ofTurn) {
        return handle.isPresent() && (all.isPresent() || ofTurn.isPresent());
    }

    void say(HeldEvent event, Optional<HeldListener> ofTurn) {
        if (!heard(ofTurn)) {
            return;
        }
        SessionHandle named = handle.orElseThrow();
        lock.lock();
        try {
            put(event, named, ofTurn);
        } finally {
            lock.unlock();
        }
        executor.execute(deliver);
    }

    private void put(HeldEvent event, SessionHandle named, Optional<HeldListener> ofTurn) {
        Item last = waiting.peekLast();
        if (last instanceof Missing gap && gap.ofTurn.equals(ofTurn) && events > EVENTS_MAX / 2) {
            gap.events++;
        } else if (event instanceof HeldEvent.Text text && events >= MERGING_FROM) {
            putText(text.fragment(), last, named, ofTurn);
        } else if (events >= EVENTS_MAX) {
            waiting.add(new Missing(named, ofTurn));
        } else {
            events++;
            waiting.add(new Said(event, named, ofTurn));
        }
    }

    private void putText(String fragment, @Nullable Item last, SessionHandle named, Optional<HeldListener> ofTurn) {
        if (last instanceof Words words
                && words.ofTurn.equals(ofTurn)
                && words.text.length() + fragment.length() <= TEXT_MAX) {
            words.text.append(fragment);
        } else if (events >= EVENTS_MAX) {
            waiting.add(new Missing(named, ofTurn));
        } else {
            events++;
            waiting.add(new Words(fragment, named, ofTurn));
        }
    }

    /** Runs a completion behind everything said before it, when somebody listens to that. */
    void then(Runnable completion, Optional<HeldListener> ofTurn) {
        if (!heard(ofTurn)) {
            completion.run();
            return;
        }
        lock.lock();
        try {
            waiting.add(new Completion(completion));
        } finally {
            lock.unlock();
        }
        executor.execute(deliver);
    }

    /** Delivers what waits, unless another thread does. */
    private void deliver() {
        for (Item next = take(true); next != null; next = take(false)) {
            switch (next) {
                case Said said -> tell(said.event(), said.named(), said.ofTurn());
                case Words words -> tell(new HeldEvent.Text(words.text.toString()), words.named, words.ofTurn);
                case Missing gap -> tell(new HeldEvent.Gap(gap.events), gap.named, gap.ofTurn);
                case Completion completion -> guarded(completion.step());
            }
        }
    }

    private @Nullable Item take(boolean first) {
        lock.lock();
        try {
            if (first && delivering) {
                return null;
            }
            Item next = waiting.poll();
            delivering = next != null;
            if (next instanceof Said || next instanceof Words) {
                events--;
            }
            return next;
        } finally {
            lock.unlock();
        }
    }

    /** Each listener by itself: one that throws takes nothing from the other. */
    private void tell(HeldEvent event, SessionHandle named, Optional<HeldListener> ofTurn) {
        all.ifPresent(listener -> guarded(() -> listener.on(named, event)));
        ofTurn.ifPresent(listener -> guarded(() -> listener.on(named, event)));
    }

    private static void guarded(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            LOG.error("a listener or a completion threw; it must not, and nothing else is changed by it", e);
        }
    }
}
