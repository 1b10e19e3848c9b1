package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Message;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every limit of a door, at its edge. */
@Timeout(60)
final class DoorLimitsTest {
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofSeconds(30);

    @TempDir
    Path data;

    private Hosting hosting(DoorLimits limits) throws Exception {
        var hosting = new Hosting(data, limits);
        hosting.journal
                .open(new SessionName("a"), SessionLimits.standard())
                .toCompletableFuture()
                .get();
        return hosting;
    }

    private static DoorLimits limits() {
        return new DoorLimits(8, 128, 256, Routes.DOCUMENT_MAX, LONG, LONG, LONG, LONG);
    }

    private static String line(int bytes) {
        String frame = "GET /v1/host?x= HTTP/1.1";
        return "GET /v1/host?x=" + "y".repeat(bytes - frame.length()) + " HTTP/1.1\r\n";
    }

    @Test
    void firstLine_upToItsLimitIsRead_beyondItIsRefused() throws Exception {
        try (var hosting = hosting(limits())) {
            try (var caller = hosting.caller()) {
                caller.say(line(127) + "Host: h\r\n\r\n");
                assertThat(caller.hear().status()).isEqualTo(200);
            }
            try (var caller = hosting.caller()) {
                caller.say(line(129) + "Host: h\r\n\r\n");
                var heard = caller.hear();
                assertThat(heard.status()).isEqualTo(414);
                assertThat(heard.json().path("problem").asString()).isEqualTo("line_too_long");
                assertThat(caller.closed()).isTrue();
            }
            try (var caller = hosting.caller()) {
                caller.say("G".repeat(10_000)); // never a line end
                assertThat(caller.hear().status()).isEqualTo(414);
            }
        }
    }

