package dev.holdfast.runtime;

import java.util.Optional;
import java.util.regex.Pattern;

/**
 * One role of a team (LV-05).
 *
 * @param name 1 to 32 letters, digits or hyphens, the first a letter; unique in its team
 * @param reportsTo the role that it reports to; absent for who leads
 * @param duty what it is there for, in words for its agent; 1 to 16,384 characters
 */
public record Role(String name, Optional<String> reportsTo, String duty) {
    /** The longest duty, in characters. */
    public static final int DUTY_MAX = 16_384;

    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9-]{0,31}");

    public Role {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("role name '" + name
                    + "' is not allowed: use 1 to 32 letters, digits or '-', beginning with a letter");
        }
        if (duty.isBlank() || duty.length() > DUTY_MAX) {
            throw new IllegalArgumentException(
                    "role '" + name + "' needs a duty of 1 to " + DUTY_MAX + " characters; got " + duty.length());
        }
    }
}
