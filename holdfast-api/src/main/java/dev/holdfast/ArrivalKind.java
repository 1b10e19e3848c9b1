package dev.holdfast;

/** Kinds of arrivals (IN-02). The code is what the store keeps; codes are never reused. */
public enum ArrivalKind {
    /** Words for the agent, with a turn of their own. */
    MESSAGE(1, false),
    /** Words for the running turn (TN-09). */
    STEER(2, false),
    /** Interrupts the turn it is bound to (IN-06). */
    CANCEL(3, true),
    /** Takes a parked session up again. */
    RESUME(4, true),
    /** Ends the session. */
    CLOSE(5, true),
    /** Asks that a warm process be ended between turns. */
    EVICT(6, true);

    private final int code;
    private final boolean urgent;

    ArrivalKind(int code, boolean urgent) {
        this.code = code;
        this.urgent = urgent;
    }

    public int code() {
        return code;
    }

    /** Urgent arrivals are announced ahead of the queue and do not count against its limit (MB-18, IN-05). */
    public boolean urgent() {
        return urgent;
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
