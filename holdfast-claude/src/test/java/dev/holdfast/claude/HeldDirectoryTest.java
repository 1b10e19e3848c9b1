package dev.holdfast.claude;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class HeldDirectoryTest {
    @TempDir
    Path home;

    /** The kernel's list of locks tells whether this process has one on the file. */
    private boolean lockedByThisProcess(Path directory) throws IOException {
        String inode = ":" + Files.getAttribute(directory.resolve("held.lock"), "unix:ino") + " ";
        String pid = " " + ProcessHandle.current().pid() + " ";
        return Files.readAllLines(Path.of("/proc/locks")).stream()
                .anyMatch(line -> line.contains(inode) && line.contains(pid));
    }

    @Test
    @Tag("HS-16")
    @EnabledOnOs(OS.LINUX)
    void open_refusedInTheSameJvm_leavesTheLockOfTheFirst() throws IOException {
        try (HeldDirectory first = HeldDirectory.open(home.resolve("d"))) {
            assertThat(lockedByThisProcess(first.path())).isTrue();
            assertThatThrownBy(() -> HeldDirectory.open(home.resolve("d")))
                    .isInstanceOf(HoldfastException.class)
                    .hasMessageContaining("belongs to other held sessions");
            assertThat(lockedByThisProcess(first.path())).isTrue();
        }
        HeldDirectory.open(home.resolve("d")).close();
    }

    @Test
    void close_again_takesNothingFromTheNextOwner() {
        HeldDirectory first = HeldDirectory.open(home.resolve("d"));
        first.close();
        try (HeldDirectory second = HeldDirectory.open(home.resolve("d"))) {
            first.close();
            assertThat(second.epoch()).isEqualTo(first.epoch() + 1);
            assertThatThrownBy(() -> HeldDirectory.open(home.resolve("d"))).isInstanceOf(HoldfastException.class);
        }
    }

    @Test
    @Tag("HS-16")
    void open_thatFailed_keepsNoLock() throws IOException {
        Path directory = Files.createDirectories(home.resolve("d"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        Files.writeString(directory.resolve("epoch"), "");
        assertThatThrownBy(() -> HeldDirectory.open(directory))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("holds no number");
        Files.writeString(directory.resolve("epoch"), "7");
        try (HeldDirectory opened = HeldDirectory.open(directory)) {
            assertThat(opened.epoch()).isEqualTo(8);
        }
    }

    @Test
    @Tag("HS-16")
    void sessions_thatCannotReapWhatRan_keepNoLock() throws IOException {
        Path directory = home.resolve("d");
        HeldDirectory.open(directory).close();
        Path unreadable = directory.resolve("run").resolve("1-1-00000000-0000-0000-0000-000000000000.child");
        Files.createDirectories(unreadable);
        assertThatThrownBy(() -> HeldSessions.open(HeldOptions.in(directory))).isInstanceOf(RuntimeException.class);
        Files.delete(unreadable);
        HeldSessions.open(HeldOptions.in(directory)).close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxrwx---", "rwx---rwx"})
    void open_ofADirectoryOthersMayWrite_isRefused(String permissions) throws IOException {
        Path directory = Files.createDirectories(home.resolve("d"));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(permissions));
        assertThatThrownBy(() -> HeldDirectory.open(directory))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("may be written by others")
                .hasMessageContaining("chmod 700");
    }
}
