package dev.holdfast;

import java.util.OptionalLong;

/** An event as the store sees it: it never understands a body. */
@SuppressWarnings("ArrayRecordComponent") // bytes are handed over, never changed and never compared
public record EventRecord(String type, int version, OptionalLong turn, byte[] body) {}
