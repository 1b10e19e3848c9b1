package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What only the real programs do: they call read-only tools side by side, and keep much in files. */
@ParameterizedClass
@EnumSource(value = Contender.class, mode = EnumSource.Mode.EXCLUDE, names = "SCRIPTED")
@Execution(ExecutionMode.CONCURRENT)
final class RealToolsIT {
    private static final Pattern SAVED = Pattern.compile("saved to:? (/\\S+\\.(json|txt))");

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
    void fiveMegabytes_answered_areTakenWholeAndTheTurnGoesOn() throws Exception {
        stage.with(new ModelScript().on("M1", ToolsStage.call("much", "{}")), (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 tell me all").outcome()).isEqualTo(Outcome.ANSWERED);
            var result = ToolsStage.results(mind).getLast();
            assertThat(result.isError()).isFalse();
            String text = String.join("", result.texts());
            var file = SAVED.matcher(text); // it keeps so much in a file, and shows where
            assertThat(file.find()).as("where it was saved, in: %s", text).isTrue();
            assertThat(Files.readString(Path.of(file.group(1)))).contains(ToolsStage.MUCH);
        });
    }

    @Tag("TL-09")
    @Test
    void parallelCalls_answeredInReverseOrder_reachTheirCallers() throws Exception {
        var both = "[[tool mcp__host__first {}]] [[tool+ mcp__host__second {}]]";
        stage.with(new ModelScript().on("M1", both), (session, mind) -> {
            assertThat(ToolsStage.ask(session, "M1 both").outcome()).isEqualTo(Outcome.ANSWERED);
            assertThat(stage.desk.order).containsExactly("second", "first");
            ToolsStage.eachAnswersItsCaller(mind, 2);
        });
    }
}
