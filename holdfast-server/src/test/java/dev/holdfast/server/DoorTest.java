package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The API over a real unix socket, on a real host with agents that are child processes. */
final class DoorTest {
    @TempDir
    Path data;

    @Test
    void socket_whileAHostRuns_isOfItsUserAlone() throws Exception {
        Path socket;
        try (var hosting = new Hosting(data)) {
            socket = hosting.door.socket();
            assertThat(socket).isEqualTo(data.toRealPath().resolve("run/door.sock"));
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)))
                    .isEqualTo("rw-------");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(socket.getParent())))
                    .isEqualTo("rwx------");
            assertThat(Door.find(data)).contains(socket);
        }
        assertThat(Files.exists(socket, LinkOption.NOFOLLOW_LINKS)).isFalse();
        assertThat(Door.find(data)).isEmpty();
    }

    @Test
    void message_toAHeldSession_isAcceptedAndAnswered() throws Exception {
        try (var hosting = new Hosting(data);
                var caller = hosting.caller()) {
            hosting.session("a");
            var accepted = caller.post("/v1/sessions/a/messages", "{\"text\":\"hello\",\"key\":\"k\"}");
            assertThat(accepted.status()).as(accepted.json().toString()).isEqualTo(202);
            assertThat(accepted.json().path("message").asLong()).isEqualTo(1);
            assertThat(accepted.json().path("held").asBoolean()).isTrue();
            var again = caller.post("/v1/sessions/a/messages", "{\"text\":\"hello\"}", "Idempotency-Key: \"k\"");
            assertThat(again.json().path("duplicate").asBoolean()).isTrue();
            var reply = caller.get("/v1/sessions/a/messages/1/reply?wait=30");
            assertThat(reply.json().path("text").asString()).isEqualTo("echo: hello");
        }
    }
}
