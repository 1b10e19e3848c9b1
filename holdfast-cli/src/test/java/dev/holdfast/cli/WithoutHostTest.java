package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.journal.SqliteJournal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands while no host runs: they open the store themselves, and say what waits for one. */
final class WithoutHostTest {
    @TempDir
    Path data;

    @BeforeEach
    void session() throws Exception {
        try (var journal = SqliteJournal.at(data)) {
            journal.open(new SessionName("a"), SessionLimits.standard())
                    .toCompletableFuture()
                    .get();
        }
    }

    private Ran run(String... arguments) {
        return Ran.command(data, arguments);
    }

    private Ran done(String... arguments) {
        var ran = run(arguments);
        assertThat(ran.exit())
                .as("%s: %s", String.join(" ", arguments), ran.err())
                .isZero();
        assertThat(ran.err()).isEmpty();
        return ran;
    }

    @Test
    void guardFile_thatIsWrong_isRefusedBeforeAnythingIsSent() throws Exception {
        var file = Files.writeString(data.resolve("guard.json"), "{\"rules\":[{\"name\":\"a\",\"verdict\":\"no\"}]}");
        var ran = run("run", "--session", "a", "--agent", "scripted", "--guard", file.toString(), "hello");
        assertThat(ran.exit()).isEqualTo(Exit.USAGE);
        assertThat(ran.err()).contains("rules[0].verdict: 'no' is none of allow, deny, ask, unattended-deny");
        assertThat(done("audit", "a").out()).isEmpty();
        assertThat(done("questions", "a").out()).isEqualTo("Session a asks nothing.\n");
    }

    @Test
    @Tag("P1")
    void send_isStored_andAnsweredByTheNextHost() {
        assertThat(done("send", "a", "hello").out())
                .isEqualTo("Accepted as message 1 of session a.\nNo host runs: it gets its turn when one takes the"
                        + " session up, for example with: holdfast chat a\n");
        assertThat(done("ps").out()).contains("a        waiting  1", "No host runs: nothing here is worked on now.");
        assertThat(done("show", "a").out()).contains("no host runs, 'holdfast chat a' goes on");
        assertThat(done("--json", "send", "a", "hello")
                        .objects()
                        .getFirst()
                        .path("hosted")
                        .asBoolean())
                .isFalse();
        var waited = run("send", "--wait", "a", "now");
        assertThat(waited.exit()).isEqualTo(Exit.SESSION);
        assertThat(waited.err())
                .contains("Nothing was sent.", "holdfast chat a")
                .hasLineCount(2);
        var chat = Ran.with(Map.of(), data, "three\n", false, "chat", "a", "--agent", "scripted");
        assertThat(chat.out()).isEqualTo("echo: hello\necho: hello\necho: three\n");
        assertThat(done("ps").out()).contains("idle", "No host runs");
    }

    @Test
    void orders_areActedOnAtOnce() {
        done("send", "a", "one");
        done("send", "a", "two", "--author", "Ann Example");
        assertThat(done("show", "a").out())
                .contains("you    one\n       (message 1, not answered yet)\n")
                .contains("Ann Example two\n       (message 2, not answered yet)\n");
        assertThat(run("withdraw", "a", "x").err()).contains("'x' is not a whole number\n");
        assertThat(done("pause", "a").out()).startsWith("Session a: pausing.\n");
        assertThat(done("ps").out()).contains("paused: paused by hand");
        assertThat(done("send", "a", "three").out())
                .endsWith(
                        "The session is paused: paused by hand. The message gets its turn after: holdfast resume a\n");
        assertThat(done("cancel", "a", "--turn", "9").out()).isEqualTo("Session a: there is no turn 9.\n");
        assertThat(done("withdraw", "a", "1").out()).contains("Message 1 of session a is withdrawn");
        assertThat(done("cancel", "a", "--message", "2").out()).contains("message 2 taken out of the queue");
        assertThat(done("resume", "a").out()).startsWith("Session a: resumed.\nNo host runs: what waits runs when");
        assertThat(done("drain", "a").out()).contains("Session a is paused: nothing is in flight");
        assertThat(done("close", "a", "--reason", "over").out()).isEqualTo("Session a: closing.\n");
        assertThat(done("ps").out()).contains("closed");
        assertThat(run("send", "a", "late").err()).contains("over");
        done("run", "--session", "b", "--agent", "scripted", "one");
        assertThat(done("finish", "b", "--reason", "enough").out())
                .startsWith(
                        "Session b: finishing.\nNo host runs: what waits runs, and then the session is closed, when");
    }

