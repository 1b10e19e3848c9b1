package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.journal.SqliteJournal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands beside a host that is a process of its own: {@code holdfast chat a} with its input open. */
@Timeout(120)
final class BesideHostTest {
    @TempDir
    Path data;

    private Command chat;

    @BeforeEach
    void host() throws Exception {
        try (var journal = SqliteJournal.at(data)) {
            journal.open(new SessionName("idle"), SessionLimits.standard())
                    .toCompletableFuture()
                    .get();
        }
        chat = new Command(data, "chat", "a", "--agent", "scripted");
        await().atMost(Duration.ofSeconds(60))
                .until(() -> run("--json", "ps").out().contains("\"host\":" + chat.pid()));
    }

    @AfterEach
    void end() {
        chat.close();
    }

    private Ran run(String... arguments) {
        return Ran.command(data, arguments);
    }

    private Ran done(String... arguments) {
        var ran = run(arguments);
        assertThat(ran.exit()).as("%s: %s", String.join(" ", arguments), ran.err()).isZero();
        assertThat(ran.err()).isEmpty();
        return ran;
    }

    @Test
    void send_reachesTheAgentOfTheHost_onceUnderItsKey() throws Exception {
        assertThat(done("send", "a", "hello", "there").out()).isEqualTo("Accepted as message 1 of session a.\n");
        await().until(() -> done("show", "a").out().contains("agent  echo: hello there"));
        assertThat(done("send", "--wait", "a", "how are you").out()).isEqualTo("echo: how are you\n");
        var first = done("--json", "send", "a", "once", "--key", "k", "--author", "Ann").objects().getFirst();
        assertThat(first.path("held").asBoolean()).isTrue();
        assertThat(first.path("hosted").asBoolean()).isTrue();
        assertThat(done("send", "a", "once", "--key", "k", "--author", "Ann").out())
                .contains("Message 3 of session a was accepted under this key before");
        var other = run("send", "a", "twice", "--key", "k", "--author", "Ann");
        assertThat(other.exit()).isEqualTo(Exit.SESSION);
        assertThat(other.err())
                .isEqualTo("holdfast: the message was not taken: the key was used before with another content"
                        + " (message 3): use a new key\n");
        var piped = Ran.with(Map.of(), data, "from a pipe\n", false, "send", "--wait", "a", "-");
        assertThat(piped.out()).isEqualTo("echo: from a pipe\n");
        try (var process = new Command(data, "send", "--wait", "a", "as", "a", "process")) {
            assertThat(process.exit()).isZero();
            assertThat(process.out()).isEqualTo("echo: as a process\n");
            assertThat(process.err()).isEmpty();
        }
        chat.leave();
        assertThat(chat.exit()).isZero();
        assertThat(data.resolve("run/door.sock")).doesNotExist();
    }

    @Test
    void ps_saysWhoRunsWhat() {
        var listed = done("ps").out();
        assertThat(listed).contains("Process " + chat.pid() + " runs 1 session.");
        var objects = run("--json", "ps").objects();
        assertThat(objects).allMatch(o -> o.path("host").asLong() == chat.pid());
    }

    @Test
    @Tag("LV-07")
    void secondHost_isRefusedNamingWhatWorksBesideTheFirst() {
        var second = run("run", "--session", "b", "--agent", "scripted", "x");
        assertThat(second.exit()).isEqualTo(Exit.STORE);
        assertThat(second.err())
                .contains("in use by process " + chat.pid(), "ps, show, events, send, cancel")
                .hasLineCount(2);
    }

