package dev.holdfast.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.Address;
import dev.holdfast.AddressTerms;
import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.Gate;
import dev.holdfast.testkit.ScriptedAgent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** The API over a real unix socket, on a real host with agents that are child processes. */
final class DoorTest {
    private static final String A = "/v1/sessions/a";
    private static final Author USER = new Author("user", "api");

    @TempDir
    Path data;

    private Hosting hosting;
    private Caller caller;

    @BeforeEach
    void open() throws Exception {
        var limits = Limits.standard().withRestartDelays(List.of(Duration.ofMillis(10), Duration.ofMillis(10)));
        var options = Options.standard().limits(limits).unread(new SessionLimits(4, 1 << 20));
        hosting = new Hosting(data, DoorLimits.standard(), options);
        caller = hosting.caller();
    }

    @AfterEach
    void close() throws Exception {
        caller.close();
        hosting.close();
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private JsonNode post(int status, String target, String json) throws Exception {
        var heard = caller.post(target, json);
        assertThat(heard.status()).as("%s %s: %s", target, json, heard.json()).isEqualTo(status);
        return heard.json();
    }

    private JsonNode get(int status, String target) throws Exception {
        var heard = caller.get(target);
        assertThat(heard.status()).as("%s: %s", target, heard.json()).isEqualTo(status);
        return heard.json();
    }

    /** A session whose agent waits at a gate in every turn whose text names one. */
    private Gate gated(String name) throws Exception {
        Path gates = Files.createDirectories(data.resolve("gates"));
        var script = ScriptedAgent.worst().gates(gates);
        hosting.session(name, script);
        return script.gate("g");
    }

    private void inTurn(Gate gate) throws Exception {
        assertThat(gate.awaitReached(Duration.ofSeconds(30))).isTrue();
    }

    private JsonNode reply(String session, long number) throws Exception {
        return get(200, "/v1/sessions/" + session + "/messages/" + number + "/reply?wait=30");
    }

    @Test
    void message_isAcceptedOnceUnderItsKeyAndAnswered() throws Exception {
        hosting.session("a");
        var accepted = post(202, A + "/messages", "{\"text\":\"hello\",\"key\":\"k\",\"author\":\"Ann\"}");
        assertThat(accepted.path("message").asLong()).isEqualTo(1);
        assertThat(accepted.path("held").asBoolean()).isTrue();
        assertThat(accepted.path("duplicate").asBoolean()).isFalse();
        for (String key : new String[] {"k", "\"k\""}) {
            var again =
                    caller.post(A + "/messages", "{\"text\":\"hello\",\"author\":\"Ann\"}", "Idempotency-Key: " + key);
            assertThat(again.json().path("duplicate").asBoolean()).isTrue();
            assertThat(again.json().path("id")).isEqualTo(accepted.path("id"));
        }
        assertThat(reply("a", 1).path("text").asString()).isEqualTo("echo: hello");
        assertThat(get(404, A + "/messages/2/reply").path("problem").asString()).isEqualTo("no_such_message");
        var both = caller.post(A + "/messages", "{\"text\":\"x\",\"key\":\"k\"}", "Idempotency-Key: other");
        assertThat(both.status()).isEqualTo(400);
    }

    @Test
    void sessions_areListedInPagesAndShown() throws Exception {
        for (String name : List.of("a", "b", "c")) {
            hosting.session(name);
        }
        var first = get(200, "/v1/sessions?limit=2");
        assertThat(first.path("sessions").size()).isEqualTo(2);
        assertThat(first.path("next").asString()).isEqualTo("b");
        var rest = get(200, "/v1/sessions?limit=2&after=b");
        assertThat(rest.path("sessions").size()).isEqualTo(1);
        assertThat(rest.has("next")).isFalse();
        assertThat(rest.path("sessions").get(0).path("session").asString()).isEqualTo("c");
        var shown = get(200, "/v1/sessions/b");
        assertThat(shown.path("phase").asString()).isEqualTo("OPEN");
        assertThat(shown.path("process").asString()).isEqualTo("asleep");
        assertThat(shown.path("held").asBoolean()).isTrue();
        assertThat(get(200, "/v1/host").path("pid").asLong())
                .isEqualTo(ProcessHandle.current().pid());
    }

    /** Every refusal that a sender can meet: what Java says is what HTTP says, word for word. */
    @Test
    void refusal_saysOverHttpWhatItSaysInJava() throws Exception {
        var gate = gated("a");
        var session = hosting.host.open(new SessionName("a")).orElseThrow();
        get(session.sendAsync(Message.of("one").key("k").author(USER)));
        refused(409, A, "{\"text\":\"two\",\"key\":\"k\"}", Message.of("two").key("k"));
        get(session.sendAsync(Message.of("[[gate g]]")));
        inTurn(gate);
        refused(
                409,
                A,
                "{\"text\":\"now\",\"policy\":\"refuse-if-busy\"}",
                Message.of("now").policy(DeliveryPolicy.REFUSE_IF_BUSY));
        for (int i = 0; i < 4; i++) {
            get(session.sendAsync(Message.of("fill " + i)));
        }
        refused(429, A, "{\"text\":\"over\"}", Message.of("over"));
        gate.open();
        session.close("it is over");
        await().until(() -> session.status().phase().equals("CLOSED"));
        refused(409, A, "{\"text\":\"late\"}", Message.of("late"));

        var unknown = new Receipt.UnknownSession(new SessionName("nobody"));
        var heard = post(404, "/v1/sessions/nobody/messages", "{\"text\":\"x\"}");
        assertThat(heard.path("detail").asString()).isEqualTo(unknown.message());
        assertThat(heard.path("problem").asString()).isEqualTo(unknown.problem());
        var released = new Receipt.Released("gone");
        heard = post(410, "/v1/addresses/gone", "{\"text\":\"x\"}");
        assertThat(heard.path("detail").asString()).isEqualTo(released.message());
    }

    private void refused(int status, String session, String json, Message message) throws Exception {
        var java = get(hosting.host.open(new SessionName("a")).orElseThrow().sendAsync(message.author(USER)));
        assertThat(java).isInstanceOf(Receipt.Refusal.class);
        var refusal = (Receipt.Refusal) java;
        var heard = caller.post(session + "/messages", json);
        assertThat(heard.status()).as(heard.json().toString()).isEqualTo(status);
        assertThat(heard.headers()).containsEntry("content-type", Answer.PROBLEM);
        assertThat(heard.detail()).isEqualTo(refusal.message());
        assertThat(heard.json().path("problem").asString()).isEqualTo(refusal.problem());
        assertThat(heard.json().path("type").asString()).isEqualTo("urn:holdfast:problem:" + refusal.problem());
        assertThat(heard.json().path("status").asInt()).isEqualTo(status);
    }

    @Test
    void interruptAndCancel_sayWhatTheyDid() throws Exception {
        var gate = gated("a");
        post(202, A + "/messages", "{\"text\":\"[[gate g]]\"}");
        inTurn(gate);
        post(202, A + "/messages", "{\"text\":\"second\"}");
        post(202, A + "/messages", "{\"text\":\"third\"}");
        assertThat(post(202, A + "/cancel", "{\"message\":2}").path("done").asString())
                .isEqualTo("message 2 taken out of the queue");
        assertThat(reply("a", 2).path("outcome").asString()).isEqualTo("CANCELLED");
        assertThat(post(202, A + "/cancel", "{\"turn\":7}").path("done").asString())
                .isEqualTo("there is no turn 7");
        assertThat(post(202, A + "/interrupt", "{}").path("done").asString()).isEqualTo("turn 1 is being ended");
        assertThat(reply("a", 1).path("outcome").asString()).isEqualTo("CANCELLED");
        assertThat(reply("a", 3).path("text").asString()).isEqualTo("echo: third");
        assertThat(post(404, A + "/cancel", "{\"message\":99}").path("problem").asString())
                .isEqualTo("no_such_message");
        var both = post(400, A + "/cancel", "{\"turn\":1,\"message\":2}");
        assertThat(both.path("detail").asString()).contains("a turn or a message, not both");
        var keyed = caller.post(A + "/cancel", "{}", "Idempotency-Key: c1");
        var again = caller.post(A + "/cancel", "{}", "Idempotency-Key: c1");
        assertThat(again.json().path("number")).isEqualTo(keyed.json().path("number"));
        assertThat(again.json().path("duplicate").asBoolean()).isTrue();
    }

    @Test
    @Tag("MB-21")
    void withdraw_saysWhoWon() throws Exception {
        var gate = gated("a");
        post(202, A + "/messages", "{\"text\":\"[[gate g]]\"}");
        inTurn(gate);
        post(202, A + "/messages", "{\"text\":\"second\"}");
        assertThat(post(200, A + "/withdraw", "{\"message\":2}")
                        .path("withdrawn")
                        .asBoolean())
                .isTrue();
        assertThat(reply("a", 2).path("outcome").asString()).isEqualTo("WITHDRAWN");
        assertThat(post(409, A + "/withdraw", "{\"message\":1}").path("problem").asString())
                .isEqualTo("too_late");
        assertThat(post(404, A + "/withdraw", "{\"message\":99}")
                        .path("problem")
                        .asString())
                .isEqualTo("no_such_message");
        gate.open();
    }

    @Test
    void pauseDrainResume_holdMailAndLetItGo() throws Exception {
        var gate = gated("a");
        assertThat(post(202, A + "/pause", "{\"reason\":\"lunch\"}")
                        .path("done")
                        .asString())
                .isEqualTo("pausing");
        assertThat(get(200, A).path("phase").asString()).isEqualTo("PAUSED");
        assertThat(get(200, A).path("phase_reason").asString()).isEqualTo("lunch");
        post(202, A + "/messages", "{\"text\":\"[[gate g]]\"}");
        assertThat(get(202, A + "/messages/2/reply").path("pending").asBoolean())
                .isTrue();
        assertThat(post(202, A + "/resume", "{}").path("done").asString()).isEqualTo("resumed");
        assertThat(post(202, A + "/resume", "").path("done").asString()).isEqualTo("nothing to resume");
        inTurn(gate);
        var late = post(200, A + "/drain", "{\"seconds\":0}");
        assertThat(late.path("open_turn").asLong()).isEqualTo(1);
        post(202, A + "/resume", "{}");
        try (var other = hosting.caller()) {
            other.say("POST " + A + "/drain HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
                    + "Content-Length: 14\r\n\r\n{\"seconds\":60}");
            await().until(() -> get(200, A).path("phase").asString().equals("DRAINING"));
            gate.open();
            var drained = other.hear().json();
            assertThat(drained.path("drained").asBoolean()).isTrue();
            assertThat(drained.has("open_turn")).isFalse();
        }
        assertThat(post(400, A + "/drain", "{\"seconds\":3601}").path("problem").asString())
                .isEqualTo("invalid");
    }

    @Test
    void finishAndClose_endTheSessionWithTheirReason() throws Exception {
        hosting.session("a");
        hosting.session("b");
        assertThat(post(202, A + "/finish", "{\"reason\":\"done\"}")
                        .path("done")
                        .asString())
                .isEqualTo("finishing");
        await().until(() -> get(200, A).path("phase").asString().equals("CLOSED"));
        assertThat(post(409, A + "/messages", "{\"text\":\"x\"}").path("detail").asString())
                .contains("done");
        assertThat(post(202, "/v1/sessions/b/close", "{\"reason\":\"token-budget\"}")
                        .path("done")
                        .asString())
                .isEqualTo("pausing");
        assertThat(post(202, "/v1/sessions/b/close", "{\"reason\":\"enough\"}")
                        .path("done")
                        .asString())
                .isEqualTo("closing");
        assertThat(get(200, "/v1/sessions/b").path("phase").asString()).isEqualTo("CLOSED");
    }

    @Test
    void resetAndClear_dropTheMemoryInTheirPlace() throws Exception {
        hosting.session("a");
        post(202, A + "/messages", "{\"text\":\"one\"}");
        reply("a", 1);
        assertThat(post(202, A + "/reset", "{}").path("done").asString()).isEqualTo("the agent's memory was dropped");
        post(202, A + "/messages", "{\"text\":\"two\"}");
        reply("a", 3);
        assertThat(post(202, A + "/clear", "{\"author\":\"Ann\"}")
                        .path("number")
                        .asLong())
                .isEqualTo(4);
        await().until(() -> hosting.journal.events(new SessionName("a"), 0, 500).toCompletableFuture().get().stream()
                        .filter(e -> e.event().type().equals("MemoryDropped"))
                        .count()
                == 2);
    }

    @Test
    @Tag("IN-14")
    void answer_reachesTheQuestionThatIsOpen() throws Exception {
        var session = hosting.session("a");
        assertThat(post(202, A + "/answers", "{\"question\":\"q1\",\"text\":\"early\"}")
                        .path("done")
                        .asString())
                .isEqualTo("no such question is open");
        var answer = session.question("q1", "May I?", Duration.ofMinutes(1));
        await().until(() -> hosting.journal.events(new SessionName("a"), 0, 500).toCompletableFuture().get().stream()
                .anyMatch(e -> e.event().type().equals("QuestionAsked")));
        assertThat(post(202, A + "/answers", "{\"question\":\"q1\",\"text\":\"yes\"}")
                        .path("done")
                        .asString())
                .isEqualTo("answered");
        assertThat(get(answer)).contains("yes");
    }

    @Test
    @Tag("IN-02")
    void address_takesWhatItWasClaimedForAndNoOrders() throws Exception {
        var session = hosting.session("a");
        Address webhook = get(session.addresses().claim("web/hook?1"));
        get(session.addresses().claim("callback", AddressTerms.authorization()));
        var delivered = post(202, "/v1/addresses/web%2Fhook%3F1", "{\"text\":\"paid\",\"surface\":\"webhook\"}");
        assertThat(delivered.path("session").asString()).isEqualTo("a");
        assertThat(reply("a", delivered.path("message").asLong()).path("text").asString())
                .isEqualTo("echo: paid");
        assertThat(webhook.token()).isEqualTo("web/hook?1");
        post(202, "/v1/addresses/callback", "{\"text\":\"code=7\",\"subject\":\"attempt-1\"}");
        assertThat(post(410, "/v1/addresses/callback", "{\"text\":\"code=8\"}")
                        .path("problem")
                        .asString())
                .isEqualTo("released");
        assertThat(post(400, "/v1/addresses/web%2Fhook%3F1", "{\"kind\":\"reset\",\"text\":\"x\"}")
                        .path("problem")
                        .asString())
                .isEqualTo("malformed");
    }

    @Test
    @Tag("MB-20")
    void deadLetter_isListedAndSentAgain() throws Exception {
        Path scenario = Files.writeString(data.resolve("scenario"), "any: [[crash]]\n");
        hosting.session("a", ScriptedAgent.worst().scenario(scenario));
        post(202, A + "/messages", "{\"text\":\"poison\"}");
        assertThat(reply("a", 1).path("outcome").asString()).isEqualTo("DEAD_LETTER");
        var letters = get(200, A + "/dead-letters").path("dead_letters");
        assertThat(letters.size()).isEqualTo(1);
        assertThat(letters.get(0).path("message").asLong()).isEqualTo(1);
        var again = post(202, A + "/dead-letters/1/resend", "{}");
        assertThat(again.path("message").asLong()).isEqualTo(2);
        assertThat(post(409, A + "/dead-letters/9/resend", "{}").path("detail").asString())
                .contains("no message 9");
    }

    @Test
    @Tag("MB-22")
    void exportedSession_isImportedUnderAFreeName() throws Exception {
        hosting.session("a");
        post(202, A + "/messages", "{\"text\":\"hello\"}");
        reply("a", 1);
        var document = caller.get(A + "/export");
        assertThat(document.status()).isEqualTo(200);
        assertThat(document.headers()).containsEntry("content-type", Answer.DOCUMENT);
        var taken = caller.post("/v1/sessions", Answer.DOCUMENT, document.body());
        assertThat(taken.detail()).contains("'a' exists");
        var stored = caller.post("/v1/sessions?as=copy", Answer.DOCUMENT, document.body());
        assertThat(stored.status()).isEqualTo(201);
        assertThat(reply("copy", 1).path("text").asString()).isEqualTo("echo: hello");
        byte[] damaged = document.body().clone();
        damaged[damaged.length - 5] ^= 1;
        var refused = caller.post("/v1/sessions?as=broken", Answer.DOCUMENT, damaged);
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.detail()).contains("Nothing was stored");
        assertThat(get(404, "/v1/sessions/broken").path("problem").asString()).isEqualTo("unknown_session");
        var json = caller.post("/v1/sessions?as=json", "{}");
        assertThat(json.status()).isEqualTo(415);
    }

