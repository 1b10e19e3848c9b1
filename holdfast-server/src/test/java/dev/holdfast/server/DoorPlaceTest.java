package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.HoldfastException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where the socket lies, and what is found there. */
final class DoorPlaceTest {
    @TempDir
    Path temporary;

    private Path data;
    private Path elsewhere;

    @BeforeEach
    void directories() throws IOException {
        data = Files.createDirectory(temporary.toRealPath().resolve("data"));
        elsewhere = Files.createDirectory(temporary.toRealPath().resolve("t"));
    }

    /** A listening socket, as a host has one. */
    private static ServerSocketChannel bind(Path socket) throws IOException {
        var channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        channel.bind(UnixDomainSocketAddress.of(socket));
        return channel;
    }

    @Test
    void usualPlace_isPrivate() throws Exception {
        try (var place = DoorPlace.take(data, elsewhere)) {
            assertThat(place.socket()).isEqualTo(data.resolve("run/door.sock"));
            assertThat(mode(data.resolve("run"))).isEqualTo("rwx------");
            assertThat(mode(data.resolve("run/door.lock"))).isEqualTo("rw-------");
            try (var bound = bind(place.socket())) {
                place.bound();
                assertThat(bound.isOpen()).isTrue();
                assertThat(mode(place.socket())).isEqualTo("rw-------");
                assertThat(DoorPlace.find(data)).contains(place.socket());
            }
        }
        assertThat(DoorPlace.find(data)).isEmpty();
        assertThat(data.resolve("run/door.sock")).doesNotExist();
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS));
    }

    /** A data directory whose usual socket path has exactly so many bytes. */
    private Path ofSocketBytes(int bytes) throws IOException {
        int name = bytes - data.toString().length() - 1 - "/run/door.sock".length();
        return Files.createDirectory(data.resolve("d".repeat(name)));
    }

    @Test
    void path_ofTheLimitIsUsed_oneByteMoreIsNotedElsewhere() throws Exception {
        Path fits = ofSocketBytes(DoorPlace.PATH_BYTES_MAX);
        try (var place = DoorPlace.take(fits, elsewhere);
                var bound = bind(place.socket())) {
            assertThat(bound.isOpen()).isTrue();
            assertThat(place.socket()).isEqualTo(fits.resolve("run/door.sock"));
        }
        Path longer = ofSocketBytes(DoorPlace.PATH_BYTES_MAX + 1);
        Path socket;
        try (var place = DoorPlace.take(longer, elsewhere);
                var bound = bind(place.socket())) {
            assertThat(bound.isOpen()).isTrue();
            socket = place.socket();
            assertThat(socket.startsWith(elsewhere)).isTrue();
            assertThat(mode(socket.getParent())).isEqualTo("rwx------");
            assertThat(Files.readString(longer.resolve("run/door.path"))).isEqualTo(socket + "\n");
            assertThat(mode(longer.resolve("run/door.path"))).isEqualTo("rw-------");
            assertThat(DoorPlace.find(longer)).contains(socket);
        }
        assertThat(socket.getParent()).doesNotExist();
        assertThat(longer.resolve("run/door.path")).doesNotExist();
    }

    @Test
    void noShortPathAnywhere_isSaid() throws Exception {
        Path longer = ofSocketBytes(DoorPlace.PATH_BYTES_MAX + 1);
        Path farAway = Files.createDirectory(elsewhere.resolve("e".repeat(100)));
        assertThatThrownBy(() -> DoorPlace.take(longer, farAway))
                .isInstanceOf(HoldfastException.class)
                .hasMessageContaining("at most " + DoorPlace.PATH_BYTES_MAX + " bytes")
                .hasMessageContaining("TMPDIR");
        assertThat(farAway).isEmptyDirectory();
        try (var place = DoorPlace.take(longer, elsewhere)) { // nothing is held by the failure
            assertThat(place.socket()).isNotNull();
        }
    }

    @Test
    void whatADeadHostLeft_isRemoved() throws Exception {
        Path longer = ofSocketBytes(DoorPlace.PATH_BYTES_MAX + 1);
        Path left = Files.createTempDirectory(elsewhere, "holdfast-door-").resolve("door.sock");
        bind(left).close();
        run(longer);
        Files.writeString(longer.resolve("run/door.path"), left + "\n");
        try (var place = DoorPlace.take(longer, elsewhere)) {
            assertThat(place.socket()).isNotEqualTo(left);
            assertThat(left.getParent()).doesNotExist();
        }
        bind(run(data).resolve("door.sock")).close(); // closing leaves the file
        try (var place = DoorPlace.take(data, elsewhere)) {
            assertThat(place.socket()).doesNotExist();
        }
    }

    private static Path run(Path data) throws IOException {
        return Files.createDirectory(
                data.resolve("run"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }

    @Test
    void noteOfSomebodyElse_deletesNothing() throws Exception {
        Path precious = Files.createDirectory(elsewhere.resolve("precious"));
        Files.createFile(precious.resolve("door.sock"));
        Path shared = Files.createTempDirectory(elsewhere, "holdfast-door-");
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path run = run(data);
        for (String note : new String[] {
            precious.resolve("door.sock").toString(),
            shared.resolve("door.sock").toString(),
            "relative",
            "/",
            "",
            "x".repeat(10_000)
        }) {
            Files.writeString(run.resolve("door.path"), note + "\n");
            try (var place = DoorPlace.take(data, elsewhere)) {
                assertThat(place.socket()).isEqualTo(run.resolve("door.sock"));
            }
        }
        assertThat(precious.resolve("door.sock")).exists();
        assertThat(shared).exists();
    }

    @Test
    @Tag("LV-07")
    void secondHost_isRefusedWithTheFirstOnesPid() throws Exception {
        try (var first = DoorPlace.take(data, elsewhere)) {
            assertThat(first.socket()).isNotNull();
            assertThatThrownBy(() -> DoorPlace.take(data, elsewhere))
                    .hasMessageContaining(
                            "of process " + ProcessHandle.current().pid());
        }
    }

    @Test
    void links_areNeverFollowed() throws Exception {
        Path target = Files.createFile(elsewhere.resolve("target"));
        Path run = run(data);
        Files.createSymbolicLink(run.resolve("door.sock"), target);
        assertThatThrownBy(() -> DoorPlace.find(data)).hasMessageContaining("is not used");
        try (var place = DoorPlace.take(data, elsewhere)) { // a link in the socket's place goes as a link
            assertThat(Files.exists(place.socket(), LinkOption.NOFOLLOW_LINKS)).isFalse();
        }
        assertThat(target).exists();

        Files.delete(run.resolve("door.lock"));
        Files.createSymbolicLink(run.resolve("door.lock"), target);
        assertThatThrownBy(() -> DoorPlace.take(data, elsewhere)).isInstanceOf(HoldfastException.class);
        assertThat(target).isEmptyFile();

        Files.delete(run.resolve("door.lock"));
        Files.writeString(target, elsewhere.resolve("x/door.sock") + "\n", StandardCharsets.UTF_8);
        Files.createSymbolicLink(run.resolve("door.path"), target);
        assertThatThrownBy(() -> DoorPlace.find(data)).isInstanceOf(HoldfastException.class);

        Path linked = Files.createDirectory(temporary.resolve("linked"));
        Files.createSymbolicLink(linked.resolve("run"), elsewhere);
        assertThatThrownBy(() -> DoorPlace.take(linked, elsewhere)).hasMessageContaining("no link");
        assertThat(DoorPlace.find(linked)).isEmpty();
    }

    @Test
    void whatIsNoSocket_stays() throws Exception {
        Path file = Files.writeString(run(data).resolve("door.sock"), "mine");
        assertThatThrownBy(() -> DoorPlace.take(data, elsewhere)).hasMessageContaining("is no socket");
        assertThat(file).hasContent("mine");
        assertThatThrownBy(() -> DoorPlace.find(data)).hasMessageContaining("is not used");
    }

    @Test
    void directoryOpenToOthers_isRefusedWithTheMendingCommand() throws Exception {
        Path run = run(data);
        for (String loose : new String[] {"rwx--x---", "rwxr-xr-x", "rwx---rwx"}) {
            Files.setPosixFilePermissions(run, PosixFilePermissions.fromString(loose));
            assertThatThrownBy(() -> DoorPlace.take(data, elsewhere)).hasMessageContaining("chmod 700 " + run);
        }
        Files.setPosixFilePermissions(run, PosixFilePermissions.fromString("rwx------"));
        bind(run.resolve("door.sock")).close();
        Files.setPosixFilePermissions(run, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertThatThrownBy(() -> DoorPlace.find(data)).hasMessageContaining("mode 700");
    }

    @Test
    void nothingThere_isNothingFound() {
        assertThat(DoorPlace.find(data)).isEmpty();
        assertThat(DoorPlace.find(data.resolve("none"))).isEmpty();
        assertThatThrownBy(() -> DoorPlace.take(data.resolve("none"), elsewhere))
                .isInstanceOf(HoldfastException.class);
    }

    @Test
    void sameUser_admitsItsUserAlone() throws Exception {
        UserPrincipal me = Files.getOwner(data);
        UserPrincipal other = () -> "other";
        assertThat(new SameUser(me).admits(me)).isTrue();
        assertThat(new SameUser(me).admits(Files.getOwner(elsewhere))).isTrue();
        assertThat(new SameUser(me).admits(other)).isFalse();
        assertThat(new SameUser(other).admits(me)).isFalse();
    }
}