    @Test
    void cancelAndInterrupt_endTheTurnOfTheHost() {
        done("send", "a", "[[sleep 60000]]");
        await().until(() -> done("ps").out().contains("in turn 1"));
        done("send", "a", "second");
        assertThat(done("cancel", "a", "--message", "2").out())
                .isEqualTo("Session a: message 2 taken out of the queue.\n");
        assertThat(done("withdraw", "a", "2", "--json").exit()).isZero();
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofAMessageInItsTurn_saysSo() {
        done("send", "a", "[[sleep 60000]]");
        await().until(() -> done("ps").out().contains("in turn 1"));
        done("send", "a", "second");
        assertThat(done("withdraw", "a", "2").out()).contains("Message 2 of session a is withdrawn");
        var late = run("withdraw", "a", "1");
        assertThat(late.exit()).isEqualTo(Exit.SESSION);
        assertThat(late.err()).contains("too late: message 1 is in turn 1");
        assertThat(run("withdraw", "a", "99").err()).contains("session a has no message 99");
        assertThat(done("interrupt", "a").out()).isEqualTo("Session a: turn 1 is being ended.\n");
        await().until(() -> done("show", "a").out().contains("(interrupted)"));
    }

    @Test
    void drainPauseResume_holdTheSession() {
        assertThat(done("drain", "a", "--within", "5s").out())
                .isEqualTo("""
                        Session a is paused: nothing is in flight, nothing waits.
                        It goes on with: holdfast resume a
                        """);
        assertThat(done("ps").out()).contains("paused");
        done("send", "a", "waits");
        assertThat(done("drain", "a").out()).contains("1 message waits");
        assertThat(done("resume", "a").out()).isEqualTo("Session a: resumed.\n");
        await().until(() -> done("show", "a").out().contains("echo: waits"));
        assertThat(done("pause", "a", "--reason", "lunch").out())
                .isEqualTo("Session a: pausing.\nMail is accepted and waits. It goes on with: holdfast resume a\n");
        assertThat(done("ps").out()).contains("paused: lunch");
        done("resume", "a");
        done("send", "a", "[[sleep 60000]]");
        await().until(() -> done("ps").out().contains("in turn 2"));
        var late = run("drain", "a", "--within", "0s");
        assertThat(late.exit()).isEqualTo(Exit.TURN_FAILED);
        assertThat(late.out()).contains("Turn 2 of session a is still open after 0s");
    }

    @Test
    void finishCloseResetClear_doWhatTheySay() {
        assertThat(done("reset", "a").out()).isEqualTo("Session a: the agent's memory was dropped.\n");
        assertThat(done("clear", "a").out()).contains("Stored as number 2: session a drops the agent's memory");
        assertThat(done("finish", "a", "--reason", "all done").out()).isEqualTo("Session a: finishing.\n");
        await().until(() -> done("ps").out().contains("closed"));
        assertThat(done("close", "a", "--reason", "again").out()).isEqualTo("Session a: closed already.\n");
        var late = run("send", "a", "late");
        assertThat(late.exit()).isEqualTo(Exit.SESSION);
        assertThat(late.err()).contains("the message was not taken: ", "all done");
    }

    @Test
    void answerAndDeadLetters_sayWhatThereIs() {
        assertThat(done("answer", "a", "q1", "yes", "you", "may").out())
                .isEqualTo("Session a: no such question is open.\n");
        assertThat(done("dead-letters", "a").out()).isEqualTo("Session a has set no message aside.\n");
        var none = run("dead-letters", "a", "--resend", "7");
        assertThat(none.exit()).isEqualTo(Exit.SESSION);
        assertThat(none.err()).contains("session a has no message 7");
    }

    @Test
    @Tag("MB-22")
    void exportAndImport_workBesideTheHost() throws IOException {
        done("send", "--wait", "a", "hello");
        Path file = data.resolve("a.session");
        assertThat(done("export", "a", file.toString()).out()).contains("Session a is in " + file);
        assertThat(run("export", "a", file.toString()).err()).contains("already: name a new one");
        var printed = done("export", "a", "-");
        assertThat(printed.out()).isEqualTo(Files.readString(file));
        var taken = run("import", file.toString());
        assertThat(taken.exit()).isEqualTo(Exit.SESSION);
        assertThat(taken.err()).contains("'a' exists");
        assertThat(done("import", file.toString(), "--as", "b").out()).startsWith("Session b is stored");
        assertThat(done("show", "b").out()).contains("agent  echo: hello");
        Path fresh = data.resolve("other");
        var moved = Ran.command(fresh, "import", file.toString());
        assertThat(moved.out()).startsWith("Session a is stored");
        assertThat(Ran.command(fresh, "show", "a").out()).contains("agent  echo: hello");
    }

    @Test
    void sessionTheHostHasNotTakenUp_isSaidToWait() {
        var sent = done("send", "idle", "later").out();
        assertThat(sent)
                .isEqualTo("Accepted as message 1 of session idle.\nThe host that runs has not taken session idle up:"
                        + " it gets its turn when one does.\n");
        var waiting = run("send", "--wait", "idle", "now");
        assertThat(waiting.exit()).isEqualTo(Exit.SESSION);
        assertThat(waiting.err()).contains("nobody would answer. Nothing was sent.");
        assertThat(run("send", "nobody", "x").err()).isEqualTo("holdfast: there is no session 'nobody': open it first\n");
        assertThat(run("send", "nobody", "x").exit()).isEqualTo(Exit.SESSION);
    }

    @Test
    void sendToAnAddressNobodyClaimed_saysSo() {
        var sent = run("send", "--to", "hook-1", "hello");
        assertThat(sent.exit()).isEqualTo(Exit.SESSION);
        assertThat(sent.err()).contains("the address 'hook-1' is not claimed any more");
    }

    @Test
    void ctrlC_leavesWaitingCommandsWith130() throws Exception {
        done("send", "a", "[[sleep 60000]]");
        try (var follow = new Command(data, "events", "a", "--follow");
                var waiting = new Command(data, "send", "--wait", "a", "after you")) {
            await().until(() -> follow.out().contains("TurnOpened"));
            await().until(() -> done("show", "a").out().contains("after you"));
            follow.interrupt();
            assertThat(follow.exit()).isEqualTo(Exit.INTERRUPTED);
            await().pollDelay(Duration.ofMillis(300)).until(() -> true); // until it waits for the answer
            waiting.interrupt();
            assertThat(waiting.exit()).isEqualTo(Exit.INTERRUPTED);
            assertThat(waiting.err()).contains("leaving; message 2 of session a is kept");
        }
    }

    @Test
    void events_leaveOutTheStepsOfAStop_unlessAllAreWanted() throws Exception {
        done("send", "--wait", "a", "hello");
        chat.leave();
        assertThat(chat.exit()).isZero();
        assertThat(done("events", "a").out()).doesNotContain("stop_").contains("TurnSettled");
        assertThat(done("events", "a", "--all").out()).contains("stop_");
        assertThat(done("--json", "events", "a").out()).contains("stop_");
    }
}
