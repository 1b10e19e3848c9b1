package dev.holdfast.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LinuxProcessTableTest {

    private static LinuxProcessTable.Stat parse(String name, char state, int threads) {
        return LinuxProcessTable.parse("77 (" + name + ") " + state + " 10 20 30 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 "
                + threads + " 0 12345 1000 10");
    }

    @Test
    void parse_nameWithBlanksAndBrackets_findsTheFields() {
        LinuxProcessTable.Stat stat = parse("a) S 1 (b", 'S', 3);
        assertThat(stat).isEqualTo(new LinuxProcessTable.Stat('S', 10, 30, 3, 12345));
        assertThat(stat.dead()).isFalse();
    }

    @Test
    void dead_zombieWithRunningThreads_isAlive() {
        assertThat(parse("sh", 'Z', 1).dead()).isTrue();
        assertThat(parse("sh", 'Z', 4).dead()).isFalse();
        assertThat(parse("sh", 'X', 1).dead()).isTrue();
    }

    @Test
    void parse_cutLine_isNothing() {
        assertThat(LinuxProcessTable.parse("")).isNull();
        assertThat(LinuxProcessTable.parse("77 (sh) S 1 2")).isNull();
    }
}
