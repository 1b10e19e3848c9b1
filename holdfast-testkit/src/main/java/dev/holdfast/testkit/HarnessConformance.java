package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.Agent;
import dev.holdfast.Author;
import dev.holdfast.Beat;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.EventListener;
import dev.holdfast.HoldfastException;
import dev.holdfast.Journal;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.SessionEvent;
import dev.holdfast.SessionName;
import dev.holdfast.SteerAnswer;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import dev.holdfast.TranscriptTurn;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What every harness must do (HN-11), seen through the public surface: a host, a session, and a scripted thinker behind the
 * harness. Extend it, give it the harness, and run it. Needs JUnit and AssertJ, which the testkit does not bring along.
 */
public abstract class HarnessConformance {
    private static final SessionName NAME = new SessionName("held");
    private static final int PATIENCE_SECONDS = 60;
    /** Words that no thinker would say by itself. */
    private static final String MARK = "marigold";

    @TempDir
    protected Path directory;

    private HarnessStage stage;
    private Holdfast host;
    private Session session;
    private Heard heard;
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final CountDownLatch second = new CountDownLatch(1);

    /** The harness, on an empty directory of its own. */
    protected abstract HarnessStage stage(Path directory);

    /** A journal on that directory; called again after it was closed, the same one. */
    protected abstract Journal journal(Path directory);

    /** How the host runs. */
    protected Options options() {
        return Options.standard();
    }

    @BeforeEach
    public final void openTheStage() {
        stage = stage(directory);
        open();
    }

    private void open() {
        host = Holdfast.open(journal(directory.resolve("data")), options());
        session = host.session(NAME, agent());
        heard = new Heard();
        var unused = session.events(0, heard);
    }

    @AfterEach
    public final void closeTheStage() {
        second.countDown();
        stage.close();
        host.close();
    }

    private Agent agent() {
        return stage.agent(tool("first"), tool("second"));
    }

    /** Answers with its name and input; {@code first} only once {@code second} has been called. */
    private Tool tool(String name) {
        var spec = new ToolSpec(
                name,
                "The " + name + " one",
                "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}");
        return new Tool() {
            @Override
            public ToolSpec spec() {
                return spec;
            }

            @Override
            public ToolEffects effects() {
                return ToolEffects.READ;
            }

            @Override
            public ToolAnswer call(ToolCall call) throws InterruptedException {
                calls.add(name + " " + call.input());
                if (name.equals("second")) {
                    second.countDown();
                } else if (call.input().contains("waits")) {
                    second.await();
                }
                return ToolAnswer.text(name + " was called");
            }
        };
    }

    // ---- what it says ---------------------------------------------------------------------------------------------

