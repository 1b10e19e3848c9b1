package dev.holdfast;

import java.util.OptionalLong;

/**
 * A name under which a session is reached besides its own (IN-01).
 *
 * @param token 1 to 256 characters; unguessable when it is a secret
 * @param releasedThrough present once it was given up: the last arrival accepted before (IN-10)
 */
public record Address(String token, SessionName session, AddressTerms terms, OptionalLong releasedThrough) {
    /** How many addresses a session may have at once (IN-08). */
    public static final int PER_SESSION_MAX = 256;

    public static final int TOKEN_MAX = 256;

    public Address {
        if (token.isBlank() || token.length() > TOKEN_MAX) {
            throw new IllegalArgumentException("an address has 1 to " + TOKEN_MAX + " characters, not all blank; '"
                    + Printable.shortened(token) + "' has " + token.length());
        }
    }
}
