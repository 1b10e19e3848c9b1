package dev.holdfast.journal;

import java.util.List;

/**
 * What a reading of the whole store found.
 *
 * @param sessions sessions looked at
 * @param arrivals arrivals read, bodies included
 * @param events events read
 * @param blobs large bodies read
 * @param problems one sentence each, at most 1,000; empty when all is as it was written
 */
public record Verification(long sessions, long arrivals, long events, long blobs, List<String> problems) {
    public Verification {
        problems = List.copyOf(problems);
    }

    /** Whether no problem was found. */
    public boolean sound() {
        return problems.isEmpty();
    }
}
