package dev.holdfast.runtime;

import dev.holdfast.Beat;
import dev.holdfast.EventListener;
import dev.holdfast.JournalReader;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.Subscription;
import dev.holdfast.ToolProgress;
import dev.holdfast.core.Event;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The subscribers of one session. Committed events are always read from the journal, so that there is no gap between
 * history and present; a commit is only a signal to read on. A slow subscriber slows nobody (LV-08).
 */
final class Feed {
    private static final Logger LOG = LoggerFactory.getLogger(Feed.class);
    private static final int PAGE = 200;
    private static final int TEXTS_MAX = 10_000;
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final SessionName session;
    private final JournalReader journal;
    private final Surroundings surroundings;
    private final List<Subscriber> subscribers = new CopyOnWriteArrayList<>();
    private volatile boolean stopped;

    Feed(SessionName session, JournalReader journal, Surroundings surroundings) {
        this.session = session;
        this.journal = journal;
        this.surroundings = surroundings;
    }

    Subscription subscribe(long after, EventListener listener) {
        var subscriber = new Subscriber(after, listener);
        subscribers.add(subscriber);
        subscriber.signal();
        return subscriber;
    }

    /** Nobody is told anything any more. */
    void stop() {
        stopped = true;
        subscribers.clear();
    }

    boolean isFollowed() {
        return !subscribers.isEmpty();
    }

    void committed() {
        subscribers.forEach(Subscriber::signal);
    }

    void text(long turn, String fragment) {
        subscribers.forEach(s -> s.live(new Text(turn, fragment)));
    }

    void progress(long turn, ToolProgress progress) {
        subscribers.forEach(s -> s.live(new Progress(turn, progress)));
    }

    void beat(long turn, Beat beat) {
        subscribers.forEach(s -> s.live(new Doing(turn, beat)));
    }

    /** What is on no disk. */
    private sealed interface Live {
        long turn();
    }

    private record Text(long turn, String fragment) implements Live {}

    private record Doing(long turn, Beat beat) implements Live {}

    private record Progress(long turn, ToolProgress progress) implements Live {
        /** The same call, further on. */
        boolean follows(@Nullable Live before) {
            return before instanceof Progress p && p.progress.callId().equals(progress.callId());
        }
    }

    /** One reader: a serial pump that reads pages until there is nothing new, then gives live text. */
    private final class Subscriber implements Subscription {
        private final EventListener listener;
        private final Deque<Live> texts = new ArrayDeque<>();
        private long after;
        private boolean running;
        private boolean again;
        private volatile boolean closed;

        Subscriber(long after, EventListener listener) {
            this.after = after;
            this.listener = listener;
        }

        void signal() {
            synchronized (this) {
                if (running) {
                    again = true;
                    return;
                }
                running = true;
            }
            surroundings.executor().execute(this::pump);
        }

        void live(Live live) {
            synchronized (this) {
                if (live instanceof Progress p && p.follows(texts.peekLast())) {
                    texts.removeLast();
                } else if (texts.size() >= TEXTS_MAX) {
                    texts.removeFirst(); // live text may be lost; its whole is in the settling event
                }
                texts.add(live);
            }
            signal();
        }

        private void pump() {
            synchronized (this) {
                again = false;
            }
            journal.events(session, after, PAGE)
                    .whenComplete((page, failure) -> surroundings.executor().execute(() -> {
                        if (closed || stopped) {
                            rest();
                        } else if (failure != null) {
                            LOG.warn("events of session {} cannot be read after {}", session, after, failure);
                            rest();
                            surroundings.at(surroundings.now().plus(RETRY), this::signal);
                        } else {
                            give(page);
                        }
                    }));
        }

        private void give(List<StoredEvent> page) {
            synchronized (listener) {
                for (StoredEvent stored : page) {
                    if (stored.event().type().equals(Event.TurnSettled.class.getSimpleName())) {
                        giveTexts(stored.event().turn().orElse(0)); // a turn's words come before its end
                    }
                    call(() -> listener.onEvent(EventCodec.forReaders(stored)));
                    after = stored.seq();
                }
            }
            if (!page.isEmpty()) { // only an empty page is the end
                pump();
                return;
            }
            giveTexts(Long.MAX_VALUE);
            if (!stopPumping()) {
                pump();
            }
        }

        /** Gives the fragments of turns up to {@code through}. */
        private void giveTexts(long through) {
            while (true) {
                Live live;
                synchronized (this) {
                    var next = texts.peekFirst();
                    if (next == null || next.turn() > through) {
                        return;
                    }
                    live = texts.removeFirst();
                }
                synchronized (listener) {
                    call(() -> {
                        switch (live) {
                            case Text text -> listener.onText(text.turn(), text.fragment());
                            case Doing doing -> listener.onBeat(doing.turn(), doing.beat());
                            case Progress progress -> listener.onProgress(progress.turn(), progress.progress());
                        }
                    });
                }
            }
        }

        private synchronized void rest() {
            running = false;
        }

        /** True when the pump may rest; false when something came in meanwhile. */
        private synchronized boolean stopPumping() {
            if (again && !closed) {
                return false;
            }
            running = false;
            return true;
        }

        private void call(Runnable give) {
            if (closed) {
                return;
            }
            try {
                give.run();
            } catch (RuntimeException | Error e) {
                LOG.warn("a subscriber of session {} failed on an event; the others go on", session, e);
            }
        }

        @Override
        public void close() {
            closed = true;
            subscribers.remove(this);
            synchronized (listener) {
                return; // whoever is in a call now has left it
            }
        }
    }
}
