package dev.holdfast;

/** A running subscription. Closing is idempotent; after {@link #close} returns no call comes any more (IN-07). */
public interface Subscription extends AutoCloseable {
    @Override
    void close();
}
