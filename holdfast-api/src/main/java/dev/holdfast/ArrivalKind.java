package dev.holdfast;

/**
 * Kinds of arrivals (IN-02). The code is what the store keeps; codes are never reused.
 *
 * <p>Urgent kinds are announced ahead of the queue (IN-05) and remember what they were bound to at acceptance (IN-06).
 * Counted kinds count against the limit on what lies unread (MB-18) and wait for their place.
 */
public enum ArrivalKind {
    /** Words for the agent, with a turn of their own. */
    MESSAGE(1, false, true),
    /** Words for the running turn (TN-09). */
    STEER(2, false, true),
    /** Interrupts the turn or takes out the message it names or is bound to (IN-06). */
    CANCEL(3, true, false),
    /** Takes a parked or paused session up again. */
    RESUME(4, true, false),
    /** Ends the session at once; with a recoverable reason it pauses it (MB-08). */
    CLOSE(5, true, false),
    /** Asks that a warm process be ended between turns. */
    EVICT(6, true, false),
    /** Interrupts the turn that was open, and in its place drops the agent's memory (IN-20). */
    RESET(7, true, false),
    /** In its place drops the agent's memory (IN-20). */
    CLEAR(8, false, true),
    /** In its place asks for a compaction (LV-04). */
    COMPACT(9, false, true),
    /** Ends the session because nothing happened for too long; names the owner epoch that says so (IN-17). */
    SESSION_TIMEOUT(10, true, false),
    /** What an authorization callback brought, for the one attempt it names (IN-20). */
    AUTHORIZATION(11, false, true),
    /** What a tool run elsewhere brought, for the one call it names (IN-20). */
    TOOL_RUN(12, false, true),
    /** Answers a question (IN-14). */
    ANSWER(13, true, false),
    /** Lets no further turn begin until the session is resumed (MB-08). */
    PAUSE(14, true, false),
    /** Takes nothing new; what waits still runs, then the session is closed (MB-07). */
    FINISH(15, true, false),
    /** A pause that begins when nothing is in flight any more, at its deadline at the latest (MB-09). */
    DRAIN(16, true, false),
    /** Takes a waiting message out by its number (MB-21). */
    WITHDRAW(17, true, false),
    /** Words that cancel the open turn and run next (TN-09). */
    REPLACE(18, true, true),
    /** An address was given up: what came through it and waits is withdrawn for the releaser (IN-10). */
    RELEASE(19, true, false),
    /** In its place throws away the turns from the one it names on, and the agent's memory with them (HN-04). */
    CUT(20, false, true),
    /** A turn that another session had, for one that begins as its fork (HN-14). */
    PAST(21, true, false);

    private final int code;
    private final boolean urgent;
    private final boolean counted;

    ArrivalKind(int code, boolean urgent, boolean counted) {
        this.code = code;
        this.urgent = urgent;
        this.counted = counted;
    }

    public int code() {
        return code;
    }

    /** Whether it is announced ahead of the queue (IN-05). */
    public boolean urgent() {
        return urgent;
    }

    /** Whether it counts against the limits on what lies unread (MB-18). */
    public boolean counted() {
        return counted;
    }

    /** Whether it carries words that get a turn, and so an end of their own (P2). */
    public boolean speaks() {
        return switch (this) {
            case MESSAGE, STEER, REPLACE, AUTHORIZATION, TOOL_RUN -> true;
            default -> false;
        };
    }

    /** @throws IllegalArgumentException for a code this version does not know */
    public static ArrivalKind ofCode(int code) {
        for (ArrivalKind kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new IllegalArgumentException(
                "arrival kind " + code + " is unknown: the store was written by a newer version");
    }
}
