package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.ClaudeCodeAgent;
import dev.holdfast.claude.HookAnswer;
import dev.holdfast.claude.HookEvent;
import dev.holdfast.claude.HookRule;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Hooks of a session with a journal, with the scripted agent and the real programs. */
@Tag("slow")
@Timeout(180)
final class HooksIT {
    @TempDir
    Path directory;

    private Contender.Mind mind;
    private Holdfast host;
    private Session session;

    private void open(Contender contender, ModelScript script, UnaryOperator<ClaudeCodeAgent> hooks, String... builtins)
            throws IOException {
        mind = contender.mind(directory, script);
        host = Holdfast.open(SqliteJournal.at(directory.resolve("data")));
        session = host.session(
                "hooked",
                hooks.apply(ClaudeCode.agent()
                        .binary(mind.program())
                        .inference(mind.url(), "sk-fake")
                        .environment("HOME", directory.toString())
                        .builtinTools(builtins)));
    }

    @AfterEach
    void close() {
        if (host != null) {
            host.close();
        }
        if (mind != null) {
            mind.close();
        }
    }

    private Reply ask(String text) {
        return Station.now(
                session.reply(Station.stored(session.send(Message.of(text))).number()));
    }

    /** The first message of a session stands among more of the agent's own than the script knows. */
    private void begin() {
        assertThat(ask("M0 good morning").outcome()).isEqualTo(Outcome.ANSWERED);
    }

    private String bash(String command) {
        return "[[tool Bash {\"command\":\"" + command + "\",\"description\":\"d\"}]]";
    }

    private String touch(String name) {
        return bash("touch " + directory.resolve(name));
    }