    /** A session of this store that nobody has taken up here: its mail is kept, and orders are acted on. */
    @Test
    @Tag("P1")
    void sessionNobodyHolds_acceptsMailAndOrders() throws Exception {
        get(hosting.journal.open(new SessionName("a"), SessionLimits.standard()));
        var accepted = post(202, A + "/messages", "{\"text\":\"later\"}");
        assertThat(accepted.path("held").asBoolean()).isFalse();
        var pending = get(202, A + "/messages/1/reply?wait=0");
        assertThat(pending.path("held").asBoolean()).isFalse();
        assertThat(post(202, A + "/pause", "{}").path("done").asString()).isEqualTo("pausing");
        assertThat(post(202, A + "/resume", "{}").path("done").asString()).isEqualTo("resumed");
        post(202, A + "/messages", "{\"text\":\"and this\"}");
        assertThat(post(200, A + "/withdraw", "{\"message\":4}")
                        .path("withdrawn")
                        .asBoolean())
                .isTrue();
        assertThat(post(200, A + "/drain", "{\"seconds\":5}").path("queue").asLong())
                .isEqualTo(1);
        hosting.session("a");
        assertThat(reply("a", 1).path("text").asString()).isEqualTo("echo: later");
    }

    @Test
    @Tag("IN-03")
    void brokenBody_isRefusedWithWhatIsWrong() throws Exception {
        hosting.session("a");
        String deep = "[".repeat(100_000);
        record Broken(String json, String says) {}
        for (var broken : List.of(
                new Broken("", "no 'text'"),
                new Broken("{}", "no 'text'"),
                new Broken("[]", "not a JSON object"),
                new Broken("{\"text\":\"x\"", "no JSON"),
                new Broken("{\"text\":\"x\"} {}", "goes on behind"),
                new Broken("{\"text\":\"x\",\"text\":\"y\"}", "no JSON"),
                new Broken("{\"text\":1}", "is a number"),
                new Broken("{\"text\":[\"x\"]}", "neither a text nor a whole number"),
                new Broken("{\"text\":{\"a\":1}}", "neither a text nor a whole number"),
                new Broken("{\"text\":\"x\",\"more\":1}", "'more'"),
                new Broken("{\"text\":" + deep, "neither a text nor a whole number"),
                new Broken("{\"text\":\"x\",\"" + "n".repeat(70) + "\":1}", "beyond what is read"),
                new Broken("{\"text\":\"x\",\"policy\":\"sometime\"}", "next, steer, after-idle, replace"),
                new Broken("{\"text\":\"x\",\"author\":\"a\\nb\"}", "author"),
                new Broken("{\"text\":\"x\",\"key\":\"\"}", "1 to 256 characters"),
                new Broken("{\"text\":\"\"}", "without text"))) {
            var heard = caller.post(A + "/messages", broken.json());
            assertThat(heard.status()).as(broken.json()).isEqualTo(400);
            assertThat(heard.detail()).contains(broken.says()).doesNotContain("Exception", "dev.holdfast");
        }
        var latin = caller.post(
                A + "/messages", "application/json", "{\"text\":\"\u00fc\"}".getBytes(StandardCharsets.ISO_8859_1));
        assertThat(latin.status()).isEqualTo(400);
        assertThat(get(200, A).path("queue").asLong()).isZero();
    }

