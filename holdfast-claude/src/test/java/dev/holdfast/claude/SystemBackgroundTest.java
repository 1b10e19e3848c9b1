package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SystemBackgroundTest {
    @Test
    void newId_manyTimes_isARandomUuidOfItsOwn() {
        var background = new SystemBackground();
        var seen = new HashSet<UUID>();
        for (int i = 0; i < 1_000; i++) {
            UUID id = background.newId();
            assertThat(id.version()).isEqualTo(4);
            assertThat(id.variant()).isEqualTo(2);
            assertThat(seen.add(id)).isTrue();
        }
    }
}
