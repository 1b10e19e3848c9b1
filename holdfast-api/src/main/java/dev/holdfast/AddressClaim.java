package dev.holdfast;

/** What became of a claim to an address (IN-08). */
public sealed interface AddressClaim {
    /** The session has it, now or before. */
    record Claimed(String address) implements AddressClaim {}

    /** Another session has it; nothing was stored. */
    record Owned(String address, SessionName owner) implements AddressClaim {}

    /** The session has as many addresses as it may have; nothing was stored. */
    record TooMany(String address, int limit) implements AddressClaim {}
}
