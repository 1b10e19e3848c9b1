package dev.holdfast;

/** Bounds on what may lie unread in a session (MB-18): messages (default 10,000) and bytes (default 1 GiB). */
public record SessionLimits(long unreadMessages, long unreadBytes) {
    public SessionLimits {
        if (unreadMessages < 1 || unreadBytes < 1) {
            throw new IllegalArgumentException("session limits must be at least 1; got " + unreadMessages
                    + " messages, " + unreadBytes + " bytes");
        }
    }

    public static SessionLimits standard() {
        return new SessionLimits(10_000, 1L << 30);
    }
}
