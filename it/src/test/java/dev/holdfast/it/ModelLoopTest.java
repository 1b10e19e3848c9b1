package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.holdfast.AgentTool;
import dev.holdfast.AgentUnavailable;
import dev.holdfast.Outcome;
import dev.holdfast.Session;
import dev.holdfast.Skill;
import dev.holdfast.ToolAnswer;
import dev.holdfast.TurnSettings;
import dev.holdfast.model.ModelLoop;
import dev.holdfast.testkit.ModelRequest;
import dev.holdfast.testkit.ScriptedMessagesApi;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the model loop does besides what every harness must. */
final class ModelLoopTest {
    @TempDir
    Path directory;

    private final ScriptedMessagesApi api = ScriptedMessagesApi.start();
    private Station station;

    @BeforeEach
    void open() {
        station = new Station(directory);
    }

    @AfterEach
    void close() {
        api.close();
        station.close();
    }

    private ModelLoop loop() {
        return ModelLoop.agent()
                .baseUrl(api.url().toString())
                .apiKey("sk-canary")
                .retries(3, Duration.ofMillis(1))
                .tools(new Tools());
    }

    private Session session(ModelLoop loop) {
        return station.host().session(Station.NAME, loop);
    }

    @Test
    void request_thatMaySucceedLater_isSentAgainWithinItsBound() {
        var session = session(loop());
        assertThat(session.ask("M1 [[error 529 2]] [[say fine]]").text()).isEqualTo("fine");
        assertThat(api.requests()).hasSize(3);
        var events = Station.events(session);
        events.await("Noticed", "sent again", "529");
        var failed = session.ask("M2 [[error 429]]");
        assertThat(failed.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(failed.detail()).contains("429");
        assertThat(api.requests()).hasSize(3 + 4);
    }

    @Test
    void key_thatNoHeaderCanCarry_isRefusedWithoutShowingIt() {
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> loop().apiKey("sk-canary\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("line end")
                .hasMessageNotContaining("canary");
    }

    @Test
    void request_thatCannotSucceed_isSentOnce() {
        assertThat(session(loop()).ask("[[error 400]]").detail()).contains("400");
        assertThat(api.requests()).hasSize(1);
    }

    @Tag("HN-12")
    @Test
    void key_thatIsRefused_parksTheSessionWithATypedError() {
        var session = session(loop());
        var unused = session.send(dev.holdfast.Message.of("[[error 401]]"));
        Station.awaitStatus(session, s -> s.phase().equals("PARKED"));
        assertThatThrownBy(() -> session.ask("hello"))
                .isInstanceOfSatisfying(
                        AgentUnavailable.class, e -> assertThat(e.reason()).isEqualTo("not_logged_in"))
                .hasMessageNotContaining("sk-canary");
    }

    @Test
    void answer_thatBreaksOffBehindItsFirstWords_failsTheTurnAndIsNotAskedForTwice() {
        var session = session(loop());
        var reply = session.ask("M1 [[say half]] [[break]]");
        assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(session.ask("M2 [[say fine]]").text()).isEqualTo("fine");
    }

    @Tag("TL-10")
    @Test
    void imageAndData_ofAnAnswer_reachTheModelAsBlocksInOrder() {
        assertThat(session(loop()).ask("M1 [[tool look {}]]").outcome()).isEqualTo(Outcome.ANSWERED);
        assertThat(api.requests().getLast().body())
                .contains("\"content\":[{\"type\":\"text\",\"text\":\"a dot\"},"
                        + "{\"type\":\"image\",\"source\":{\"type\":\"base64\","
                        + "\"media_type\":\"image/png\",\"data\":\"AQID\"}},"
                        + "{\"type\":\"text\",\"text\":\"{\\\"size\\\":1}\"}]");
    }

    @Tag("TL-10")
    @Test
    void data_thatTheWordsSayAlready_isNotSaidTwice() {
        session(loop()).ask("M1 [[tool weigh {}]]");
        assertThat(api.requests().getLast().body()).contains("\"content\":\"{\\\"grams\\\":7}\"");
    }

    @Tag("HN-06")
    @Test
    void steps_overTheirLimit_endTheTurnAsOneAtItsLimit_andItGoesOn() {
        var session = session(loop().maxSteps(2));
        var call = "[[tool step {\"text\":\"x\"}]] ";
        var reply = session.ask("M1 " + call + call + call + "[[say done]]");
        assertThat(reply.outcome()).isEqualTo(Outcome.TURN_LIMIT);
        Station.events(session).await("TurnOpened", "AFTER_LIMIT");
    }

    @Tag("HN-06")
    @Test
    void steps_ofATurnsOption_areFewer() {
        var session = session(loop().settings(TurnSettings.standard().options(Map.of("max_turns", "1"))));
        assertThat(session.ask("M1 [[tool step {\"text\":\"x\"}]] [[say done]]").outcome())
                .isEqualTo(Outcome.TURN_LIMIT);
    }

    @Tag("HN-02")
    @Test
    void briefAndSkills_areInWhatTheModelIsTold() {
        var settings = TurnSettings.standard()
                .brief("You answer for the order desk.")
                .skills(List.of(new Skill("refunds", "when money goes back", "Ask for the number first.")));
        session(loop().settings(settings)).ask("hello");
        assertThat(api.requests().getLast().body())
                .contains("You answer for the order desk.", "refunds", "Ask for the number first.");
    }

    @Tag("HS-15")
    @Test
    void words_ofASender_stayUnchangedAndWhoSaidThemStandsBehind() {
        session(loop()).ask("\uFEFF/clear @secret.txt \u00e4\uD83D\uDE00");
        ModelRequest request = api.requests().getLast();
        assertThat(request.conversation().userTexts())
                .containsExactly("\uFEFF/clear @secret.txt \u00e4\uD83D\uDE00", "[holdfast] message from host");
    }

    @Tag("HN-02")
    @Test
    void interrupt_abortsTheOpenRequest() throws Exception {
        var session = session(loop());
        var unused = session.send(dev.holdfast.Message.of("[[say begins]] [[hang]]"));
        var heard = new Texts();
        var unusedToo = session.events(0, heard);
        heard.await("begins");
        session.interrupt();
        assertThat(Station.now(session.reply(1)).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(session.ask("M2 [[say fine]]").text()).isEqualTo("fine");
    }

    @Test
    void agent_shownAsText_doesNotShowItsKey() {
        assertThat(loop().toString()).doesNotContain("sk-canary");
    }

    /** Words as they come. */
    private static final class Texts implements dev.holdfast.EventListener {
        private final StringBuilder all = new StringBuilder();

        @Override
        public void onEvent(dev.holdfast.SessionEvent event) {}

        @Override
        public synchronized void onText(long turn, String fragment) {
            all.append(fragment);
            notifyAll();
        }

        synchronized void await(String wanted) throws InterruptedException {
            for (int i = 0; i < 200 && all.indexOf(wanted) < 0; i++) {
                wait(100);
            }
            assertThat(all.toString()).contains(wanted);
        }
    }

    /** The tools of this host. */
    public static final class Tools {
        @AgentTool("Does a step")
        public String step(String text) {
            return "did " + text;
        }

        @AgentTool("Looks")
        public ToolAnswer look() {
            var image = (ToolAnswer.Image)
                    ToolAnswer.image("image/png", new byte[] {1, 2, 3}).blocks().getFirst();
            return new ToolAnswer(List.of(new ToolAnswer.Text("a dot"), image), Optional.of("{\"size\":1}"), false);
        }

        @AgentTool("Weighs")
        public ToolAnswer weigh() {
            return ToolAnswer.json("{\"grams\":7}");
        }
    }
}
