package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.process.ChildListener.SkipReason;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LineFramerTest {

    /** What a framer says about its input, as one text per event. */
    private static final class Heard implements LineFramer.Sink {
        final List<String> events = new ArrayList<>();

        @Override
        public void line(OutputLine line) {
            events.add("line " + line.text() + " " + line.bytes() + " " + line.replaced());
        }

        @Override
        public void skipped(long bytes, SkipReason reason) {
            events.add("skipped " + bytes + " " + reason);
        }

        @Override
        public void partial(OutputLine rest) {
            events.add("partial " + rest.text() + " " + rest.bytes() + " " + rest.replaced());
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> frame(int limit, byte[]... parts) {
        Heard heard = new Heard();
        LineFramer framer = new LineFramer(limit, heard);
        for (byte[] part : parts) {
            framer.accept(part, 0, part.length);
        }
        framer.end();
        return heard.events;
    }

    @Test
    @Tag("HS-10")
    void accept_splitAtEveryByte_givesTheSameLines() {
        byte[] bytes = utf8("{\"a\":\"äö😀\"}\r\n\n漢字\u2028mid\u0085dle\rx\nlast");
        List<String> whole = frame(100, bytes);
        assertThat(whole)
                .containsExactly(
                        "line {\"a\":\"äö😀\"} 16 0",
                        "line  0 0",
                        "line 漢字\u2028mid\u0085dle\rx 19 0",
                        "partial last 4 0");
        for (int cut = 0; cut <= bytes.length; cut++) {
            byte[] head = Arrays.copyOfRange(bytes, 0, cut);
            byte[] tail = Arrays.copyOfRange(bytes, cut, bytes.length);
            assertThat(frame(100, head, tail)).as("cut at byte %s", cut).isEqualTo(whole);
        }
        byte[][] single = new byte[bytes.length][];
        for (int i = 0; i < bytes.length; i++) {
            single[i] = new byte[] {bytes[i]};
        }
        assertThat(frame(100, single)).isEqualTo(whole);
    }

    @Test
    @Tag("HS-10")
    void accept_lineOverLimit_isSkippedWithItsSizeAndTheNextIsRead() {
        assertThat(frame(4, utf8("12345\nabcd\n"))).containsExactly("skipped 5 OVER_LIMIT", "line abcd 4 0");
        assertThat(frame(4, utf8("123"), utf8("456"), utf8("789\nok\n")))
                .containsExactly("skipped 9 OVER_LIMIT", "line ok 2 0");
        assertThat(frame(4, utf8("1234567"))).containsExactly("skipped 7 OVER_LIMIT");
    }

    @Test
    @Tag("HS-10")
    void accept_invalidUtf8_isReplacedAndCounted() {
        byte[] bytes = {'a', (byte) 0xFF, 'b', (byte) 0xC3, '\n', (byte) 0xEF, (byte) 0xBF, (byte) 0xBD, '\n'};
        assertThat(frame(100, bytes)).containsExactly("line a\uFFFDb\uFFFD 4 2", "line \uFFFD 3 0");
    }

    @Test
    @Tag("HS-10")
    void end_afterALineEnd_reportsNoPartialLine() {
        assertThat(frame(100, utf8("a\n"))).containsExactly("line a 1 0");
        assertThat(frame(100)).isEmpty();
    }

    @Test
    void accept_randomBytesInRandomPieces_equalsTheModel() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int round = 0; round < 2_000; round++) {
            int limit = 1 + random.nextInt(40);
            byte[] bytes = randomBytes(random);
            Heard heard = new Heard();
            LineFramer framer = new LineFramer(limit, heard);
            int at = 0;
            while (at < bytes.length) {
                int count = 1 + random.nextInt(Math.min(17, bytes.length - at));
                byte[] reused = new byte[count + 3];
                System.arraycopy(bytes, at, reused, 2, count);
                framer.accept(reused, 2, count);
                Arrays.fill(reused, (byte) 'Z');
                at += count;
            }
            framer.end();
            assertThat(heard.events)
                    .as("seed %s (set it in this test to rerun), round %s", seed, round)
                    .isEqualTo(model(limit, bytes));
        }
    }

    private static byte[] randomBytes(Random random) {
        byte[] alphabet = {'\n', '\n', '\r', 'a', 'b', (byte) 0xC3, (byte) 0xA4, (byte) 0xF0, (byte) 0x9F, (byte) 0xFF};
        byte[] bytes = new byte[random.nextInt(200)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = alphabet[random.nextInt(alphabet.length)];
        }
        return bytes;
    }

    /** The obvious way: cut the whole input at line ends. */
    private static List<String> model(int limit, byte[] bytes) {
        List<String> events = new ArrayList<>();
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (byte b : bytes) {
            if (b == '\n') {
                events.add(describe("line", limit, line.toByteArray()));
                line.reset();
            } else {
                line.write(b);
            }
        }
        if (line.size() > 0) {
            events.add(describe("partial", limit, line.toByteArray()));
        }
        return events;
    }

    private static String describe(String kind, int limit, byte[] line) {
        if (line.length > limit) {
            return "skipped " + line.length + " OVER_LIMIT";
        }
        int kept = line.length > 0 && line[line.length - 1] == '\r' ? line.length - 1 : line.length;
        String text = new String(line, 0, kept, StandardCharsets.UTF_8);
        long replaced = text.chars().filter(c -> c == '\uFFFD').count();
        return kind + " " + text + " " + kept + " " + replaced;
    }
}