    private String shown() {
        return mind.conversations().toString();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("HS-18")
    void guard_denying_keepsTheToolFromRunning(Contender contender) throws Exception {
        var calls = new CopyOnWriteArrayList<String>();
        open(
                contender,
                new ModelScript().on("M1", touch("denied"), "[[say done]]"),
                agent -> agent.hook(HookEvent.PRE_TOOL_USE, "Bash", call -> {
                    calls.add(call.input());
                    return HookAnswer.deny("NOT-ON-MY-WATCH");
                }),
                "Bash");
        begin();
        assertThat(ask("M1 touch it").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(directory.resolve("denied")).doesNotExist();
        assertThat(shown()).contains("NOT-ON-MY-WATCH");
        assertThat(calls).singleElement().asString().contains("touch ");
    }

    @ParameterizedTest
    @EnumSource
    @Tag("HS-18")
    void guard_failing_denies_andTheNextMessageRuns(Contender contender) throws Exception {
        open(
                contender,
                new ModelScript().on("M1", touch("denied"), "[[say done]]"),
                agent -> agent.hook(HookEvent.PRE_TOOL_USE, "Bash", call -> {
                    throw new IllegalStateException("broken guard");
                }),
                "Bash");
        begin();
        assertThat(ask("M1 touch it").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(directory.resolve("denied")).doesNotExist();
        Station.events(session).await("Noticed", "hook_failed", "broken guard");
        assertThat(ask("M2 go on").outcome()).isEqualTo(Outcome.ANSWERED);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("HS-18")
    @Tag("TN-15")
    void prompt_blocked_failsItsMessageAndNoOther(Contender contender) throws Exception {
        var prompts = new CopyOnWriteArrayList<String>();
        open(
                contender,
                new ModelScript(),
                agent -> agent.hook(HookRule.on(HookEvent.USER_PROMPT_SUBMIT).guarding(), call -> {
                    var prompt = call.raw().at("prompt").orElse("");
                    prompts.add(prompt);
                    return prompt.contains("SECRET") ? HookAnswer.block("that must not be said") : HookAnswer.goOn();
                }));
        var sent = List.of("M1 plain", "M2 a SECRET", "M3 plain", "M4 SECRET too", "M5 plain").stream()
                .map(text -> Station.stored(session.send(Message.of(text))).number())
                .toList();
        var replies = sent.stream().map(n -> Station.now(session.reply(n))).toList();
        assertThat(replies)
                .extracting(Reply::outcome)
                .containsExactly(Outcome.ANSWERED, Outcome.FAILED, Outcome.ANSWERED, Outcome.FAILED, Outcome.ANSWERED);
        assertThat(replies.get(1).detail()).contains("that must not be said");
        assertThat(shown()).doesNotContain("SECRET").contains("M1 plain").contains("M5 plain");
        assertThat(prompts).hasSize(5);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("HS-18")
    void stop_blocked_goesOnInTheSameTurn(Contender contender) throws Exception {
        var stops = new AtomicInteger();
        open(
                contender,
                new ModelScript().on("M1", "[[say first]]"),
                agent -> agent.hook(
                        HookEvent.STOP,
                        call -> stops.incrementAndGet() == 1 ? HookAnswer.block("ONE-MORE-THING") : HookAnswer.goOn()));
        assertThat(ask("M1 work").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(stops).hasValue(2);
        assertThat(shown()).contains("ONE-MORE-THING");
        assertThat(ask("M2 go on").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(stops).hasValue(3);
    }

    /**
     * Which events are told is the agent's affair; these are. SessionStart has passed when hooks are named, and no
     * Notification comes where nobody sits at a terminal.
     */
    @ParameterizedTest
    @EnumSource
    @Tag("HS-18")
    void everyEventThatTheAgentTells_isHeard(Contender contender) throws Exception {
        var told = new CopyOnWriteArrayList<String>();
        open(
                contender,
                new ModelScript().on("M1", bash("exit 3"), "[[say failed]]").on("M2", bash("exit 0"), "[[say worked]]"),
                agent -> listening(agent, told),
                "Bash");
        begin();
        assertThat(ask("M1 fail").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(ask("M2 work").outcome()).isEqualTo(Outcome.ANSWERED);
        Station.now(session.evict());
        assertThat(ask("M3 again").outcome()).isEqualTo(Outcome.ANSWERED);
        if (!contender.scripted()) {
            assertThat(told).contains("POST_TOOL_USE_FAILURE Bash");
        }
        assertThat(told)
                .contains("USER_PROMPT_SUBMIT", "PRE_TOOL_USE Bash", "POST_TOOL_USE Bash", "STOP")
                .doesNotContain("SESSION_START", "NOTIFICATION");
    }

    /** A sub-agent that works in the background ends with news that the agent shows itself, in a turn of its own. */
    @ParameterizedTest
    @EnumSource(names = "SCRIPTED", mode = EnumSource.Mode.EXCLUDE)
    @Tag("HS-18")
    @Tag("TN-03")
    @Tag("TN-15")
    void newsOfASubAgent_keptFromTheModel_endNoTurnOfOurs(Contender contender) throws Exception {
        var told = new CopyOnWriteArrayList<String>();
        var delegate =
                "[[tool Task {\"description\":\"d\",\"prompt\":\"M9 sub\",\"subagent_type\":\"general-purpose\"}]]";
        open(
                contender,
                new ModelScript().on("M2", delegate, "[[say back]]"),
                agent -> listening(agent, told)
                        .hook(
                                HookRule.on(HookEvent.USER_PROMPT_SUBMIT).guarding(),
                                call -> call.raw().at("prompt").orElse("").startsWith("<task-notification>")
                                        ? HookAnswer.block("no news")
                                        : HookAnswer.goOn()),
                "Task");
        var sent = List.of("M1 begin", "M2 delegate", "M3 go on", "M4 go on", "M5 go on").stream()
                .map(text -> Station.stored(session.send(Message.of(text))).number())
                .toList();
        for (long each : sent) {
            var reply = Station.now(session.reply(each));
            assertThat(reply.outcome()).as(reply.toString()).isEqualTo(Outcome.ANSWERED);
        }
        Awaitility.await()
                .untilAsserted(() ->
                        assertThat(told).as(shown()).contains("PRE_TOOL_USE Agent", "SUBAGENT_START", "SUBAGENT_STOP"));
        assertThat(ask("M6 and now").outcome()).isEqualTo(Outcome.ANSWERED);
    }

    private static ClaudeCodeAgent listening(ClaudeCodeAgent agent, List<String> told) {
        var listening = agent;
        for (HookEvent event : HookEvent.values()) {
            listening = listening.hook(HookRule.on(event).observing(), call -> {
                told.add(call.event() + call.tool().map(tool -> " " + tool).orElse(""));
                return HookAnswer.goOn();
            });
        }
        return listening;
    }
}
