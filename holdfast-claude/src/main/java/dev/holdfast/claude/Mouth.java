package dev.holdfast.claude;

import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * Tells a session's events to those who listen, one at a time and in order, on the executor of the options. Where nobody
 * listens, a completion goes its way at once, without a change of threads.
 */
final class Mouth {
    private final Outbox told = new Outbox();
    private final Executor executor;
    private final Optional<HeldListener> all;
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
        told.put(() -> {
            all.ifPresent(listener -> listener.on(named, event));
            ofTurn.ifPresent(listener -> listener.on(named, event));
        });
        executor.execute(told::deliver);
    }

    /** Runs a completion behind everything said before it, when somebody listens to that. */
    void then(Runnable completion, Optional<HeldListener> ofTurn) {
        if (heard(ofTurn)) {
            told.put(completion);
            executor.execute(told::deliver);
        } else {
            completion.run();
        }
    }
}
