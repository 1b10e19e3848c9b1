package dev.holdfast.runtime;

import dev.holdfast.Author;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a control file is followed. Immutable; {@code with}-style methods return changed copies.
 *
 * @param lineBytes the longest line that is acted on, without its newline (default 1 MiB, at most 16 MiB)
 * @param poll how often the file is looked at (default 100 ms, 10 ms to 10 s)
 * @param linger how long a file that was rotated away is still read, for writers that have it open (default 5 s)
 * @param author the name of who wrote a line that names no author (default {@code "owner"}: only the file's owner may
 *     write to it)
 * @param notices told of what a person should see, one call at a time, on the thread that follows the file; it must be
 *     quick. By default they are logged, as warnings but for a rotation
 */
public record ControlFileOptions(
        int lineBytes,
        Duration poll,
        Duration linger,
        String author,
        Consumer<ControlFileNotice> notices,
        Surroundings surroundings) {
    /** The surface of everything that comes through a control file (CH-06). */
    public static final String SURFACE = "control file";

    private static final Logger LOG = LoggerFactory.getLogger(ControlFile.class);
    private static final int LINE_BYTES_MAX = 16 << 20;

    /** One timer thread for all control files of a process. */
    private static final class Shared {
        static final Surroundings SURROUNDINGS = Surroundings.system();
    }

    public ControlFileOptions {
        if (lineBytes < 1 || lineBytes > LINE_BYTES_MAX) {
            throw new IllegalArgumentException("lineBytes must be 1 to " + LINE_BYTES_MAX + "; got " + lineBytes);
        }
        if (poll.compareTo(Duration.ofMillis(10)) < 0 || poll.compareTo(Duration.ofSeconds(10)) > 0) {
            throw new IllegalArgumentException("poll must be 10 ms to 10 s; got " + poll);
        }
        if (linger.isNegative() || linger.compareTo(Duration.ofHours(1)) > 0) {
            throw new IllegalArgumentException("linger must be 0 to 1 h; got " + linger);
        }
        new Author(author, SURFACE); // checks the name
    }

    public static ControlFileOptions standard() {
        return new ControlFileOptions(
                1 << 20,
                Duration.ofMillis(100),
                Duration.ofSeconds(5),
                "owner",
                ControlFileOptions::log,
                Shared.SURROUNDINGS);
    }

    private static void log(ControlFileNotice notice) {
        if (notice.kind() == ControlFileNotice.Kind.ROTATED) {
            LOG.info("control file: {}", notice);
        } else {
            LOG.warn("control file: {}", notice);
        }
    }

    public ControlFileOptions lineBytes(int lineBytes) {
        return new ControlFileOptions(lineBytes, poll, linger, author, notices, surroundings);
    }

    public ControlFileOptions poll(Duration poll) {
        return new ControlFileOptions(lineBytes, poll, linger, author, notices, surroundings);
    }

    public ControlFileOptions linger(Duration linger) {
        return new ControlFileOptions(lineBytes, poll, linger, author, notices, surroundings);
    }

    public ControlFileOptions author(String author) {
        return new ControlFileOptions(lineBytes, poll, linger, author, notices, surroundings);
    }

    public ControlFileOptions notices(Consumer<ControlFileNotice> notices) {
        return new ControlFileOptions(lineBytes, poll, linger, author, notices, surroundings);
    }

    public ControlFileOptions surroundings(Surroundings surroundings) {
        return new ControlFileOptions(lineBytes, poll, linger, author, notices, surroundings);
    }
}
