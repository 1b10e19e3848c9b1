package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What users of other such software have reported of pipes and processes. The references are in the display names;
 * docs/track-record.md has the table of all of them.
 */
class FieldReportsIT extends ShellChildren {
    private static final int SEAM = 65_536;

    @Test
    @Tag("HS-10")
    @DisplayName("py#33, py#32, py#1083: blanks at the seams of reads are kept, and no seam ends a line")
    void line_withBlanksAtEverySeam_isKeptByteForByte() throws Exception {
        var line = new StringBuilder("x".repeat(3 * SEAM + 4_000));
        for (int at = SEAM; at < line.length(); at += SEAM) {
            line.replace(at - 1, at + 1, "  ");
        }
        Path file = Files.writeString(directory.resolve("line"), line + "\n \n");
        run("cat \"$1\"", file.toString());
        recorder.awaitGone();
        assertThat(recorder.lines).containsExactly(line.toString(), " ");
    }

    @Test
    @Tag("HS-10")
    @DisplayName("DFIR-Companion#515, gstack#1007, codex-acp#397, open-design#7465: characters that come byte by byte")
    void characters_writtenByteByByte_areWhole() {
        run("for b in 346 274 242 345 255 227 360 237 230 200; do printf \"\\\\$b\"; sleep 0.01; done; echo");
        recorder.awaitGone();
        assertThat(recorder.rawLines).containsExactly(new OutputLine("漢字😀", 10, 0));
    }

    @Test
    @Tag("HS-12")
    @DisplayName("malformed input: a hundred senders at once never write half a line into another")
    void lines_ofAHundredSenders_arriveWholeAndInOrder() throws Exception {
        List<String> lines = new ArrayList<>();
        ChildListener listener = new ChildListener() {
            @Override
            public void line(OutputLine line) {
                lines.add(line.text());
            }

            @Override
            public void skippedLine(long bytes, SkipReason reason) {}

            @Override
            public void ended(Ended ended) {}
        };
        Child child = spawner.spawn(Kit.shell(directory, "exec cat"), listener);
        int senders = 100;
        int each = 1_000;
        List<Thread> threads = new ArrayList<>();
        for (int s = 0; s < senders; s++) {
            int sender = s;
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < each; i++) {
                    String line = "{\"sender\":" + sender + ",\"line\":" + i + "}";
                    var unused = child.write(line.getBytes(StandardCharsets.UTF_8));
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        child.closeInput();
        Recorder.get(child.whenGone());
        Map<Integer, Integer> next = new HashMap<>();
        for (String line : lines) {
            assertThat(line).matches("\\{\"sender\":\\d+,\"line\":\\d+}");
            String[] numbers = line.replaceAll("[^0-9,]", "").split(",", -1);
            int sender = Integer.parseInt(numbers[0]);
            assertThat(Integer.parseInt(numbers[1])).isEqualTo(next.getOrDefault(sender, 0));
            next.merge(sender, 1, Integer::sum);
        }
        assertThat(next)
                .hasSize(senders)
                .allSatisfy((sender, count) -> assertThat(count).isEqualTo(each));
    }

    @Test
    @Tag("HS-07")
    @Tag("HS-08")
    @DisplayName("kai#43: what a wrapper has started ends with the wrapper, however that ends")
    void wrapper_killed_takesTheRealProcessWithIt() {
        Child child = run("sh -c 'echo $$; exec sleep 300'; true");
        long real = Kit.pidLine(recorder, 0);
        assertThat(real).isNotEqualTo(child.pid());
        child.signal(ChildSignal.KILL);
        assertThat(recorder.awaitGone().allDead()).isTrue();
        assertThat(Kit.isDead(real)).isTrue();
    }
}
