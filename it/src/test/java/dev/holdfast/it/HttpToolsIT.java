package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Author;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.ToolProgress;
import dev.holdfast.mcp.ToolServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The same tools through the loopback server, with the real programs: the scripted agent speaks no HTTP. */
@ParameterizedClass
@EnumSource(value = Contender.class, mode = EnumSource.Mode.EXCLUDE, names = "SCRIPTED")
@Execution(ExecutionMode.CONCURRENT)
final class HttpToolsIT {
    @Parameter
    Contender contender;

    @TempDir
    Path directory;

    private final ToolServer server = ToolServer.open();
    private ToolsStage stage;

    @BeforeEach
    void set() {
        stage = new ToolsStage(contender, directory, Optional.of(server));
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Tag("TL-01")
    @Tag("TL-02")
    @Tag("TL-10")
    @Test
    void tools_overHttp_areCalledThroughTheSameDoor() throws Exception {
        var script = new ModelScript()
                .on("M1", ToolsStage.call("weather", "{\"place\":\"Zürich\"}"))
                .on("M2", ToolsStage.call("picture", "{}"))
                .on("M3", ToolsStage.call("order", "{\"lines\":[{\"article\":\"pen\"}]}"))
                .on("M4", ToolsStage.call("steps", "{}"));
        stage.with(script, (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 how is it?").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(ToolsStage.results(mind).getLast().texts().getFirst()).contains("\"degrees\":-3");
            assertThat(stage.desk.authors).extracting(Author::name).containsExactly("ada");
            assertThat(ToolsStage.ask(session, "M2 show me").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(mind.lastShown()).contains(ToolsStage.PIXEL);
            assertThat(ToolsStage.ask(session, "M3 order").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(ToolsStage.results(mind).getLast().texts().getFirst()).contains("'lines[0].count' is missing");
            assertThat(ToolsStage.ask(session, "M4 go").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(stage.progress).extracting(ToolProgress::note).containsExactly("step 1", "step 2", "step 3");
            var file = directory.resolve("data/agents/tools/tools/mcp.json");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------");
        });
    }

    @Tag("TL-06")
    @Test
    void interrupt_whileAToolRuns_cancelsItOverHttpToo() throws Exception {
        stage.with(new ModelScript().on("M1", ToolsStage.call("hang", "{}")), (session, mind) -> {
            session.send(Message.of("M1 wait"));
            assertThat(stage.desk.stuck.await(60, TimeUnit.SECONDS)).isTrue();
            session.interrupt();
            assertThat(stage.desk.interrupted.await(60, TimeUnit.SECONDS)).isTrue();
            assertThat(ToolsStage.ask(session, "M2 and now?").outcome()).isEqualTo(Outcome.ANSWERED);
        });
    }

    @Tag("TL-09")
    @Test
    void parallelCalls_answeredInReverseOrder_reachTheirCallersOverHttpToo() throws Exception {
        var both = "[[tool mcp__host__first {}]] [[tool+ mcp__host__second {}]]";
        stage.with(new ModelScript().on("M1", both), (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 both").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(stage.desk.order).containsExactly("second", "first");
            ToolsStage.eachAnswersItsCaller(mind, 2);
        });
    }
}
