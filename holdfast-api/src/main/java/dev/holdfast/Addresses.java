package dev.holdfast;

import java.util.List;
import java.util.concurrent.CompletionStage;

/** The addresses of one session (IN-01, IN-08 to IN-11). Thread-safe. Claims and releases are durable when answered. */
public interface Addresses {
    /**
     * Claims an address; idempotent, and a second caller waits for the first. Fails with {@link HoldfastException} naming
     * the owner when another session has it, or the limit of {@link Address#PER_SESSION_MAX}.
     */
    CompletionStage<Address> claim(String token, AddressTerms terms);

    /** As {@link #claim(String, AddressTerms)}, taking all that a sender may say. */
    default CompletionStage<Address> claim(String token) {
        return claim(token, AddressTerms.open());
    }

    /** Claims several; doubles collapse, all settle, successes stay, then the first failure in order is given (IN-09). */
    CompletionStage<List<Address>> claimAll(List<String> tokens);

    /** Those claimed now, in claim order. */
    CompletionStage<List<String>> claimed();

    /**
     * Gives every address up and takes out what came in before and was not read, in order (IN-10). A second call gives
     * nothing.
     */
    CompletionStage<List<Received>> release();

    /** As {@link #release}, leaving what is unread where it is. */
    CompletionStage<Void> dispose();

    /** Puts released payloads back in front, in their order, once the addresses are claimed again (IN-11). */
    CompletionStage<Void> restore(List<Received> payloads);
}
