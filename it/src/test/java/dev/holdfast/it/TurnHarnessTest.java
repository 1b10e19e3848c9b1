package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AgentTool;
import dev.holdfast.AgentUnavailable;
import dev.holdfast.Beat;
import dev.holdfast.HarnessNeed;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Session;
import dev.holdfast.ToolOutcome;
import dev.holdfast.ToolSurface;
import dev.holdfast.Turn;
import dev.holdfast.TurnAgent;
import dev.holdfast.TurnEvent;
import dev.holdfast.TurnHarness;
import dev.holdfast.TurnHooks;
import dev.holdfast.TurnMessage;
import dev.holdfast.TurnSettings;
import dev.holdfast.TurnState;
import dev.holdfast.Verdict;
import dev.holdfast.runtime.DoorRules;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.ScriptedThinker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Thinkers of this process, what they are given and what becomes of those that break the rules. */
final class TurnHarnessTest {
    @TempDir
    Path directory;

    private Station station;

    @BeforeEach
    void open() {
        station = new Station(directory.resolve("data"));
    }

    @AfterEach
    void close() {
        station.close();
    }

    /** What a thinker does in a turn. */
    @FunctionalInterface
    private interface Thought {
        void think(Turn turn) throws Exception;
    }

    private static TurnHarness thinking(Thought thought) {
        return new TurnHarness() {
            @Override
            public String name() {
                return "thinking";
            }

            @Override
            public ToolSurface surface() {
                return ToolSurface.bound().withhold("secret");
            }

            @Override
            public void run(Turn turn) throws Exception {
                thought.think(turn);
            }
        };
    }

    private Session session(TurnHarness harness, TurnSettings settings, Object... tools) {
        return station.host()
                .session(Station.NAME, TurnAgent.of(harness).tools(tools).settings(settings));
    }

    private Session session(Thought thought, Object... tools) {
        return session(thinking(thought), TurnSettings.standard(), tools);
    }

    // ---- ends -----------------------------------------------------------------------------------------------------

