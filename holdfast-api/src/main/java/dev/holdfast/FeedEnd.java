package dev.holdfast;

/** Why a feed gives nothing any more (MB-19). */
public enum FeedEnd {
    /** The next message is not for it (MB-10). */
    BOUNDARY,
    /** Nothing came in for the time it was given (MB-11). */
    IDLE,
    /** The session is paused or parked (MB-08). */
    PAUSED,
    /** The session was closed, or finished and worked off (MB-07). */
    CLOSED,
    /** It is drained (MB-09). */
    DRAINED,
    /** A newer feed was opened (MB-03). */
    FENCED,
    /** Its reader let go of it. */
    ENDED,
    /** The host of its reader is gone (MB-05). */
    CRASHED
}
