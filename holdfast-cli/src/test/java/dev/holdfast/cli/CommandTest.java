package dev.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.journal.SqliteJournal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands with captured streams; agents are real child processes. */
final class CommandTest {
    private static final char ESC = '\u001b';

    @TempDir
    Path data;

    private Ran run(String... arguments) {
        return Ran.command(data, arguments);
    }

    private Ran say(String... words) {
        var all = new java.util.ArrayList<>(List.of("run", "--session", "a", "--agent", "scripted"));
        all.addAll(List.of(words));
        return run(all.toArray(String[]::new));
    }

    @Test
    void runShowEventsPs_withTheScriptedAgent_agree() {
        var first = say("Hello", "there");
        assertThat(first).isEqualTo(new Ran(Exit.OK, "echo: Hello there\n", ""));
        var again = say("--json", "--key", "k", "with a key").objects().getFirst();
        assertThat(again.path("message").asInt()).isEqualTo(2);
        assertThat(again.path("outcome").asString()).isEqualTo("ANSWERED");
        assertThat(again.path("duplicate").asBoolean()).isFalse();
        var same = say("--json", "--key", "k", "with a key").objects().getFirst();
        assertThat(same.path("message").asInt()).isEqualTo(2);
        assertThat(same.path("duplicate").asBoolean()).isTrue();
        assertThat(same.path("text").asString()).isEqualTo("echo: with a key");

        assertThat(run("show", "a").out())
                .contains("you    Hello there\nagent  echo: Hello there\n", "session a: idle");
        var shown = run("show", "a", "--json").objects().getFirst();
        assertThat(shown.path("conversation").size()).isEqualTo(2);
        assertThat(shown.path("conversation").get(1).path("answer").asString()).isEqualTo("echo: with a key");
        assertThat(run("show", "a", "--last", "1", "--json")
                        .objects()
                        .getFirst()
                        .path("earlier_messages")
                        .asInt())
                .isEqualTo(1);

        var events = run("--json", "events", "a").objects();
        assertThat(events).isNotEmpty();
        for (int i = 0; i < events.size(); i++) {
            assertThat(events.get(i).path("seq").asInt()).isEqualTo(i + 1);
        }
        assertThat(events.stream().filter(e -> e.path("type").asString().equals("TurnSettled")))
                .hasSize(2);
        assertThat(run("events", "a", "--after", Integer.toString(events.size() - 1))
                        .out()
                        .lines())
                .hasSize(1);

        assertThat(run("ps").out()).contains("a        idle   0      echo: with a key");
        var listed = run("ps", "--json").objects();
        assertThat(listed).hasSize(1);
        assertThat(listed.getFirst().path("queue").asInt()).isZero();
    }

    @Test
    void run_keyUsedWithOtherWords_isRefused() {
        assertThat(say("--key", "k", "one").exit()).isEqualTo(Exit.OK);
        var other = say("--key", "k", "two");
        assertThat(other.exit()).isEqualTo(Exit.SESSION);
        assertThat(other.err()).contains("message 1").hasLineCount(1);
    }

    @Test
    void run_failedTurn_exitsOne() {
        var failed = say("[[error 400]]");
        assertThat(failed.exit()).isEqualTo(Exit.TURN_FAILED);
        assertThat(failed.err()).contains("message 1 failed");
    }

    @Test
    void run_escapeSequences_doNotReachTheTerminal() {
        var hostile = "[[say before " + ESC + "]0;owned\u0007 \u009b31m after]]";
        for (boolean terminal : new boolean[] {false, true}) {
            var ran = Ran.with(
                    Map.of("NO_COLOR", "1"),
                    data,
                    "",
                    terminal,
                    "run",
                    "--session",
                    "x",
                    "--agent",
                    "scripted",
                    hostile);
            assertThat(ran.out()).contains("before ", " after").doesNotContain("" + ESC, "\u009b", "\u0007");
        }
        for (String command : new String[] {"show", "events"}) {
            var told = run(command, "x");
            assertThat(told.exit()).isZero();
            assertThat(told.out() + told.err()).doesNotContain("" + ESC, "\u009b", "\u0007");
        }
        assertThat(run("ps").out()).doesNotContain("" + ESC, "\u009b", "\u0007");
    }

    @Test
    void colour_onlyAtATerminalThatWantsIt() {
        assertThat(say("hi").exit()).isZero();
        assertThat(run("show", "a").out()).doesNotContain("" + ESC);
        assertThat(Ran.with(Map.of(), data, "", true, "show", "a").out()).contains(ESC + "[1m");
        assertThat(Ran.with(Map.of("NO_COLOR", "1"), data, "", true, "show", "a")
                        .out())
                .doesNotContain("" + ESC);
    }

    @Test
    void chat_throughAPipe_answersLineByLineAndKeepsCommandsWords() {
        var chat = Ran.with(
                Map.of(), data, "one\n\n/clear now\n/quit\nnever\n", false, "chat", "c", "--agent", "scripted");
        assertThat(chat).isEqualTo(new Ran(Exit.OK, "echo: one\necho: /clear now\n", ""));
        var more = Ran.with(Map.of(), data, "three\n", false, "--json", "chat", "c");
        assertThat(more.objects()).hasSize(1);
        assertThat(more.objects().getFirst().path("message").asInt()).isEqualTo(3);
    }

