package dev.holdfast;

/** What a thinker says in a turn: a closed vocabulary (HN-01). */
public sealed interface TurnEvent {
    /** A fragment of the answer, in order. */
    record Text(String fragment) implements TurnEvent {}

    /** What it is doing. Whether it is shown is the host's rule (HN-03). */
    record Status(Beat beat) implements TurnEvent {}

    /** Something a person should be able to see; recorded. */
    record Notice(String text) implements TurnEvent {}

    /** The turn has failed; nothing said after it counts. */
    record Failure(Cause cause, String reason) implements TurnEvent {}

    /** What a step used; adds up over the turn. */
    record Used(Usage usage) implements TurnEvent {}

    /** What a failure means for what comes next. */
    enum Cause {
        /** This turn could not be answered. */
        FAILED,
        /** It took all the steps it may (MB-15). */
        TURN_LIMIT,
        /** No turn can be answered before a person acts: login, billing, quota. The session is parked. */
        FATAL
    }
}
