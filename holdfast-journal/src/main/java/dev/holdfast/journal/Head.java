package dev.holdfast.journal;

import dev.holdfast.Receipt;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * What the committer knows of one session: the parts of its {@code session} and {@code journal_head} rows that decide
 * about writes. Changed by the committer's thread only, as a copy that replaces the cached one at the commit.
 */
final class Head {
    static final int OPEN = 0;
    static final int NOT_NOW = 1;
    static final int CLOSED = 2;
    static final int DELETED = 3;

    final long sid;
    final String name;
    final long unreadLimit;
    final long unreadBytesLimit;

    int admission = OPEN;
    String admissionReason = "";
    long lastArrival;
    /** The last arrival of an urgent kind; not a column, the index {@code arrival_urgent} has it. */
    long lastUrgent;

    long ordinary;
    long ordinaryBytes;
    OptionalLong readyAt = OptionalLong.empty();

    long epoch;
    long seq;
    UUID batchId = new UUID(0, 0);
    long takenThrough;
    long ordinaryDone;
    long ordinaryDoneBytes;
    OptionalLong dueAt = OptionalLong.empty();
    OptionalLong openTurn = OptionalLong.empty();
    String phase = "OPEN";

    /** Whether the {@code session} row has to be written at the commit. */
    boolean sessionChanged;

    /** Whether {@code ready_at}, which has an index, is among what changed. */
    boolean readyChanged;

    Head(long sid, String name, long unreadLimit, long unreadBytesLimit) {
        this.sid = sid;
        this.name = name;
        this.unreadLimit = unreadLimit;
        this.unreadBytesLimit = unreadBytesLimit;
    }

    Head copy() {
        Head copy = new Head(sid, name, unreadLimit, unreadBytesLimit);
        copy.admission = admission;
        copy.admissionReason = admissionReason;
        copy.lastArrival = lastArrival;
        copy.lastUrgent = lastUrgent;
        copy.ordinary = ordinary;
        copy.ordinaryBytes = ordinaryBytes;
        copy.readyAt = readyAt;
        copy.epoch = epoch;
        copy.seq = seq;
        copy.batchId = batchId;
        copy.takenThrough = takenThrough;
        copy.ordinaryDone = ordinaryDone;
        copy.ordinaryDoneBytes = ordinaryDoneBytes;
        copy.dueAt = dueAt;
        copy.openTurn = openTurn;
        copy.phase = phase;
        copy.sessionChanged = sessionChanged;
        copy.readyChanged = readyChanged;
        return copy;
    }

    void ready(OptionalLong at) {
        if (!readyAt.equals(at)) {
            readyAt = at;
            readyChanged = true;
            sessionChanged = true;
        }
    }

    /** Why a delivery that wants an idle session is refused; absent when the session is idle (TN-09). */
    Optional<Receipt> busy() {
        return openTurn.isPresent() || unread() > 0
                ? Optional.of(new Receipt.Busy(openTurn, unread()))
                : Optional.empty();
    }

    long unread() {
        return ordinary - ordinaryDone;
    }

    long unreadBytes() {
        return ordinaryBytes - ordinaryDoneBytes;
    }
}
