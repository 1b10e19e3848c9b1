package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.process.ChildListener.SkipReason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The framer against hostile bytes, compared with the obvious way: take all bytes, cut at line ends, decode. Each input
 * has a seed of its own; a failure names it, and {@code -Dholdfast.seed=…} makes it the first input. {@code
 * -Dholdfast.fuzz.inputs=…} tries another number of them.
 */
@Tag("slow")
class LineFramerFuzzTest {
    private static final int INPUTS = Integer.getInteger("holdfast.fuzz.inputs", 650_000);

    private static final byte[][] PIECES = {
        {'\n'},
        {'\n'},
        {'\r', '\n'},
        {'\r'},
        {'\r', '\r', '\n'},
        {0},
        {' '},
        "{\"type\":\"x\"}".getBytes(StandardCharsets.UTF_8),
        "ä".getBytes(StandardCharsets.UTF_8),
        "漢".getBytes(StandardCharsets.UTF_8),
        "😀".getBytes(StandardCharsets.UTF_8),
        "\uFFFD".getBytes(StandardCharsets.UTF_8),
        "\uFEFF".getBytes(StandardCharsets.UTF_8),
        "\u2028\u0085".getBytes(StandardCharsets.UTF_8),
        {(byte) 0xFF},
        {(byte) 0xC3},
        {(byte) 0xE6, (byte) 0xBC},
        {(byte) 0xF0, (byte) 0x9F, (byte) 0x98},
        {(byte) 0x80},
        {(byte) 0xC0, (byte) 0xAF},
        {(byte) 0xED, (byte) 0xA0, (byte) 0x80},
        {(byte) 0xF4, (byte) 0x90, (byte) 0x80, (byte) 0x80},
    };

    private sealed interface Event {
        record Whole(OutputLine line) implements Event {}

        record Partial(OutputLine line) implements Event {}

        record Skipped(long bytes, SkipReason reason) implements Event {}
    }

    private static final class Heard implements LineFramer.Sink {
        final List<Event> events = new ArrayList<>();

        @Override
        public void line(OutputLine line) {
            events.add(new Event.Whole(line));
        }

        @Override
        public void skipped(long bytes, SkipReason reason) {
            events.add(new Event.Skipped(bytes, reason));
        }

        @Override
        public void partial(OutputLine rest) {
            events.add(new Event.Partial(rest));
        }
    }

    @Test
    @Tag("HS-10")
    void accept_hostileBytesInAnyPieces_equalsTheObviousWay() {
        long first = Long.getLong("holdfast.seed", new Random().nextLong());
        System.err.println("LineFramerFuzzTest: " + INPUTS + " inputs from -Dholdfast.seed=" + first);
        long lines = 0;
        for (int i = 0; i < INPUTS; i++) {
            lines += tryOne(first + i);
        }
        assertThat(lines).as("the inputs hold lines").isGreaterThan(INPUTS / 2);
    }

    private static int tryOne(long seed) {
        var random = new SplittableRandom(seed);
        byte[] bytes = bytes(random);
        int limit = limit(random, bytes);
        List<Event> expected = obviously(bytes, limit);
        List<Event> heard;
        try {
            heard = framed(random, bytes, limit);
        } catch (RuntimeException | Error e) {
            throw new AssertionError(told(seed, bytes, limit), e);
        }
        if (!heard.equals(expected)) {
            assertThat(heard).as(told(seed, bytes, limit)).isEqualTo(expected);
        }
        return expected.size();
    }

    private static String told(long seed, byte[] bytes, int limit) {
        return "-Dholdfast.seed=" + seed + ": limit " + limit + ", bytes " + Arrays.toString(bytes);
    }

    private static byte[] bytes(SplittableRandom random) {
        int length = random.nextInt(20) == 0 ? random.nextInt(2_000) : random.nextInt(80);
        return switch (random.nextInt(5)) {
            case 0 -> arbitrary(random, length);
            case 1 -> few(random, length);
            case 2 -> longLine(random);
            default -> pieces(random, length);
        };
    }

