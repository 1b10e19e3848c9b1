package dev.holdfast;

import java.util.Optional;

/**
 * What a thinker keeps from turn to turn: a place for the one note of {@link TurnState}, and for nothing else (HN-04). Kept
 * while the thinker is held: it is gone when the session sleeps, is reset, cut or given to another harness, and whenever the
 * transcript was changed in another way than by growing; the conversation is told again from our transcript then.
 */
public interface TurnMemory {
    /** The note; absent at first and whenever it may not be relied on. */
    Optional<TurnState> get();

    void set(TurnState state);

    void clear();
}
