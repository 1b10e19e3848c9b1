package dev.holdfast.runtime;

import dev.holdfast.TurnMemory;
import dev.holdfast.TurnState;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** The one note of a thinker in this process, kept as long as its incarnation (HN-04). Thread-safe. */
final class Notes {
    private final AtomicReference<Optional<TurnState>> note = new AtomicReference<>(Optional.empty());

    /**
     * The note as a turn may use it.
     *
     * @param messages how many the transcript has: one that did not grow past what the note covers has lost the answer that
     *     is remembered
     */
    TurnMemory during(int messages) {
        return new TurnMemory() {
            @Override
            public Optional<TurnState> get() {
                return note.updateAndGet(n -> n.filter(s -> !s.truncated(messages)));
            }

            @Override
            public void set(TurnState state) {
                note.set(Optional.of(state));
            }

            @Override
            public void clear() {
                note.set(Optional.empty());
            }
        };
    }
}
