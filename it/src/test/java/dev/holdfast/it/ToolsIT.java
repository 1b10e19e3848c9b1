package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Author;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.ToolProgress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What host tools may do and answer, the same with every contender. */
@ParameterizedClass
@EnumSource(Contender.class)
@Execution(ExecutionMode.CONCURRENT)
final class ToolsIT {
    @Parameter
    Contender contender;

    @TempDir
    Path directory;

    private ToolsStage stage;

    @BeforeEach
    void set() {
        stage = new ToolsStage(contender, directory);
    }

    @Tag("TL-10")
    @Test
    void image_answered_isShownToTheModel() throws Exception {
        stage.with(new ModelScript().on("M1", ToolsStage.call("picture", "{}")), (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 show me").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(mind.lastShown()).contains("one pixel", "image/png", ToolsStage.PIXEL);
        });
    }

    @Tag("TL-10")
    @Test
    void structuredDataInUnicode_answered_isShownToTheModel() throws Exception {
        stage.with(
                new ModelScript().on("M1", ToolsStage.call("weather", "{\"place\":\"Zürich ✓\"}")), (session, mind) -> {
                    assertThat(ToolsStage.ask(session, "M1 how is it?").outcome())
                            .isEqualTo(Outcome.ANSWERED);
                    assertThat(ToolsStage.results(mind)).singleElement().satisfies(result -> {
                        assertThat(result.isError()).isFalse();
                        assertThat(result.texts().getFirst())
                                .contains("{\"place\":\"Zürich ✓ \u2603 \ud83d\ude80\",\"degrees\":-3}");
                    });
                    assertThat(stage.desk.authors).extracting(Author::name).containsExactly("ada");
                });
    }

    @Tag("TL-05")
    @Test
    void inputThatBreaksTheSchema_isAnsweredWithTheField() throws Exception {
        var broken = ToolsStage.call(
                "order", "{\"lines\":[{\"article\":\"pen\",\"count\":1},{\"article\":\"ink\",\"count\":\"two\"}]}");
        stage.with(new ModelScript().on("M1", broken), (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 order").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(ToolsStage.results(mind)).singleElement().satisfies(result -> {
                assertThat(result.isError()).isTrue();
                assertThat(result.texts().getFirst())
                        .contains("'lines[1].count'", "string found, integer expected", "given: \"two\"");
            });
        });
    }

    @Tag("TL-06")
    @Test
    void interrupt_whileAToolRuns_cancelsAndInterruptsIt() throws Exception {
        stage.with(new ModelScript().on("M1", ToolsStage.call("hang", "{}")), (session, mind) -> {
            var receipt = (Receipt.Accepted) session.send(Message.of("M1 wait"));
            assertThat(stage.desk.stuck.await(ToolsStage.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            session.interrupt();
            assertThat(stage.desk.interrupted.await(ToolsStage.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(session.reply(receipt.number())
                            .toCompletableFuture()
                            .get(ToolsStage.PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .outcome())
                    .isEqualTo(Outcome.CANCELLED);
            assertThat(ToolsStage.ask(session, "M2 and now?").outcome()).isEqualTo(Outcome.ANSWERED);
        });
    }

    @Tag("TL-06")
    @Test
    void tool_thatOutlivesItsDeadline_isStoppedAndTheModelIsTold() throws Exception {
        stage.with(new ModelScript().on("M1", ToolsStage.call("slow", "{}")), (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 try").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(stage.desk.interrupted.await(ToolsStage.PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
            assertThat(ToolsStage.results(mind)).singleElement().satisfies(result -> {
                assertThat(result.isError()).isTrue();
                assertThat(result.texts().getFirst()).contains("did not answer within PT1S");
            });
        });
    }

    @Tag("TL-02")
    @Test
    void tool_namedLikeABuiltIn_isTheHosts() throws Exception {
        stage.with(
                new ModelScript().on("M1", ToolsStage.call("Bash", "{\"command\":\"touch /tmp/x\"}")),
                (session, mind) -> {
                    assertThat(ToolsStage.ask(session, "M1 run").outcome()).isEqualTo(Outcome.ANSWERED);
                    assertThat(ToolsStage.results(mind))
                            .singleElement()
                            .satisfies(result ->
                                    assertThat(result.texts().getFirst()).contains("not run: touch /tmp/x"));
                });
    }

    @Tag("TL-10")
    @Test
    void progress_reported_isToldLiveAndDisturbsNothing() throws Exception {
        stage.with(new ModelScript().on("M1", ToolsStage.call("steps", "{}")), (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 go").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(stage.progress).extracting(ToolProgress::note).containsExactly("step 1", "step 2", "step 3");
            assertThat(stage.progress).allSatisfy(p -> assertThat(p.tool()).isEqualTo("steps"));
            assertThat(ToolsStage.results(mind))
                    .singleElement()
                    .satisfies(result -> assertThat(result.texts().getFirst()).contains("three steps"));
        });
    }
}