    @Test
    void strangePath_isAnsweredAndLeadsNowhere() throws Exception {
        hosting.session("a");
        for (String target : List.of(
                "/",
                "/v1",
                "/v1/sessions/",
                "/v1/sessions/a/",
                "/v1/sessions/a/nothing",
                "/v1//sessions",
                "/v2/sessions",
                "/v1/sessions/a/messages/1",
                "/v1/sessions/../../etc/passwd")) {
            assertThat(caller.get(target).status()).as(target).isIn(400, 404);
        }
        for (String name : List.of("..", "%2e%2e", "a%2fb", "a%00", "a%20b", "%C3%BC", "a".repeat(129))) {
            var heard = caller.get("/v1/sessions/" + name);
            assertThat(heard.status()).as(name).isIn(400, 404);
            assertThat(heard.headers().get("content-type")).isEqualTo(Answer.PROBLEM);
        }
        var wrong = caller.get(A + "/cancel");
        assertThat(wrong.status()).isEqualTo(405);
        assertThat(wrong.headers()).containsEntry("allow", "POST");
        for (String query : List.of("limit=0", "limit=501", "limit=x", "after=a/b")) {
            assertThat(caller.get("/v1/sessions?" + query).status()).as(query).isEqualTo(400);
        }
        assertThat(caller.get(A + "/messages/0/reply").status()).isEqualTo(400);
        assertThat(caller.get(A + "/messages/1/reply?wait=61").status()).isIn(400);
    }

