package dev.holdfast;

/** The state after event {@code seq}, in a format of the given version. */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
public record SnapshotRecord(long seq, int version, byte[] body) {}