    @Test
    @Tag("P4")
    void runOfAPausedSession_saysWhatItWaitsFor() throws Exception {
        done("pause", "a", "--reason", "lunch");
        var unnamed = run("run", "--session", "a", "hello");
        assertThat(unnamed.exit()).isEqualTo(Exit.SESSION);
        assertThat(unnamed.err()).contains("begun without an agent: name one with --agent");
        try (var waiting = new Command(data, "run", "--session", "a", "--agent", "scripted", "hello")) {
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(waiting.err())
                            .contains("the session is paused: lunch; what is sent waits for: holdfast resume a"));
            done("resume", "a");
            assertThat(waiting.exit()).as(waiting.err()).isZero();
            assertThat(waiting.out()).isEqualTo("echo: hello\n");
        }
    }

    @Test
    void commandsAtOnce_waitForEachOther() throws Exception {
        var all = new ArrayList<Command>();
        for (int i = 0; i < 3; i++) {
            all.add(new Command(data, "send", "a", "number " + i, "--key", "k" + i));
        }
        for (var command : all) {
            assertThat(command.exit()).as(command.err()).isZero();
        }
        assertThat(run("--json", "ps").objects().getFirst().path("messages").asInt())
                .isEqualTo(3);
    }

    @Test
    void noStore_exitsThreeAndIsMadeByImportAlone() {
        Path empty = data.resolve("none");
        for (String[] command : new String[][] {
            {"send", "a", "x"},
            {"pause", "a"},
            {"drain", "a"},
            {"withdraw", "a", "1"},
            {"dead-letters", "a"},
            {"export", "a", "-"},
            {"answer", "a", "q", "t"}
        }) {
            var ran = Ran.command(empty, command);
            assertThat(ran.exit()).as(command[0]).isEqualTo(Exit.STORE);
            assertThat(ran.err()).contains("no store in " + empty).hasLineCount(1);
        }
        assertThat(empty).doesNotExist();
    }

    @Test
    void mistakes_exitTwoAndChangeNothing() throws Exception {
        Path garbage = Files.writeString(data.resolve("garbage"), "no session\n");
        for (String[] wrong : new String[][] {
            {"send", "a"},
            {"send", "a/b", "x"},
            {"send", "a", "x", "--policy", "sometime"},
            {"send", "a", "x", "--author", "new\nline"},
            {"send", "a", "x", "--key", ""},
            {"cancel", "a", "--turn", "1", "--message", "2"},
            {"cancel", "a", "--turn", "0"},
            {"drain", "a", "--within", "soon"},
            {"drain", "a", "--within", "2h"},
            {"finish", "a"},
            {"withdraw", "a"},
            {"withdraw", "a", "x"},
            {"import", data.resolve("nothing").toString()},
            {"ps", "--store", "mysql://h/d"}
        }) {
            var ran = run(wrong);
            assertThat(ran.exit())
                    .as("%s: %s", String.join(" ", wrong), ran.err())
                    .isEqualTo(Exit.USAGE);
            assertThat(ran.err().lines().count()).as(ran.err()).isBetween(1L, 2L);
            assertThat(ran.err()).doesNotContain("\tat ", "Exception");
        }
        var broken = run("import", garbage.toString());
        assertThat(broken.exit()).isEqualTo(Exit.SESSION);
        assertThat(broken.err()).contains("Nothing was stored");
        assertThat(run("--json", "ps").objects()).hasSize(1);
        assertThat(run("--json", "ps").objects().getFirst().path("messages").asInt())
                .isZero();
    }

    @Test
    void killedHost_leavesTurnsUnfinished_andItsDoorIsNoHindrance() throws Exception {
        try (var chat = new Command(data, "chat", "a")) {
            assertThat(chat.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE); // no agent here: nothing was begun
        }
        var chat = new Command(data, "chat", "b", "--agent", "scripted");
        chat.type("[[sleep 60000]]");
        await().atMost(Duration.ofSeconds(60)).until(() -> run("ps").out().contains("in turn 1"));
        await().atMost(Duration.ofSeconds(60)).until(() -> Files.exists(data.resolve("run/door.sock")));
        chat.close();
        await().until(() -> run("ps").out().contains("turn 1 unfinished"));
        assertThat(data.resolve("run/door.sock")).exists();
        assertThat(run("ps").out()).contains("No host runs").doesNotContain("in turn");
        assertThat(done("cancel", "b").out()).contains("turn 1 is being ended");
        assertThat(done("send", "b", "more").out()).contains("No host runs");
    }

    @Test
    void everyCommand_hasHelpAndCompletion() {
        var completion = run("completion").out();
        for (String command : List.of(
                "send",
                "cancel",
                "withdraw",
                "interrupt",
                "answer",
                "pause",
                "drain",
                "resume",
                "finish",
                "close",
                "reset",
                "clear",
                "transcript",
                "regenerate",
                "fork",
                "dead-letters",
                "export",
                "import")) {
            var help = run(command, "--help");
            assertThat(help.exit()).isZero();
            assertThat(help.out()).startsWith("Usage: holdfast " + command);
            assertThat(completion).contains(command);
        }
    }
}
