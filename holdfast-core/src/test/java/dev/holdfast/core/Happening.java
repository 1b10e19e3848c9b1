package dev.holdfast.core;

/** What can happen in a {@link World}, each only so many times. */
enum Happening {
    MESSAGE,
    /** A message for when nothing else is left to do. */
    PATIENT,
    STEER,
    REPLACE,
    CANCEL,
    WITHDRAW,
    CLEAR,
    /** Everything that was said is thrown away. */
    CUT,
    RESET,
    PAUSE,
    RESUME,
    DRAIN,
    FINISH,
    CLOSE,
    RELEASE,
    RESTORE,
    /** The host asks something of the present process. */
    INTERNAL,
    /** The boundary keeps the next message from the present process. */
    REJECTION,
    /** The agent stops at its limit of steps. */
    LIMIT,
    /** The agent rests, and tells no result of what it did. */
    SILENCE,
    /** The agent says at its rest that it has grown too big. */
    GROWTH,
    AGENT_DEATH,
    HOST_DEATH,
    LEAVING,
    TICK,
    OWN_TURN,
    /** A reader opens a feed, takes, gives back, lets go, or is a stale one. */
    FEED,
    TAKE,
    RETURN,
    OVER,
    STALE
}
