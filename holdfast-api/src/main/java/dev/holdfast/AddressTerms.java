package dev.holdfast;

import java.util.Set;

/**
 * What an address takes.
 *
 * @param accepts the kinds a sender may give to it; others are refused to their sender (IN-01, IN-02)
 * @param once released by the first delivery it accepts, in the same commit (IN-20)
 */
public record AddressTerms(Set<ArrivalKind> accepts, boolean once) {
    public AddressTerms {
        accepts = Set.copyOf(accepts);
        if (accepts.isEmpty()) {
            throw new IllegalArgumentException("an address that accepts no kind of delivery cannot be claimed");
        }
    }

    /** Everything a sender may say, as the session's own address. */
    public static AddressTerms open() {
        return new AddressTerms(Set.of(ArrivalKind.values()), false);
    }

    /** One authorization callback (IN-20). */
    public static AddressTerms authorization() {
        return new AddressTerms(Set.of(ArrivalKind.AUTHORIZATION), true);
    }

    /** The result of one tool run elsewhere (IN-20). */
    public static AddressTerms toolRun() {
        return new AddressTerms(Set.of(ArrivalKind.TOOL_RUN), true);
    }
}
