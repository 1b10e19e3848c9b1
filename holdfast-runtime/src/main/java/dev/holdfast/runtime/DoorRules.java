package dev.holdfast.runtime;

import dev.holdfast.Guard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What stands between an agent and its tools (TL-03, TL-04, TL-08). Immutable.
 *
 * @param guard judges every call; without one every call is let through
 * @param guardTime how long a guard may take; then the call is denied
 * @param askTime how long a person is waited for; then the call is denied
 * @param secretFields names of input fields whose values are kept out of journal, audit, events and logs, in lower case
 * @param secretValues what is kept out of them wherever it stands; at least {@value #SECRET_MIN} characters each
 */
public record DoorRules(
        Optional<Guard> guard,
        Duration guardTime,
        Duration askTime,
        Set<String> secretFields,
        List<String> secretValues) {
    /** A shorter value would be found in words that have nothing to do with it. */
    static final int SECRET_MIN = 4;

    private static final Set<String> FIELDS = Set.of(
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "token",
            "access_token",
            "refresh_token",
            "id_token",
            "secret",
            "client_secret",
            "api_key",
            "apikey",
            "api-key",
            "x-api-key",
            "authorization",
            "credential",
            "credentials",
            "private_key",
            "cookie",
            "set-cookie");

    public DoorRules {
        requirePositive("guardTime", guardTime);
        requirePositive("askTime", askTime);
        var fields = new TreeSet<String>();
        secretFields.forEach(f -> fields.add(f.toLowerCase(Locale.ROOT)));
        secretFields = Set.copyOf(fields);
        secretValues = List.copyOf(secretValues);
        for (int i = 0; i < secretValues.size(); i++) {
            if (secretValues.get(i).strip().length() < SECRET_MIN) {
                throw new IllegalArgumentException("secret " + (i + 1) + " has fewer than " + SECRET_MIN
                        + " characters: it would be found everywhere. Leave it out");
            }
        }
    }

    /** No guard; 10 s for one, 90 s for a person; the usual names of secret fields. */
    public static DoorRules standard() {
        return new DoorRules(Optional.empty(), Duration.ofSeconds(10), Duration.ofSeconds(90), FIELDS, List.of());
    }

    public DoorRules guard(Guard guard) {
        return new DoorRules(Optional.of(guard), guardTime, askTime, secretFields, secretValues);
    }

    public DoorRules guardTime(Duration time) {
        return new DoorRules(guard, time, askTime, secretFields, secretValues);
    }

    public DoorRules askTime(Duration time) {
        return new DoorRules(guard, guardTime, time, secretFields, secretValues);
    }

    /** Besides those there are. */
    public DoorRules secretFields(String... names) {
        var all = new TreeSet<>(secretFields);
        all.addAll(List.of(names));
        return new DoorRules(guard, guardTime, askTime, all, secretValues);
    }

    /** Besides those given before. */
    public DoorRules secrets(String... values) {
        var all = new ArrayList<>(secretValues);
        all.addAll(List.of(values));
        return new DoorRules(guard, guardTime, askTime, secretFields, all);
    }

    private static void requirePositive(String name, Duration time) {
        if (time.isNegative() || time.isZero()) {
            throw new IllegalArgumentException(name + " is " + time + "; it must be longer than zero");
        }
    }

    /** Names how many secrets there are, and none of them. */
    @Override
    public String toString() {
        return "DoorRules[guard=" + guard.isPresent() + ", guardTime=" + guardTime + ", askTime=" + askTime
                + ", secretFields=" + secretFields + ", secrets: " + secretValues.size() + "]";
    }
}