    @Test
    @Tag("HN-01")
    public void text_ofTheAnswer_reachesWatchersInOrderAndTheReplyWhole() {
        var reply = ask("[[say one two three]]");
        assertThat(reply.outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(reply.text()).isEqualTo("one two three");
        heard.awaitSettled(1);
        assertThat(heard.text(1)).isEqualTo("one two three");
    }

    @Test
    @Tag("HN-07")
    public void text_ofTwoTurns_goesToItsOwnTurn() {
        ask("[[say one]]");
        assertThat(ask("[[say two]]").text()).isEqualTo("two");
        heard.awaitSettled(2);
        assertThat(heard.text(1)).isEqualTo("one");
        assertThat(heard.text(2)).isEqualTo("two");
    }

    @Test
    @Tag("HN-01")
    public void usage_ofATurn_isReported() {
        assertThat(ask("hello").usage().outputTokens()).isPositive();
    }

    @Test
    @Tag("HN-01")
    @Tag("HN-07")
    public void error_ofTheModel_failsItsTurnAndDoesNotWedgeTheNext() {
        var failed = ask("[[error 400]]");
        assertThat(failed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(failed.detail()).isNotEmpty();
        if (stage.throwing().isPresent()) {
            assertThat(ask(stage.throwing().get()).outcome()).isEqualTo(Outcome.FAILED);
        }
        assertThat(ask("[[say fine]]").text()).isEqualTo("fine");
    }

    @Test
    @Tag("HN-03")
    public void beats_comeOncePerTurn_understandingOncePerSession() {
        ask("[[tool " + stage.tool("second") + " {\"text\":\"a\"}]] [[say done]]");
        ask("hello again");
        heard.awaitSettled(2);
        assertThat(heard.beats(1))
                .as("of the first turn")
                .doesNotHaveDuplicates()
                .startsWith(Beat.UNDERSTANDING)
                .contains(Beat.BUILDING, Beat.ASSEMBLING)
                .endsWith(Beat.FINISHING);
        assertThat(heard.beats(2))
                .as("of the second turn")
                .doesNotHaveDuplicates()
                .doesNotContain(Beat.UNDERSTANDING)
                .endsWith(Beat.FINISHING);
    }

    @Test
    @Tag("HN-03")
    public void beats_ofATurnThatFails_doNotSayThatItFinishes() {
        assertThat(ask("[[error 400]]").outcome()).isEqualTo(Outcome.FAILED);
        heard.awaitSettled(1);
        assertThat(heard.beats(1)).doesNotContain(Beat.FINISHING);
    }

    // ---- what comes meanwhile -------------------------------------------------------------------------------------

    @Test
    @Tag("HN-02")
    public void steer_inARunningTurn_isAnsweredTruthfully() {
        long first = send("[[gate a]] [[tool " + stage.tool("second") + " {\"text\":\"a\"}]]");
        reached("a");
        var answering = session.steerAsync(Message.of("the word is " + MARK));
        heard.await("SteerPlanned", 1);
        settle(answering);
        stage.gate("a").open();
        var answer = now(answering);
        var steered = reply(first + 1);
        assertThat(stage.shown()).as("what the thinker was shown").contains(MARK);
        assertThat(steered.outcome()).isEqualTo(Outcome.ANSWERED);
        boolean inThatTurn = steered.turn() == reply(first).turn();
        assertThat(inThatTurn).as("settled in the turn it was steered into").isEqualTo(answer == SteerAnswer.LANDED);
        assertThat(answer).isEqualTo(stage.landsSteers() ? SteerAnswer.LANDED : SteerAnswer.QUEUED);
    }

    @Test
    @Tag("HN-02")
    public void interrupt_endsTheTurnAsCancelled_andTheNextIsAnswered() {
        long first = send("[[gate a]] [[say too late]]");
        reached("a");
        session.interrupt();
        assertThat(reply(first).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(ask("[[say fine]]").text()).isEqualTo("fine");
        assertThat(heard.noticed("abandoned")).as("it ended by itself").isFalse();
    }

    // ---- tools ----------------------------------------------------------------------------------------------------

    @Test
    @Tag("HN-02")
    @Tag("TL-01")
    public void tools_shownToTheThinker_areExactlyThoseBound() {
        ask("hello");
        assertThat(stage.tools()).containsExactlyInAnyOrder("first", "second");
    }

    @Test
    @Tag("TL-09")
    public void calls_inParallel_eachGetsItsOwnAnswer() {
        var text = stage.callsInParallel() ? "waits" : "goes";
        var reply = ask("M [[tool " + stage.tool("first") + " {\"text\":\"" + text + "\"}]] [[tool+ "
                + stage.tool("second") + " {\"text\":\"b\"}]]");
        assertThat(reply.text()).isEqualTo("echo: M (first was called; second was called)");
        assertThat(calls).hasSize(2);
    }

    @Test
    @Tag("TL-05")
    public void call_ofAToolThatIsNotThere_isAnErrorToTheModelAndRunsNothing() {
        var reply = ask("M [[tool " + stage.tool("third") + " {\"text\":\"x\"}]]");
        assertThat(reply.outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(reply.text().toLowerCase(Locale.ROOT)).contains("no ").contains("third");
        assertThat(calls).isEmpty();
    }

    // ---- memory ---------------------------------------------------------------------------------------------------

    @Test
    @Tag("HN-05")
    @Tag("HN-15")
    public void conversation_isKnownInTheNextTurn_andAfterARestart() {
        ask(Message.of("the word is " + MARK + " [[say ok]]").author(new Author("ann", "web")));
        ask("what was it?");
        assertThat(stage.shown()).contains(MARK);
        restart();
        ask("and now?");
        assertThat(stage.shown()).containsOnlyOnce("the word is " + MARK).contains("what was it?");
    }

    @Test
    @Tag("HN-15")
    public void host_closedInMidTurn_theTurnIsAnsweredOnce() {
        long first = send("the word is " + MARK + " [[gate a]] [[say done]]");
        reached("a");
        host.close();
        stage.gate("a").open();
        open();
        assertThat(reply(first).outcome()).isEqualTo(Outcome.ANSWERED);
        ask("hello");
        assertThat(stage.shown()).containsOnlyOnce("the word is " + MARK);
        assertThat(heard.settled(first)).isEqualTo(1);
    }

    /** Some say at once that a message has landed, some with their next step. */
    private static void settle(CompletionStage<SteerAnswer> answering) {
        try {
            var unused = answering.toCompletableFuture().get(1, TimeUnit.SECONDS);
        } catch (TimeoutException e) { // it comes with the next step
        } catch (ExecutionException | InterruptedException e) {
            throw new AssertionError("a steer was not answered", e);
        }
    }

    @Test
    @Tag("HN-04")
    public void regenerate_throwsTheAnswerAwayForEverybody() {
        ask("M1 good morning");
        ask("M2 [[say a bad " + MARK + "]]");
        var again = number(now(session.regenerate()));
        assertThat(reply(again).outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(stage.shown()).as("shown when it answers again").contains("M1 good morning");
        assertThat(occurrences(stage.shown(), "M2 "))
                .as("the message is there once")
                .isEqualTo(1);
        assertThat(occurrences(stage.shown(), MARK)).as("in the message alone").isEqualTo(1);
        ask("M3 and on");
        assertThat(occurrences(stage.shown(), "M2 ")).isEqualTo(1);
        assertThat(transcript()).extracting(TranscriptTurn::number).containsExactly(1L, 3L, 4L);
    }

    @Test
    @Tag("HN-04")
    public void deleteFrom_isForgottenByTheThinkerAndTheTranscript() {
        ask("M1 good morning");
        ask("M2 the word is " + MARK);
        ask("M3 thanks");
        now(session.deleteFrom(2));
        ask("M4 still there?");
        assertThat(stage.shown())
                .contains("M1 good morning")
                .doesNotContain(MARK)
                .doesNotContain("M3 thanks");
        assertThat(transcript()).extracting(TranscriptTurn::number).containsExactly(1L, 4L);
        assertThat(transcript().getFirst().entries().getFirst().text()).isEqualTo("M1 good morning");
    }

    @Test
    @Tag("HN-14")
    public void fork_knowsTheConversationUpToItsPoint_andLeavesTheOriginalAlone() {
        ask(Message.of("M1 the word is " + MARK).author(new Author("ann", "web")));
        ask(Message.of("M2 never mind").author(new Author("bob", "web")));
        ask("M3 later");
        var name = new SessionName("fork");
        assertThat(now(session.fork(name, OptionalLong.of(2)))).isEqualTo(2);
        assertThat(now(session.fork(name, OptionalLong.of(2)))).as("again").isEqualTo(2);
        assertThatThrownBy(() -> now(session.fork(name, OptionalLong.of(1))))
                .hasMessageContaining("exists and is not this fork");
        var fork = host.session(name, agent());
        assertThat(fork.ask("M4 what was it?").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(stage.shown())
                .contains("M1 the word is " + MARK, "ann", "bob")
                .contains("M2 never mind")
                .doesNotContain("M3 later");
        assertThat(now(fork.transcript(0, 10)))
                .extracting(TranscriptTurn::number)
                .containsExactly(1L, 2L, 3L);
        ask("M5 here again");
        assertThat(stage.shown()).contains("M3 later").doesNotContain("M4 what");
        assertThat(transcript()).hasSize(4);
    }

    @Test
    @Tag("HN-05")
    public void retelling_isBounded_theNewestKeptAndTheCutSaid() {
        ask("M1 " + "a".repeat(60_000) + " " + MARK + " [[say ok]]");
        ask("M2 " + "b".repeat(60_000) + " [[say ok]]");
        var name = new SessionName("fork");
        now(session.fork(name, OptionalLong.empty()));
        host.session(name, agent()).ask("M3 go on [[say ok]]");
        assertThat(stage.shown()).contains("M2 bbb").doesNotContain(MARK).contains("left out");
    }

    @Test
    @Tag("HN-04")
    public void swap_toAnotherThinkerAndBack_goesOnWithTheConversation() {
        var other = ScriptedThinker.named("another");
        ask("M1 the word is " + MARK);
        now(session.swap(other.agent()));
        assertThat(ask("M2 what was it?").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(other.shown().getLast()).contains(MARK);
        now(session.swap(agent()));
        ask("M3 and now?");
        assertThat(stage.shown()).contains(MARK, "M2 what was it?");
        heard.await("HarnessSwapped", 2);
    }

    @Test
    @Tag("HN-15")
    public void agent_killedInMidTurn_isAskedWhatItHas_andTheMessageIsAnsweredOnce() {
        long first = send("the word is " + MARK + " [[once k [[gate a]]]] [[gate a]] [[say done]]");
        reached("a");
        assertThat(stage.kill()).as("it has a process").isTrue();
        stage.gate("a").open();
        assertThat(reply(first).outcome()).isEqualTo(Outcome.ANSWERED);
        ask("hello");
        assertThat(stage.shown()).containsOnlyOnce("the word is " + MARK);
        assertThat(heard.settled(first)).isEqualTo(1);
    }

    @Test
    @Tag("HN-06")
    public void option_thatTheHarnessDoesNotKnow_isRefusedByNameBeforeAnythingIsStarted() {
        assertThatThrownBy(() -> otherWith("colour", "red"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("colour")
                .hasMessageContaining("max_turns");
        assertThatThrownBy(() -> otherWith("max_turns", "0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("max_turns");
    }

    // ---- helpers --------------------------------------------------------------------------------------------------

    private void otherWith(String option, String value) {
        var agent = stage.agentWithOption(option, value).orElseThrow();
        var unused = host.session(new SessionName("other"), agent);
    }

    private void restart() {
        host.close();
        open();
    }

    private List<TranscriptTurn> transcript() {
        return now(session.transcript(0, 100));
    }

    private Reply ask(String text) {
        return reply(send(text));
    }

    private Reply ask(Message message) {
        return reply(number(session.send(message)));
    }

    private long send(String text) {
        return number(session.send(Message.of(text).policy(DeliveryPolicy.NEXT)));
    }

    private static long number(Receipt receipt) {
        assertThat(receipt).isInstanceOf(Receipt.Stored.class);
        return ((Receipt.Stored) receipt).number();
    }

    private Reply reply(long number) {
        return now(session.reply(number));
    }

    private void reached(String gate) {
        try {
            assertThat(stage.gate(gate).awaitReached(Duration.ofSeconds(PATIENCE_SECONDS)))
                    .as("the thinker came to gate " + gate)
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    private static int occurrences(String text, String part) {
        int count = 0;
        for (int at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
            count++;
        }
        return count;
    }

    private static <T> T now(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError("it hangs: " + stage, e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof HoldfastException failure) {
                throw failure;
            }
            throw new AssertionError("it failed: " + e.getCause(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    /** What a watcher of the session was told. */
    private static final class Heard implements EventListener {
        private final List<SessionEvent> events = new ArrayList<>();
        private final List<Said> said = new ArrayList<>();

        private record Said(long turn, String fragment) {}

        private final List<Seen> seen = new ArrayList<>();

        private record Seen(long turn, Beat beat) {}

        @Override
        public synchronized void onEvent(SessionEvent event) {
            events.add(event);
            notifyAll();
        }

        @Override
        public synchronized void onText(long turn, String fragment) {
            said.add(new Said(turn, fragment));
        }

        @Override
        public synchronized void onBeat(long turn, Beat beat) {
            seen.add(new Seen(turn, beat));
        }

        synchronized String text(long turn) {
            var all = new StringBuilder();
            said.stream().filter(s -> s.turn() == turn).forEach(s -> all.append(s.fragment()));
            return all.toString();
        }

        synchronized List<Beat> beats(long turn) {
            return seen.stream().filter(s -> s.turn() == turn).map(Seen::beat).toList();
        }

        synchronized boolean noticed(String what) {
            return events.stream()
                    .anyMatch(e -> e.type().equals("Noticed") && e.body().contains("\"" + what + "\""));
        }

        /** In how many ends of turns the message is. */
        synchronized long settled(long message) {
            return events.stream()
                    .filter(e -> e.type().equals("TurnSettled"))
                    .filter(e -> e.body().contains("{\"number\":" + message + ","))
                    .count();
        }

        void awaitSettled(int count) {
            await("TurnSettled", count);
        }

        synchronized void await(String type, int count) {
            try {
                for (int i = 0; i < PATIENCE_SECONDS * 10; i++) {
                    if (events.stream().filter(e -> e.type().equals(type)).count() >= count) {
                        return;
                    }
                    wait(100);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            throw new AssertionError("no " + count + " events of type " + type + " came; these did: "
                    + events.stream().map(SessionEvent::type).toList());
        }
    }
}