    @Test
    void headers_upToTheirLimitAreRead_beyondItAreRefused() throws Exception {
        try (var hosting = hosting(limits())) {
            try (var caller = hosting.caller()) {
                caller.say("GET /v1/host HTTP/1.1\r\nHost: h\r\nX: " + "x".repeat(200) + "\r\n\r\n");
                assertThat(caller.hear().status()).isEqualTo(200);
            }
            for (String headers :
                    new String[] {"X: " + "x".repeat(300) + "\r\n", "X: y\r\n".repeat(60), "X".repeat(5_000)}) {
                try (var caller = hosting.caller()) {
                    caller.say("GET /v1/host HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
                    var heard = caller.hear();
                    assertThat(heard.status()).isBetween(400, 431);
                    assertThat(heard.headers()).containsEntry("content-type", Answer.PROBLEM);
                    assertThat(caller.closed()).isTrue();
                }
            }
        }
    }

    @Test
    void body_upToTheLimitOfItsRouteIsRead_beyondItIsRefusedUnread() throws Exception {
        try (var hosting = hosting(DoorLimits.standard())) {
            String shell = "{\"text\":\"\"}";
            int whole = (int) Routes.MESSAGE_MAX - shell.length();
            try (var caller = hosting.caller()) {
                // All escapes: twice the longest text, which is what the limit allows for.
                String text = "\\n".repeat(Message.TEXT_BYTES_MAX / 2 - 64);
                var heard = caller.post("/v1/sessions/a/messages", "{\"text\":\"" + text + "\"}");
                assertThat(heard.status())
                        .as(new String(heard.body(), StandardCharsets.UTF_8))
                        .isEqualTo(202);
                var longer = caller.post("/v1/sessions/a/messages", "{\"text\":\"" + "x".repeat(whole) + "\"}");
                assertThat(longer.status()).isEqualTo(400); // the body is taken, the text is too long
                assertThat(longer.detail()).contains("beyond what is read");
            }
            for (var beyond : new String[][] {
                {"/v1/sessions/a/messages", Long.toString(Routes.MESSAGE_MAX + 1)},
                {"/v1/sessions/a/cancel", Long.toString(Routes.ORDER_MAX + 1)},
                {"/v1/sessions", Long.toString(Routes.DOCUMENT_MAX + 1)},
                {"/v1/sessions/a/cancel", "99999999999"},
            }) {
                try (var caller = hosting.caller()) {
                    caller.say("POST " + beyond[0] + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                            + "Content-Length: " + beyond[1] + "\r\n\r\n");
                    var heard = caller.hear();
                    assertThat(heard.status()).as(beyond[0]).isEqualTo(413);
                    assertThat(heard.json().path("problem").asString()).isEqualTo("too_large");
                    assertThat(caller.closed()).isTrue();
                }
            }
        }
    }

    @Test
    void longestText_isAccepted_andOneByteMoreIsNot() throws Exception {
        try (var hosting = hosting(DoorLimits.standard());
                var caller = hosting.caller()) {
            String longest = "x".repeat(Message.TEXT_BYTES_MAX);
            assertThat(caller.post("/v1/sessions/a/messages", "{\"text\":\"" + longest + "\"}")
                            .status())
                    .isEqualTo(202);
            assertThat(caller.post("/v1/sessions/a/messages", "{\"text\":\"" + longest + "x\"}")
                            .status())
                    .isEqualTo(400);
            var wide = caller.post(
                    "/v1/sessions/a/messages", "{\"text\":\"" + "ü".repeat(Message.TEXT_BYTES_MAX / 2 + 1) + "\"}");
            assertThat(wide.status()).isEqualTo(400);
            assertThat(wide.detail()).contains("at most " + Message.TEXT_BYTES_MAX);
        }
    }

    @Test
    void bodyWithoutLengthOrCompressed_isRefused() throws Exception {
        try (var hosting = hosting(DoorLimits.standard())) {
            for (String header :
                    new String[] {"Transfer-Encoding: chunked", "Content-Encoding: gzip\r\nContent-Length: 2"}) {
                try (var caller = hosting.caller()) {
                    caller.say("POST /v1/sessions/a/messages HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                            + header + "\r\n\r\n");
                    assertThat(caller.hear().status()).isBetween(400, 411);
                    assertThat(caller.closed()).isTrue();
                }
            }
            try (var caller = hosting.caller()) {
                caller.say("POST /v1/sessions/a/pause HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\n{}");
                assertThat(caller.hear().status()).isEqualTo(400); // two lengths are how requests are smuggled
            }
            for (String type : new String[] {"text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
                try (var caller = hosting.caller()) {
                    var form = caller.post(
                            "/v1/sessions/a/messages", type, "{\"text\":\"x\"}".getBytes(StandardCharsets.UTF_8));
                    assertThat(form.status()).as(type).isEqualTo(415);
                }
            }
        }
    }

    @Test
    @Tag("P4")
    void slowRequest_isCutOff_inEveryOfItsParts() throws Exception {
        var slow = new DoorLimits(8, 1024, 1024, 1024, SHORT, SHORT, LONG, SHORT);
        try (var hosting = hosting(slow)) {
            for (String part : new String[] {
                "", // nothing at all
                "GET /v1/ho", // half of a first line
                "GET /v1/host HTTP/1.1\r\nHost: h\r\nX: y", // half of the headers
                "POST /v1/sessions/a/pause HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                        + "Content-Length: 20\r\n\r\n{\"rea" // half of a body
            }) {
                try (var caller = hosting.caller()) {
                    caller.say(part);
                    assertThat(caller.closed()).as(part).isTrue();
                }
                try (var caller = hosting.caller()) { // and when a byte comes now and then
                    caller.say(part.isEmpty() ? "G" : part);
                    await().pollInterval(Duration.ofMillis(50)).until(() -> !says(caller));
                }
            }
        }
    }

    private static boolean says(Caller caller) {
        try {
            caller.say("x");
            return true;
        } catch (IOException closed) {
            return false;
        }
    }

    @Test
    @Tag("P4")
    void callerThatTakesNoAnswer_isCutOff() throws Exception {
        var slow = new DoorLimits(8, 1024, 1024, Routes.DOCUMENT_MAX, LONG, LONG, SHORT, LONG);
        try (var hosting = hosting(slow);
                var caller = hosting.caller()) {
            var big = Message.of("x".repeat(Message.TEXT_BYTES_MAX));
            hosting.host.mail(new SessionName("a")).send(big);
            caller.say("GET /v1/sessions/a/export HTTP/1.1\r\nHost: h\r\n\r\n"); // and never reads
            await().pollInterval(Duration.ofMillis(50)).atMost(LONG).until(() -> !says(caller));
        }
    }

    @Test
    void connections_beyondTheLimitWaitUntilOneIsClosed() throws Exception {
        try (var hosting = hosting(limits())) {
            var open = new ArrayList<Caller>();
            for (int i = 0; i < 8; i++) {
                open.add(hosting.caller());
                assertThat(open.getLast().get("/v1/host").status()).isEqualTo(200);
            }
            try (var next = hosting.caller()) {
                next.say("GET /v1/host HTTP/1.1\r\nHost: h\r\n\r\n");
                assertThat(open.getFirst().get("/v1/host").status()).isEqualTo(200); // the others are served on
                open.getLast().close();
                assertThat(next.hear().status()).isEqualTo(200);
            }
            for (var caller : open) {
                caller.close();
            }
            try (var last = hosting.caller()) {
                assertThat(last.get("/v1/host").status()).isEqualTo(200);
            }
        }
    }

    @Test
    void oldAndBrokenRequests_areRefused() throws Exception {
        try (var hosting = hosting(DoorLimits.standard())) {
            for (String request : new String[] {
                "GET /v1/host HTTP/1.0\r\n\r\n",
                "GET /v1/host HTTP/1.1\r\n\r\n", // no Host
                "GET /v1/host\r\n\r\n",
                "\u0016\u0003\u0001\u0002\r\n\r\n",
                "GET /v1/%zz HTTP/1.1\r\nHost: h\r\n\r\n",
                "GET /v1/host HTTP/1.1\r\nHost: h\r\nBad Header\r\n\r\n",
                "POST /v1/sessions/a/pause HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
                "POST /v1/sessions/a/pause HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"
            }) {
                try (var caller = hosting.caller()) {
                    caller.say(request);
                    try {
                        var heard = caller.hear();
                        assertThat(heard.status()).as(request).isIn(400, 404, 505);
                        assertThat(new String(heard.body(), StandardCharsets.UTF_8))
                                .doesNotContain("Exception", "\tat ");
                    } catch (IOException closed) {
                        assertThat(caller.closed()).isTrue();
                    }
                }
            }
            try (var caller = hosting.caller()) {
                assertThat(caller.get("/v1/host").status()).isEqualTo(200);
            }
        }
    }
}