    @Tag("HN-10")
    @Test
    void event_afterTheEndOfItsTurn_isRecordedAndChangesNothing() {
        var turns = new CopyOnWriteArrayList<Turn>();
        var session = session(turn -> {
            turns.forEach(t -> t.emit(new TurnEvent.Text("late")));
            turns.add(turn);
            turn.emit(new TurnEvent.Text("turn " + turn.ids().turn()));
        });
        assertThat(session.ask("one").text()).isEqualTo("turn 1");
        assertThat(session.ask("two").text()).isEqualTo("turn 2");
        var events = Station.events(session);
        events.await("Noticed", "event_after_end", "turn 1");
        turns.getFirst().emit(new TurnEvent.Failure(TurnEvent.Cause.FATAL, "far too late"));
        assertThat(session.ask("three").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(events.all().stream().filter(e -> e.type().equals("TurnSettled")))
                .hasSizeLessThanOrEqualTo(3);
        assertThat(turns.getFirst().tools().call("none", "{}").error()).isTrue();
    }

    @Tag("HN-10")
    @Test
    void turn_thatEndsTwice_endsAsTheFirstTimeAndTheSecondIsRecorded() {
        var session =
                station.host().session(Station.NAME, ScriptedThinker.right().agent());
        var reply = session.ask("[[twice]]");
        assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(reply.detail()).isEqualTo("first end");
        assertThat(session.ask("[[say fine]]").text()).isEqualTo("fine");
        Station.events(session).await("Noticed", "event_after_end", "Failure");
    }

    @Tag("HN-10")
    @Test
    void harness_thatThrows_failsItsTurnAlone() {
        var session = session(turn -> {
            if (turn.ids().turn() == 1) {
                throw new StackOverflowError("too deep");
            }
            turn.emit(new TurnEvent.Text("fine"));
        });
        assertThat(session.ask("one").outcome()).isEqualTo(Outcome.FAILED);
        assertThat(session.ask("two").text()).isEqualTo("fine");
    }

    @Tag("HN-12")
    @Test
    void harness_thatCannotRunHere_parksTheSessionWithATypedError() {
        var session = session(turn -> {
            throw new AgentUnavailable("not_found", "there is no model");
        });
        var unused = session.send(Message.of("one"));
        Station.awaitStatus(session, s -> s.phase().equals("PARKED"));
        assertThatThrownBy(() -> session.ask("two"))
                .isInstanceOfSatisfying(
                        AgentUnavailable.class, e -> assertThat(e.reason()).isEqualTo("not_found"));
    }

    // ---- what it is given -------------------------------------------------------------------------------------------

    @Tag("HN-02")
    @Test
    void turn_givesWhatWasBound_andItsMessagesCannotBeChanged() {
        var seen = new CopyOnWriteArrayList<Turn>();
        var settings = TurnSettings.standard()
                .brief("be brief")
                .interactive(false)
                .workspace(directory)
                .skills(List.of(new dev.holdfast.Skill("a", "b", "c")));
        var session = session(thinking(seen::add), settings);
        session.ask("hello");
        var turn = seen.getFirst();
        assertThat(turn.brief()).isEqualTo("be brief");
        assertThat(turn.interactive()).isFalse();
        assertThat(turn.workspace()).contains(directory);
        assertThat(turn.skills()).extracting(dev.holdfast.Skill::name).containsExactly("a");
        assertThat(turn.ids()).isEqualTo(new dev.holdfast.TurnIds(Station.NAME, 1, 1));
        assertThat(turn.asked()).containsExactly(new TurnMessage(TurnMessage.Role.SENDER, "host", "hello"));
        assertThatThrownBy(() -> turn.messages().clear()).isInstanceOf(UnsupportedOperationException.class);
    }

    @Tag("HN-01")
    @Test
    void harness_thatNeedsASandbox_isRefusedBeforeAnythingIsStarted() {
        var harness = new TurnHarness() {
            @Override
            public String name() {
                return "boxed";
            }

            @Override
            public Set<HarnessNeed> requires() {
                return Set.of(HarnessNeed.SANDBOX);
            }

            @Override
            public void run(Turn turn) {}
        };
        assertThatThrownBy(() -> station.host().session(Station.NAME, TurnAgent.of(harness)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sandbox");
    }

    @Tag("HN-01")
    @Test
    void tool_thatIsWithheld_isNotListedAndNotRun() {
        var outcomes = new CopyOnWriteArrayList<ToolOutcome>();
        var session = session(
                turn -> {
                    assertThat(turn.tools().list()).extracting(s -> s.name()).containsExactly("open");
                    outcomes.add(turn.tools().call("open", "{}"));
                    outcomes.add(turn.tools().call("secret", "{}"));
                },
                new Doors());
        assertThat(session.ask("hello").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(outcomes.getFirst()).isInstanceOf(ToolOutcome.Ok.class);
        assertThat(outcomes.getLast()).isInstanceOf(ToolOutcome.Failed.class);
    }

    @Tag("TL-03")
    @Tag("HN-02")
    @Test
    void call_notLetThrough_isDeniedWithItsKind_andRunsNothing() {
        var verdicts = List.of(
                Verdict.deny("rule", "never here"),
                Verdict.connect("rule", "log in to the shop first"),
                Verdict.ask("rule", "may it?"));
        var judged = new AtomicInteger();
        var outcomes = new CopyOnWriteArrayList<ToolOutcome>();
        station.close();
        station = new Station(
                directory.resolve("guarded"),
                Options.standard()
                        .door(DoorRules.standard()
                                .guard(call -> verdicts.get(Math.min(judged.getAndIncrement(), 2)))
                                .askTime(Duration.ofMillis(1))));
        var session =
                session(turn -> verdicts.forEach(v -> outcomes.add(turn.tools().call("open", "{}"))), new Doors());
        var reply = Station.now(
                session.reply(Station.stored(session.send(Message.of("hello"))).number()));
        assertThat(reply.outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(outcomes)
                .containsExactly(
                        new ToolOutcome.Denied(ToolOutcome.Denial.BY_RULE, "never here"),
                        new ToolOutcome.Denied(ToolOutcome.Denial.NEEDS_CONNECTION, "log in to the shop first"),
                        new ToolOutcome.Denied(
                                ToolOutcome.Denial.NEEDS_APPROVAL, "nobody answered whether it may be done"));
    }

    @Tag("HN-09")
    @Test
    void agent_givenExplicitly_winsOverTheOneTheHostWouldFind() {
        var composed = ScriptedThinker.named("composed");
        station.close();
        station = new Station(
                directory.resolve("composed"), Options.standard().agents(name -> Optional.of(composed.agent())));
        var given = session(turn -> turn.emit(new TurnEvent.Text("given")));
        assertThat(given.ask("one").text()).isEqualTo("given");
        assertThat(composed.shown()).isEmpty();
    }

    @Tag("HN-09")
    @Test
    void agent_givenExplicitly_takesOverASessionThatTheHostFoundOneFor() {
        var composed = ScriptedThinker.named("composed");
        session(turn -> turn.emit(new TurnEvent.Text("earlier")));
        station.close();
        station = new Station(
                directory.resolve("data"), Options.standard().agents(name -> Optional.of(composed.agent())));
        var mail = station.host().mail(Station.NAME);
        var first = Station.stored(mail.send(Message.of("[[say found]]"))).number();
        assertThat(Station.now(mail.reply(first)).text()).isEqualTo("found");
        var given = session(turn -> turn.emit(new TurnEvent.Text("given")));
        assertThat(given.ask("two").text()).isEqualTo("given");
        assertThat(composed.shown()).hasSize(1);
    }

    @Tag("HN-04")
    @Test
    void state_isThereInTheNextTurn_andGoneOnceSomethingWasThrownAway() {
        var states = new CopyOnWriteArrayList<Optional<TurnState>>();
        var session = session(turn -> {
            states.add(turn.state().get());
            turn.state().set(new TurnState("native-1", turn.length()));
        });
        session.ask("one");
        session.ask("two");
        assertThat(states).containsExactly(Optional.empty(), Optional.of(new TurnState("native-1", 1)));
        Station.now(session.reply(((dev.holdfast.Receipt.Stored) Station.now(session.regenerate())).number()));
        assertThat(states.getLast()).as("after a regenerate").isEmpty();
    }

    @Tag("HN-10")
    @Test
    void run_thatReturnsWithACallOpen_endsItsTurn_andTheNextOneRuns() {
        var held = new Held();
        var left = new CopyOnWriteArrayList<CompletionStage<ToolOutcome>>();
        var session = session(turn -> left.add(turn.tools().callAsync("hold", "{}")), held);
        assertThat(session.ask("one").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(Station.now(left.getFirst())).isInstanceOf(ToolOutcome.Failed.class);
        assertThat(session.ask("two").outcome()).isEqualTo(Outcome.ANSWERED);
        held.open.countDown();
    }

    /** A tool that answers when the test lets it. */
    public static final class Held {
        final CountDownLatch open = new CountDownLatch(1);

        @AgentTool("Holds")
        public String hold() throws InterruptedException {
            open.await();
            return "held";
        }
    }

    @Tag("HN-05")
    @Test
    void messages_areBoundedAsConfigured_newestKeptAndTheCutSaid() {
        var shown = new ArrayList<List<TurnMessage>>();
        var session = session(
                thinking(turn -> {
                    shown.add(turn.messages());
                    turn.emit(new TurnEvent.Text("ok"));
                }),
                TurnSettings.standard().retold(1_000));
        session.ask("first " + "a".repeat(600));
        session.ask("second " + "b".repeat(600));
        session.ask("third");
        assertThat(shown.getLast().getFirst().text()).contains("left out", "1000");
        assertThat(shown.getLast()).extracting(TurnMessage::text).noneMatch(t -> t.startsWith("first"));
        assertThat(shown.getLast()).extracting(TurnMessage::text).anyMatch(t -> t.startsWith("second"));
        assertThat(shown.getLast()).last().extracting(TurnMessage::text).isEqualTo("third");
    }

    @Tag("HN-03")
    @Test
    void beats_saidAgainAndAgain_areShownOncePerTurn() {
        var heard = new CopyOnWriteArrayList<Beat>();
        var session = session(turn -> {
            for (int i = 0; i < 5; i++) {
                for (Beat beat : Beat.values()) {
                    turn.emit(new TurnEvent.Status(beat));
                }
            }
        });
        var unused = session.events(0, new dev.holdfast.EventListener() {
            @Override
            public void onEvent(dev.holdfast.SessionEvent event) {}

            @Override
            public void onBeat(long turn, Beat beat) {
                heard.add(beat);
            }
        });
        session.ask("one");
        session.ask("two");
        org.awaitility.Awaitility.await().until(() -> heard.size() >= 11);
        assertThat(heard.subList(0, 6)).containsExactly(Beat.values());
        assertThat(heard.subList(6, 11)).doesNotContain(Beat.UNDERSTANDING).doesNotHaveDuplicates();
    }

    // ---- hooks ----------------------------------------------------------------------------------------------------

    @Tag("HN-08")
    @Test
    void file_writtenToAHotPath_isHandedOverBeforeTheNextCall_andItsFailureIsTold() throws IOException {
        Path workspace = Files.createDirectories(directory.resolve("work"));
        var taken = new CopyOnWriteArrayList<String>();
        var hooks = new TurnHooks(
                List.of("apps/*"),
                path -> {
                    taken.add(path.toString());
                    return path.endsWith("bad") ? Optional.of("it is bad") : Optional.empty();
                },
                written -> Optional.empty());
        var outcomes = new CopyOnWriteArrayList<ToolOutcome>();
        var session = session(
                thinking(turn -> {
                    outcomes.add(turn.tools().call("write", "{\"name\":\"good\"}"));
                    assertThat(taken).containsExactly("apps/good");
                    outcomes.add(turn.tools().call("write", "{\"name\":\"bad\"}"));
                }),
                TurnSettings.standard().workspace(workspace).hooks(hooks),
                new Writer(workspace));
        assertThat(session.ask("hello").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(outcomes.getFirst().error()).isFalse();
        assertThat(outcomes.getLast().error()).isTrue();
        assertThat(outcomes.getLast().text()).contains("apps/bad", "it is bad");
    }

    @Tag("HN-08")
    @Test
    void findings_leadToOneMoreRound_verbatim_andAFailingValidatorOpensTheGate() throws IOException {
        Path workspace = Files.createDirectories(directory.resolve("work"));
        var asked = new CopyOnWriteArrayList<String>();
        var hooks = new TurnHooks(List.of("apps/*"), path -> Optional.empty(), written -> {
            if (asked.size() > 2) {
                throw new IllegalStateException("the validator is broken");
            }
            return Optional.of("line 1: missing semicolon");
        });
        var session = session(
                thinking(turn -> {
                    asked.add(turn.asked().getLast().text());
                    var unused = turn.tools().call("write", "{\"name\":\"file" + asked.size() + "\"}");
                    turn.emit(new TurnEvent.Text("round " + asked.size() + ". "));
                }),
                TurnSettings.standard().workspace(workspace).hooks(hooks),
                new Writer(workspace));
        var reply = session.ask("write it");
        assertThat(reply.text()).isEqualTo("round 1. round 2. ");
        assertThat(asked).containsExactly("write it", "line 1: missing semicolon");
        assertThat(session.ask("again").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(asked).hasSize(3);
        Station.events(session).await("Noticed", "validator_failed");
    }

    /** Writes files. */
    public static final class Writer {
        private final Path workspace;

        Writer(Path workspace) {
            this.workspace = workspace;
        }

        @AgentTool("Writes a file")
        public String write(String name) throws IOException {
            Files.writeString(Files.createDirectories(workspace.resolve("apps")).resolve(name), name);
            return "written";
        }
    }

    /** Two tools. */
    public static final class Doors {
        @AgentTool("Opens")
        public String open() {
            return "opened";
        }

        @AgentTool("Is secret")
        public String secret() {
            return "it was withheld and ran";
        }
    }
}