    /** The table itself: a route that is added is added here, with a test. */
    @Test
    void routes_areThese() {
        assertThat(hosting.api.routes())
                .containsExactlyInAnyOrder(
                        "GET /v1/host",
                        "GET /v1/sessions",
                        "POST /v1/sessions",
                        "GET /v1/sessions/{name}",
                        "GET /v1/sessions/{name}/export",
                        "POST /v1/sessions/{name}/messages",
                        "GET /v1/sessions/{name}/messages/{number}/reply",
                        "POST /v1/sessions/{name}/cancel",
                        "POST /v1/sessions/{name}/interrupt",
                        "POST /v1/sessions/{name}/withdraw",
                        "POST /v1/sessions/{name}/pause",
                        "POST /v1/sessions/{name}/resume",
                        "POST /v1/sessions/{name}/drain",
                        "POST /v1/sessions/{name}/finish",
                        "POST /v1/sessions/{name}/close",
                        "POST /v1/sessions/{name}/reset",
                        "POST /v1/sessions/{name}/clear",
                        "POST /v1/sessions/{name}/answers",
                        "GET /v1/sessions/{name}/questions",
                        "GET /v1/sessions/{name}/audit",
                        "GET /v1/sessions/{name}/transcript",
                        "POST /v1/sessions/{name}/regenerate",
                        "POST /v1/sessions/{name}/cut",
                        "POST /v1/sessions/{name}/fork",
                        "GET /v1/sessions/{name}/dead-letters",
                        "POST /v1/sessions/{name}/dead-letters/{number}/resend",
                        "POST /v1/addresses/{token}");
    }

