package dev.holdfast.claude;

import java.time.Duration;

/**
 * How long an attachment waits for its agent before it reports a breach (TN-04, HS-18). Immutable; each positive.
 *
 * @param start from the spawn to the checked tool list
 * @param firstOutput from a told line to the first sign of work on it
 * @param silence between signs of work; partial output, retry notices and running tools are such signs
 * @param interrupt from an interrupt to its answer
 * @param control for every other question on the control channel
 */
public record Deadlines(Duration start, Duration firstOutput, Duration silence, Duration interrupt, Duration control) {
    public Deadlines {
        check("start", start);
        check("firstOutput", firstOutput);
        check("silence", silence);
        check("interrupt", interrupt);
        check("control", control);
    }

    /** 60 s, 4 min, 4 min, 10 s, 60 s. */
    public static Deadlines standard() {
        return new Deadlines(
                Duration.ofSeconds(60),
                Duration.ofMinutes(4),
                Duration.ofMinutes(4),
                Duration.ofSeconds(10),
                Duration.ofSeconds(60));
    }

    public Deadlines start(Duration start) {
        return new Deadlines(start, firstOutput, silence, interrupt, control);
    }

    public Deadlines firstOutput(Duration firstOutput) {
        return new Deadlines(start, firstOutput, silence, interrupt, control);
    }

    public Deadlines silence(Duration silence) {
        return new Deadlines(start, firstOutput, silence, interrupt, control);
    }

    public Deadlines interrupt(Duration interrupt) {
        return new Deadlines(start, firstOutput, silence, interrupt, control);
    }

    public Deadlines control(Duration control) {
        return new Deadlines(start, firstOutput, silence, interrupt, control);
    }

    private static void check(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException("deadline " + name + " is " + value + "; it must be longer than zero");
        }
    }
}
