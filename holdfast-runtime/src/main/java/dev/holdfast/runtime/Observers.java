package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.JournalException;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Received;
import dev.holdfast.SessionName;
import dev.holdfast.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Those who are told of a session's arrivals and take none (IN-06, IN-07). Thread-safe. */
final class Observers {
    private static final Logger LOG = LoggerFactory.getLogger(Observers.class);
    private static final Set<ArrivalKind> INTERRUPTS =
            Set.of(ArrivalKind.CANCEL, ArrivalKind.RESET, ArrivalKind.SESSION_TIMEOUT);
    private static final int PAGE = 200;
    private static final Duration RETRY = Duration.ofSeconds(1);

    private final SessionName session;
    private final Holdfast.Parts parts;
    private final List<Handler> handlers = new CopyOnWriteArrayList<>();
    private final List<Deliveries> deliveries = new CopyOnWriteArrayList<>();
    private volatile boolean stopped;

    Observers(SessionName session, Holdfast.Parts parts) {
        this.session = session;
        this.parts = parts;
    }

    // ---- interrupts -----------------------------------------------------------------------------------------------

    /** One who wants to know of interrupts. After {@link #close} returns no call comes. */
    private final class Handler implements Subscription {
        private final Consumer<Received> handler;
        private boolean closed;

        Handler(Consumer<Received> handler) {
            this.handler = handler;
        }

        synchronized void give(Received received) {
            if (!closed) {
                call(handler, received);
            }
        }

        @Override
        public synchronized void close() {
            closed = true;
            handlers.remove(this);
        }
    }

    Subscription onInterrupt(Consumer<Received> handler) {
        var subscription = new Handler(handler);
        handlers.add(subscription);
        return subscription;
    }

    /** Called by the owner when it has read them and before it acts on them. */
    void interrupts(List<Arrival> page) {
        if (handlers.isEmpty()) {
            return;
        }
        for (Arrival arrival : page) {
            if (INTERRUPTS.contains(arrival.kind())) {
                parts.envelope().received(arrival).ifPresent(r -> handlers.forEach(h -> h.give(r)));
            }
        }
    }

    private void call(Consumer<Received> handler, Received received) {
        try {
            handler.accept(received);
        } catch (RuntimeException | Error e) { // a handler of somebody else's harms nobody (IN-07)
            LOG.warn("an observer of session {} failed on arrival {}; the others go on", session, received.number(), e);
        }
    }

    // ---- deliveries -----------------------------------------------------------------------------------------------

    /** @param begin where the subscription begins: what is not read there comes first */
    Subscription onDelivery(Consumer<Received> handler, CompletionStage<Begin> begin) {
        var subscription = new Deliveries(handler);
        deliveries.add(subscription);
        begin.whenComplete((from, failure) -> {
            if (failure == null) {
                subscription.begin(from);
                return;
            }
            if (!stopped) {
                LOG.warn("deliveries of session {} cannot be observed", session, failure);
            }
            subscription.close();
        });
        return subscription;
    }

    /**
     * Where an observer begins.
     *
     * @param front messages that were read and given back
     * @param after arrivals up to here are read
     * @param named later ones that are read
     */
    record Begin(List<Received> front, long after, LongPredicate named) {
        Begin {
            front = List.copyOf(front);
        }
    }

    boolean any() {
        return !handlers.isEmpty() || !deliveries.isEmpty();
    }

    /** Something may have been accepted. */
    void signal() {
        deliveries.forEach(Deliveries::signal);
    }

    /** Nobody is told anything any more. */
    void stop() {
        stopped = true;
        handlers.clear();
        deliveries.clear();
    }

    /** One observer: a serial pump over the arrivals, as {@link Feed} is over the events. */
    private final class Deliveries implements Subscription {
        private final Consumer<Received> handler;
        private final Object calling = new Object();
        private LongPredicate read = number -> false;
        private long after;
        private boolean begun;
        private boolean running;
        private boolean again;
        private volatile boolean closed;

        Deliveries(Consumer<Received> handler) {
            this.handler = handler;
        }

        void begin(Begin begin) {
            synchronized (this) {
                read = begin.named();
                after = begin.after();
                begun = true;
                running = true;
            }
            elsewhere(() -> {
                begin.front().forEach(this::give);
                pump();
            });
        }

        void signal() {
            synchronized (this) {
                if (!begun || closed || stopped) {
                    return;
                }
                if (running) {
                    again = true;
                    return;
                }
                running = true;
            }
            elsewhere(this::pump);
        }

        private void pump() {
            long from;
            synchronized (this) {
                again = false;
                from = after;
            }
            parts.journal()
                    .arrivals(session, from, PAGE, Selection.WITH_BODIES)
                    .whenComplete((page, failure) -> elsewhere(() -> pumped(page, failure)));
        }

        private void pumped(List<Arrival> page, @Nullable Throwable failure) {
            if (closed || stopped) {
                return;
            }
            if (failure != null) {
                LOG.warn("arrivals of session {} cannot be read after {}", session, after, failure);
                synchronized (this) {
                    running = false;
                }
                var surroundings = parts.options().surroundings();
                surroundings.at(surroundings.now().plus(RETRY), this::signal);
                return;
            }
            page.forEach(this::look);
            synchronized (this) {
                if (!page.isEmpty()) {
                    after = page.getLast().number();
                } else if (!again) {
                    running = false;
                    return;
                }
            }
            pump();
        }

        /** One that cannot be read is said, and costs nobody the others. */
        private void look(Arrival arrival) {
            if (read.test(arrival.number())) {
                return;
            }
            try {
                parts.envelope().received(arrival).ifPresent(this::give);
            } catch (JournalException e) {
                LOG.error("an observer of session {} is not told of arrival {}", session, arrival.number(), e);
            }
        }

        private void give(Received received) {
            synchronized (calling) {
                if (!closed) {
                    call(handler, received);
                }
            }
        }

        @Override
        public void close() {
            closed = true;
            deliveries.remove(this);
            synchronized (calling) {
                return; // whoever is in a call now has left it
            }
        }
    }

    private void elsewhere(Runnable step) {
        parts.options().surroundings().executor().execute(step);
    }
}