    @Test
    @Tag("P4")
    void waitingCaller_isAnsweredWhenTheHostStops() throws Exception {
        var gate = gated("a");
        post(202, A + "/messages", "{\"text\":\"[[gate g]]\"}");
        inTurn(gate);
        caller.say("GET " + A + "/messages/1/reply?wait=60 HTTP/1.1\r\nHost: h\r\n\r\n");
        await().until(() -> hosting.host.processes() == 1);
        hosting.close();
        var heard = caller.hear();
        assertThat(heard.status()).isEqualTo(503);
        assertThat(heard.json().path("problem").asString()).isEqualTo("stopping");
    }

    @Test
    void directCall_answersAsTheDoorDoes() throws Exception {
        hosting.session("a");
        var direct = hosting.api.answer(
                Call.post(java.util.Map.of("text", "x", "policy", "sometime"), "sessions", "a", "messages"));
        var overDoor = caller.post(A + "/messages", "{\"text\":\"x\",\"policy\":\"sometime\"}");
        assertThat(direct.status()).isEqualTo(overDoor.status());
        assertThat(direct.body()).isEqualTo(overDoor.body());
        assertThat(hosting.api
                        .answer(Call.get("sessions", "a").asking("x", "ü&="))
                        .status())
                .isEqualTo(200);
        assertThat(Call.get("addresses", "a/b c").asking("q", "ü").target())
                .isEqualTo("/v1/addresses/a%2Fb%20c?q=%C3%BC");
    }