    private static byte[] arbitrary(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Almost nothing but line ends. */
    private static byte[] few(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) "\n\n\r\ra\uFFFF".charAt(random.nextInt(6));
        }
        return bytes;
    }

    private static byte[] pieces(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        int at = 0;
        while (at < length) {
            byte[] piece = PIECES[random.nextInt(PIECES.length)];
            int count = Math.min(piece.length, length - at);
            System.arraycopy(piece, 0, bytes, at, count);
            at += count;
        }
        return bytes;
    }

    /** Some lines around the sizes at which buffers are taken and given back. */
    private static byte[] longLine(SplittableRandom random) {
        if (random.nextInt(200) != 0) {
            return pieces(random, random.nextInt(40));
        }
        int around = random.nextInt(3) == 0 ? 64 << 10 : 1 << 10;
        byte[] bytes = new byte[around + random.nextInt(5) - 2 + (random.nextBoolean() ? around : 0)];
        Arrays.fill(bytes, (byte) 'x');
        bytes[random.nextInt(bytes.length)] = '\n';
        bytes[random.nextInt(bytes.length)] = (byte) 0xE6;
        return bytes;
    }

    /** Also exactly the length of a line of the input, one less and one more. */
    private static int limit(SplittableRandom random, byte[] bytes) {
        if (random.nextBoolean()) {
            return 1 + random.nextInt(200_000);
        }
        int length = 0;
        int wanted = random.nextInt(4);
        for (int i = 0; i < bytes.length && wanted >= 0; i++) {
            if (bytes[i] == '\n') {
                wanted--;
                length = wanted >= 0 ? 0 : length;
            } else {
                length++;
            }
        }
        return Math.max(1, length + random.nextInt(3) - 1);
    }

    private static List<Event> framed(SplittableRandom random, byte[] bytes, int limit) {
        var heard = new Heard();
        var framer = new LineFramer(limit, heard);
        int most = switch (random.nextInt(3)) {
            case 0 -> 1;
            case 1 -> 1 + random.nextInt(30);
            default -> Math.max(1, bytes.length);
        };
        byte[] reused = new byte[most + 2];
        boolean overwrites = random.nextBoolean();
        int at = 0;
        while (at < bytes.length) {
            int count = Math.min(bytes.length - at, 1 + random.nextInt(most));
            int offset = random.nextInt(3);
            System.arraycopy(bytes, at, reused, offset, count);
            framer.accept(reused, offset, count);
            if (overwrites) {
                Arrays.fill(reused, (byte) 'Z');
            }
            at += count;
        }
        framer.end();
        return heard.events;
    }

    private static List<Event> obviously(byte[] bytes, int limit) {
        var events = new ArrayList<Event>();
        int start = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (bytes[i] == '\n') {
                byte[] line = Arrays.copyOfRange(bytes, start, i);
                events.add(
                        line.length > limit
                                ? new Event.Skipped(line.length, SkipReason.OVER_LIMIT)
                                : new Event.Whole(decoded(line)));
                start = i + 1;
            }
        }
        if (start < bytes.length) {
            byte[] rest = Arrays.copyOfRange(bytes, start, bytes.length);
            events.add(
                    rest.length > limit
                            ? new Event.Skipped(rest.length, SkipReason.OVER_LIMIT)
                            : new Event.Partial(decoded(rest)));
        }
        return events;
    }

    /** Replaced is what stands as U+FFFD and was not sent as U+FFFD. */
    private static OutputLine decoded(byte[] line) {
        int length = line.length > 0 && line[line.length - 1] == '\r' ? line.length - 1 : line.length;
        String text = new String(line, 0, length, StandardCharsets.UTF_8);
        long shown = text.chars().filter(c -> c == '\uFFFD').count();
        long sent = 0;
        for (int i = 0; i + 2 < length; i++) {
            if (line[i] == (byte) 0xEF && line[i + 1] == (byte) 0xBF && line[i + 2] == (byte) 0xBD) {
                sent++;
            }
        }
        return new OutputLine(text, length, (int) (shown - sent));
    }
}