    @Test
    void usage_mistakes_exitTwoInOneOrTwoLines() {
        for (String[] wrong : new String[][] {
            {"run", "--session", "a/b", "x"},
            {"run", "--session", "a"},
            {"run", "--session", "a", "--agent", "nobody", "x"},
            {"run", "--session", "a", "--agent", "scripted", "--key", "", "x"},
            {"frobnicate"},
            {"events", "a", "--after", "minus"}
        }) {
            var ran = run(wrong);
            assertThat(ran.exit()).as("%s", (Object) wrong).isEqualTo(Exit.USAGE);
            assertThat(ran.err().lines().count()).as(ran.err()).isBetween(1L, 2L);
            assertThat(ran.err()).doesNotContain("\tat ", "Exception");
        }
        assertThat(run("run", "--session", "a/b", "x").err()).contains("session name 'a/b' is not allowed");
    }

    @Test
    void agentMissing_exitsFourAndSendsNothing() {
        var named = run("run", "--session", "m", "--claude", "/nowhere/claude", "x");
        assertThat(named.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(named.err()).contains("/nowhere/claude", "Nothing was sent").hasLineCount(1);
        var onPath = run("--json", "run", "--session", "m", "x");
        assertThat(onPath.exit()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(onPath.complaint().path("problem").asString()).isEqualTo("not_found");
        assertThat(run("show", "m").exit()).isEqualTo(Exit.SESSION);
    }

    @Test
    void agentThatIsNone_endsParkedWithItsMessageKept() throws Exception {
        Path old = Files.writeString(
                data.resolve("old"), "#!/bin/sh\necho \"error: unknown option '--tools'\" >&2\nexit 1\n");
        assertThat(old.toFile().setExecutable(true)).isTrue();
        var ran = Ran.with(
                Map.of(
                        "HOLDFAST_CLAUDE", old.toString(),
                        "HOLDFAST_INFERENCE_URL", "http://127.0.0.1:9", // so that it gets a home of its own
                        "HOLDFAST_INFERENCE_KEY", "none"),
                data,
                "",
                false,
                "run",
                "--session",
                "o",
                "x");
        assertThat(ran.exit()).as(ran.err()).isEqualTo(Exit.AGENT_UNAVAILABLE);
        assertThat(ran.err()).contains("update Claude Code", "is kept");
        assertThat(run("ps").out()).contains("parked");
    }

    @Test
    void inference_withoutItsOther_isRefusedAndNeverPrintsTheKey() throws Exception {
        Path claude = Files.writeString(data.resolve("claude"), "#!/bin/sh\nexit 1\n");
        assertThat(claude.toFile().setExecutable(true)).isTrue();
        var lone = inference(claude, "HOLDFAST_INFERENCE_KEY", "sk-secret");
        assertThat(lone.exit()).isEqualTo(Exit.USAGE);
        assertThat(lone.err()).contains("both or none").doesNotContain("sk-secret");
        var url = inference(claude, "HOLDFAST_INFERENCE_URL", "http://127.0.0.1:9");
        assertThat(url.exit()).isEqualTo(Exit.USAGE);
        assertThat(url.err()).contains("no key");
    }

    private Ran inference(Path claude, String variable, String value) throws Exception {
        var environment = Map.of("HOLDFAST_CLAUDE", claude.toString(), variable, value);
        return Ran.with(environment, data, "", false, "run", "--session", "i", "x");
    }

    @Test
    void unknownSession_exitsFive() {
        assertThat(say("hi").exit()).isZero();
        for (String command : new String[] {"show", "events"}) {
            var ran = run(command, "nosuch");
            assertThat(ran.exit()).isEqualTo(Exit.SESSION);
            assertThat(ran.err()).contains("there is no session 'nosuch'").hasLineCount(1);
        }
    }

    @Test
    void noStore_exitsThreeAndCreatesNone() {
        Path empty = data.resolve("none");
        for (String[] reading : new String[][] {{"ps"}, {"show", "a"}, {"events", "a"}}) {
            var ran = Ran.command(empty, reading);
            assertThat(ran.exit()).isEqualTo(Exit.STORE);
            assertThat(ran.err()).contains("no store in " + empty).hasLineCount(1);
        }
        assertThat(empty).doesNotExist();
    }

    @Test
    @Tag("LV-07")
    void secondHost_isRefusedNamingTheFirst_whileReadersRead() {
        assertThat(say("hi").exit()).isZero();
        try (var held = SqliteJournal.at(data)) {
            assertThat(held.directory()).isPresent();
            var second = say("again");
            assertThat(second.exit()).isEqualTo(Exit.STORE);
            assertThat(second.err())
                    .contains("in use by process " + ProcessHandle.current().pid());
            assertThat(run("ps").out()).contains("echo: hi");
            assertThat(run("show", "a").exit()).isZero();
            assertThat(run("events", "a").exit()).isZero();
        }
    }

    @Test
    void help_namesEveryCommandAndExitCode() {
        var help = run("--help");
        assertThat(help.exit()).isZero();
        assertThat(help.out())
                .contains("demo", "run", "chat", "ps", "show", "events", "--data", "--json", "Exit codes:");
        assertThat(run("--version").out()).startsWith("holdfast ");
        assertThat(run("completion").out()).contains("complete -F _complete_holdfast");
        assertThat(run().exit()).isEqualTo(Exit.USAGE);
    }
}
