package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commands beside a host that is a process of its own. */
@Timeout(120)
final class BesideHostTest {
    private static final String[] SESSIONS = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};

    @TempDir
    static Path data;

    private static Command host;

    @BeforeAll
    static void start() throws Exception {
        Awaitility.setDefaultTimeout(Duration.ofSeconds(60)); // the machine may be busy
        var arguments = new ArrayList<>(List.of(data.toString()));
        arguments.addAll(List.of(SESSIONS));
        host = new Command(data, ManySessions.class, arguments.toArray(String[]::new));
        await().until(() -> host.out().contains("ready"));
    }

    @AfterAll
    static void stop() throws Exception {
        try {
            host.leave();
            assertThat(host.exit()).as(host.err()).isZero();
        } finally {
            host.close();
            Awaitility.reset();
        }
    }

    private Ran run(String... arguments) {
        return Ran.command(data, arguments);
    }

    /** What ps says of a session. */
    private String state(String session) {
        return run("--json", "ps").objects().stream()
                .filter(o -> o.path("session").asString().equals(session))
                .map(o -> o.path("state").asString())
                .findFirst()
                .orElse("none");
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
    void send_reachesTheAgentOfTheHost_onceUnderItsKey() throws Exception {
        assertThat(done("send", "a", "hello", "there").out()).isEqualTo("Accepted as message 1 of session a.\n");
        await().until(() -> done("show", "a").out().contains("agent  echo: hello there"));
        assertThat(done("send", "--wait", "a", "how are you").out()).isEqualTo("echo: how are you\n");
        var first = done("--json", "send", "a", "once", "--key", "k", "--author", "Ann")
                .objects()
                .getFirst();
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
    }

    @Test
    void ps_saysWhoRunsWhat() {
        var listed = done("ps").out();
        assertThat(listed).contains("Process " + host.pid() + " runs " + SESSIONS.length + " sessions.");
        var objects = run("--json", "ps").objects();
        assertThat(objects).allMatch(o -> o.path("host").asLong() == host.pid());
    }

    @Test
    @Tag("LV-07")
    void secondHost_isRefusedNamingWhatWorksBesideTheFirst() {
        var second = run("run", "--session", "b", "--agent", "scripted", "x");
        assertThat(second.exit()).isEqualTo(Exit.STORE);
        assertThat(second.err())
                .contains("in use by process " + host.pid(), "ps, show, events, send, cancel")
                .hasLineCount(2);
    }

    @Test
    void cancelAndInterrupt_endTheTurnOfTheHost() {
        done("send", "b", "[[sleep 60000]]");
        await().until(() -> state("b").equals("in turn 1"));
        done("send", "b", "second");
        assertThat(done("cancel", "b", "--message", "2").out())
                .isEqualTo("Session b: message 2 taken out of the queue.\n");
        var unknown = run("cancel", "b", "--message", "99");
        assertThat(unknown.exit()).isEqualTo(Exit.SESSION);
        assertThat(unknown.err()).isEqualTo("holdfast: session b has no message 99\n");
        assertThat(done("cancel", "b", "--turn", "9").out()).isEqualTo("Session b: there is no turn 9.\n");
        assertThat(done("cancel", "b").out()).isEqualTo("Session b: turn 1 is being ended.\n");
        await().until(() -> state("b").equals("idle"));
    }

    @Test
    @Tag("MB-21")
    void withdraw_ofAMessageInItsTurn_saysSo() {
        done("send", "c", "[[sleep 60000]]");
        await().until(() -> state("c").equals("in turn 1"));
        done("send", "c", "second");
        assertThat(done("withdraw", "c", "2").out()).contains("Message 2 of session c is withdrawn");
        var late = run("withdraw", "c", "1");
        assertThat(late.exit()).isEqualTo(Exit.SESSION);
        assertThat(late.err()).contains("too late: message 1 is in turn 1");
        assertThat(run("withdraw", "c", "99").err()).contains("session c has no message 99");
        assertThat(done("interrupt", "c").out()).isEqualTo("Session c: turn 1 is being ended.\n");
        await().until(() -> done("show", "c").out().contains("(interrupted)"));
    }

    @Test
    void drainPauseResume_holdTheSession() {
        assertThat(done("drain", "d", "--within", "5s").out()).isEqualTo("""
                        Session d is paused: nothing is in flight, nothing waits.
                        It goes on with: holdfast resume d
                        """);
        assertThat(state("d")).startsWith("paused");
        done("send", "d", "waits");
        assertThat(done("drain", "d").out()).contains("1 message waits");
        assertThat(done("resume", "d").out()).isEqualTo("Session d: resumed.\n");
        await().until(() -> done("show", "d").out().contains("echo: waits"));
        assertThat(done("pause", "d", "--reason", "lunch").out())
                .isEqualTo("Session d: pausing.\nMail is accepted and waits. It goes on with: holdfast resume d\n");
        assertThat(state("d")).isEqualTo("paused: lunch");
        done("resume", "d");
        done("send", "d", "[[sleep 60000]]");
        await().until(() -> state("d").equals("in turn 2"));
        var late = run("drain", "d", "--within", "0s");
        assertThat(late.exit()).isEqualTo(Exit.TURN_FAILED);
        assertThat(late.out()).contains("Turn 2 of session d is still open after 0s");
    }

    @Test
    void finishCloseResetClear_doWhatTheySay() {
        assertThat(done("reset", "e").out()).isEqualTo("Session e: the agent's memory was dropped.\n");
        assertThat(done("clear", "e").out()).contains("Stored as number 2: session e drops the agent's memory");
        assertThat(done("finish", "e", "--reason", "all done").out())
                .isEqualTo("Session e: finishing.\nIt takes nothing new; it is closed once what waits has run.\n");
        await().until(() -> state("e").equals("closed"));
        var again = run("close", "e", "--reason", "again");
        assertThat(again.exit()).isEqualTo(Exit.SESSION);
        assertThat(again.err()).isEqualTo("holdfast: the session is closed: all done\n");
        var late = run("send", "e", "late");
        assertThat(late.exit()).isEqualTo(Exit.SESSION);
        assertThat(late.err()).contains("the message was not taken: ", "all done");
    }

    @Test
    void answerAndDeadLetters_sayWhatThereIs() {
        assertThat(done("answer", "f", "q1", "yes", "you", "may").out())
                .isEqualTo("Session f: no such question is open.\n");
        assertThat(done("dead-letters", "f").out()).isEqualTo("Session f has set no message aside.\n");
        var none = run("dead-letters", "f", "--resend", "7");
        assertThat(none.exit()).isEqualTo(Exit.SESSION);
        assertThat(none.err()).contains("session f has no message 7");
    }

    @Test
    @Tag("MB-22")
    void exportAndImport_workBesideTheHost() throws IOException {
        done("send", "--wait", "g", "hello");
        Path file = data.resolve("g.session");
        assertThat(done("export", "g", file.toString()).out()).contains("Session g is in " + file);
        assertThat(run("export", "g", file.toString()).err()).contains("already: name a new one");
        var printed = done("export", "g", "-");
        assertThat(printed.out()).isEqualTo(Files.readString(file));
        var taken = run("import", file.toString());
        assertThat(taken.exit()).isEqualTo(Exit.SESSION);
        assertThat(taken.err()).contains("'g' exists");
        assertThat(done("import", file.toString(), "--as", "moved").out()).startsWith("Session moved is stored");
        assertThat(done("show", "moved").out()).contains("agent  echo: hello");
        Path fresh = data.resolve("other");
        var moved = Ran.command(fresh, "import", file.toString());
        assertThat(moved.out()).startsWith("Session g is stored");
        assertThat(Ran.command(fresh, "show", "g").out()).contains("agent  echo: hello");
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
        assertThat(run("send", "nobody", "x").err())
                .isEqualTo("holdfast: there is no session 'nobody': open it first; 'holdfast chat NAME' does, 'holdfast"
                        + " ps' lists those there are\n");
        assertThat(run("send", "nobody", "x").exit()).isEqualTo(Exit.SESSION);
    }

    @Test
    @Tag("TL-04")
    @Tag("TL-08")
    void call_thatIsAskedAbout_isApprovedAndAudited_andToolsAreStopped() {
        assertThat(done("questions", "j").out()).isEqualTo("Session j asks nothing.\n");
        assertThat(run("approve", "j", "yes").err()).contains("session j asks about no call");
        done("send", "j", "[[tool mcp__host__work {\"text\":\"x\"}]] [[say done]]");
        await().until(() -> done("questions", "j").out().contains("May it work?"));
        assertThat(done("questions", "j").out()).contains("Answer with: holdfast approve j ID yes, or no");
        assertThat(run("approve", "j", "maybe").exit()).isEqualTo(Exit.USAGE);
        assertThat(done("approve", "j", "yes").out()).isEqualTo("Session j: answered.\n");
        await().until(() -> done("audit", "j").out().contains("approved by rule person"));
        var row = done("--json", "audit", "j").objects().getFirst();
        assertThat(row.path("outcome").asString()).isEqualTo("ok");
        assertThat(row.path("author").asString()).isNotEmpty();
        assertThat(row.path("input_sha256").asString()).hasSize(64);

        assertThat(done("tools", "stop", "too", "odd").out()).contains("are stopped: too odd");
        done("send", "j", "[[tool mcp__host__work {\"text\":\"y\"}]] [[say done]]");
        await().until(() -> done("audit", "j").out().contains("stopped by rule tools-stopped"));
        assertThat(done("tools", "go").out()).contains("may run");
        assertThat(done("--json", "tools", "status")
                        .objects()
                        .getFirst()
                        .path("stopped")
                        .asBoolean())
                .isFalse();
        assertThat(run("tools", "go", "x").exit()).isEqualTo(Exit.USAGE);
    }

    @Test
    void sendToAnAddressNobodyClaimed_saysSo() {
        var sent = run("send", "--to", "hook-1", "hello");
        assertThat(sent.exit()).isEqualTo(Exit.SESSION);
        assertThat(sent.err()).contains("the address 'hook-1' is claimed by no session");
    }

    @Test
    void ctrlC_leavesWaitingCommandsWith130() throws Exception {
        done("send", "h", "[[sleep 60000]]");
        try (var follow = new Command(data, "events", "h", "--follow");
                var waiting = new Command(data, "send", "--wait", "h", "after you")) {
            await().until(() -> follow.out().contains("TurnOpened"));
            await().until(() -> done("show", "h").out().contains("after you"));
            follow.interrupt();
            assertThat(follow.exit()).isEqualTo(Exit.INTERRUPTED);
            await().pollDelay(Duration.ofMillis(300)).until(() -> true); // until it waits for the answer
            waiting.interrupt();
            assertThat(waiting.exit()).isEqualTo(Exit.INTERRUPTED);
            assertThat(waiting.err()).contains("leaving; message 2 of session h is kept");
        }
    }

    /** The command that most people start a host with: it has a door, takes mail through it, and takes it down. */
    @Test
    void chat_isAHostWithADoor(@TempDir Path own) throws Exception {
        try (var chat = new Command(own, "chat", "a", "--agent", "scripted")) {
            await().until(() -> Ran.command(own, "ps").out().contains("Process " + chat.pid() + " runs 1 session."));
            var answer = Ran.command(own, "send", "--wait", "a", "hello");
            assertThat(answer).isEqualTo(new Ran(Exit.OK, "echo: hello\n", ""));
            chat.leave();
            assertThat(chat.exit()).as(chat.err()).isZero();
        }
        assertThat(own.resolve("run/door.sock")).doesNotExist();
        assertThat(Ran.command(own, "events", "a").out())
                .doesNotContain("stop_")
                .contains("TurnSettled");
        assertThat(Ran.command(own, "events", "a", "--all").out()).contains("stop_");
        assertThat(Ran.command(own, "--json", "events", "a").out()).contains("stop_");
    }
}
