package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import org.junit.jupiter.api.Test;

final class ModuleTableTest {
    @Test
    void placeholder_builds_passes() {
        assertThat(Runtime.version().feature()).isEqualTo(25);
    }
}
