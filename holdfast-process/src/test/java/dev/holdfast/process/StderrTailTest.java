package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class StderrTailTest {

    @Test
    @Tag("HS-11")
    void accept_moreThanCapacity_keepsTheEndAndTheCount() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        for (int capacity : new int[] {0, 1, 7, 1024, 1500, 5000}) {
            StderrTail tail = new StderrTail(capacity);
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 60; i++) {
                byte[] part = new byte[random.nextInt(400)];
                for (int k = 0; k < part.length; k++) {
                    part[k] = (byte) ('a' + random.nextInt(26));
                }
                tail.accept(part, part.length);
                all.append(new String(part, StandardCharsets.US_ASCII));
                assertThat(tail.text())
                        .as("seed %s, capacity %s", seed, capacity)
                        .isEqualTo(all.substring(Math.max(0, all.length() - capacity)));
            }
            assertThat(tail.total()).isEqualTo(all.length());
        }
    }

    @Test
    void text_whenTheRingCutsACharacter_dropsItsRest() {
        StderrTail tail = new StderrTail(5);
        byte[] bytes = "xx😀yz".getBytes(StandardCharsets.UTF_8);
        tail.accept(bytes, bytes.length);
        assertThat(tail.text()).isEqualTo("yz");
    }
}
