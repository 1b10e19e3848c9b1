package dev.holdfast.core;

import dev.holdfast.CallRuling;
import java.time.Duration;

/** What the door says of a call before it runs. Each names its rule. */
public sealed interface Ruling {
    String rule();

    /** @param as how it came to that */
    record Admitted(String rule, CallRuling as) implements Ruling {}

    /**
     * @param as how it came to that
     * @param reason the model reads it
     */
    record Refused(String rule, CallRuling as, String reason) implements Ruling {}

    /** A person is to be asked. */
    record Questioned(String rule, String text, Duration within) implements Ruling {}
}
