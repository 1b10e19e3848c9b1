package dev.holdfast.bench;

/** The time a benchmark may measure, counted from here in whole rounds: one that would end too late is not begun. */
final class Allowance {
    private static final long NANOS = 35_000_000_000L;

    private final long began = System.nanoTime();
    private long last = began;
    private long longest;

    /** Asked before each round; the first is always allowed. */
    boolean allowsAnother() {
        long now = System.nanoTime();
        longest = Math.max(longest, now - last);
        last = now;
        return now - began + longest <= NANOS;
    }
}