    @Test
    void policy_ofEveryName_isRead() {
        assertThat(java.util.Arrays.stream(DeliveryPolicy.values())
                        .map(p -> Routes.policy(
                                p.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-'))))
                .containsExactly(DeliveryPolicy.values());
    }

    /** Only root can play another user; elsewhere the comparison itself is tested in DoorPlaceTest. */
    @Test
    void peerOfAnotherUser_isTurnedAway_alsoWhenSomebodyLoosenedTheModes(@TempDir Path open) throws Exception {
        if (!Files.getOwner(data).getName().equals("root") || !Files.isExecutable(Path.of("/usr/bin/setpriv"))) {
            assertThat(new SameUser(Files.getOwner(data)).admits(() -> "other")).isFalse();
            return;
        }
        for (Path path = hosting.door.socket(); path.startsWith(data.toRealPath()); path = path.getParent()) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwxrwx"));
        }
        Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path classes = Files.createDirectories(open.resolve("dev/holdfast/server"));
        try (var in = Stranger.class.getResourceAsStream("Stranger.class")) {
            Files.copy(in, classes.resolve("Stranger.class"));
        }
        var stranger = new ProcessBuilder(
                        "/usr/bin/setpriv",
                        "--reuid=65534",
                        "--regid=65534",
                        "--clear-groups",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        open.toString(),
                        Stranger.class.getName(),
                        hosting.door.socket().toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(stranger.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(said).startsWith("connected\nnothing");
        assertThat(caller.get("/v1/host").status()).isEqualTo(200);
    }
}
