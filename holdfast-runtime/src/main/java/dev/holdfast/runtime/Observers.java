package dev.holdfast.runtime;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.JournalReader.Selection;
import dev.holdfast.Received;
import dev.holdfast.SessionName;
import dev.holdfast.Subscription;
import dev.holdfast.core.Durable;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
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
            if (failure != null) {
                LOG.warn("deliveries of session {} cannot be observed", session, failure);
                subscription.close();
            } else {
                subscription.begin(from);
            }
        });
        return subscription;
    }

    /**
     * Where an observer begins.
     *
     * @param after arrivals up to here are read
     * @param through later ones up to here are unread unless {@code named}
     */
    record Begin(long after, long through, LongPredicate named) {
        static Begin of(Durable state, long lastArrival) {
            return new Begin(state.takenThrough(), lastArrival, state::named);
        }
    }

    /** Something may have been accepted. */
    void signal() {
        deliveries.forEach(Deliveries::signal);
    }

    /** One observer: a serial pump over the arrivals, as {@link Feed} is over the events. */
    private final class Deliveries implements Subscription {
        private final Consumer<Received> handler;
        private final Object calling = new Object();
        private Begin from = new Begin(Long.MAX_VALUE, 0, n -> false);
        private long after;
        private boolean begun;
        private boolean running;
        private boolean again;
        private volatile boolean closed;

        Deliveries(Consumer<Received> handler) {
            this.handler = handler;
        }

        synchronized void begin(Begin begin) {
            from = begin;
            after = begin.after();
            begun = true;
            signal();
        }

        synchronized void signal() {
            if (!begun || closed) {
                return;
            }
            if (running) {
                again = true;
                return;
            }
            running = true;
            pump();
        }

        private synchronized void pump() {
            again = false;
            parts.journal()
                    .arrivals(session, after, PAGE, Selection.WITH_BODIES)
                    .whenComplete((page, failure) -> parts.options()
                            .surroundings()
                            .executor()
                            .execute(() -> {
                                if (failure != null) {
                                    LOG.warn("arrivals of session {} cannot be read", session, failure);
                                    later();
                                } else {
                                    give(page);
                                }
                            }));
        }

        private synchronized void later() {
            running = false;
            var surroundings = parts.options().surroundings();
            surroundings.at(surroundings.now().plus(RETRY), this::signal);
        }

        private void give(List<Arrival> page) {
            for (Arrival arrival : page) {
                boolean read =
                        arrival.number() <= from.through() && from.named().test(arrival.number());
                if (!read) {
                    parts.envelope().received(arrival).ifPresent(this::give);
                }
            }
            synchronized (this) {
                if (!page.isEmpty()) {
                    after = page.getLast().number();
                }
                if (closed || (page.isEmpty() && !again)) {
                    running = false;
                } else {
                    pump();
                }
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
}
