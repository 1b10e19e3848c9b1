package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The diagrams in the documents are generated from the transition tables. */
class StateDiagramTest {
    private static final String WRITE = "holdfast.write-diagrams";

    private record Machine(Transitions<?, ?> table, String start, List<String> ends, String about) {}

    private static final List<Machine> MACHINES = List.of(
            new Machine(
                    Phase.TABLE,
                    "OPEN",
                    List.of("CLOSED"),
                    "Whether a session lets turns start. Journaled: moved by `PhaseChanged` alone."),
            new Machine(
                    TurnStage.TABLE,
                    "NONE",
                    List.of(),
                    "Where a session's one turn stands. Journaled: each trigger is an event (`TurnOpened`,"
                            + " `ContinuationOpened`, `TurnReturned`, `InterruptAsked`, `TurnSettled`)."),
            new Machine(
                    AgentStage.TABLE,
                    "DOWN",
                    List.of(),
                    "Where this owner's incarnation of the agent stands. Not journaled: a new owner begins at DOWN."));

    @Test
    void diagrams_inTheDocuments_showTheTables() throws IOException {
        var file = Path.of(System.getProperty("basedir", "."))
                .resolve("../docs/state-machines.md")
                .normalize();
        var wanted = document();
        if (Boolean.getBoolean(WRITE)) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, wanted);
        }
        assertThat(Files.exists(file) ? Files.readString(file) : "")
                .as("%s; write it anew with: mvn -q -pl holdfast-core -am verify -D%s=true", file, WRITE)
                .isEqualTo(wanted);
    }

    private static String document() {
        var text = new StringBuilder("""
                # State machines

                Generated from the transition tables in `holdfast-core` and compared with them in the build. Do not edit:
                run `mvn -q -pl holdfast-core -am verify -Dholdfast.write-diagrams=true`.

                A transition that is not in its table throws; a row that no test visits fails the build.
                """);
        MACHINES.forEach(m -> diagram(text, m));
        return text.toString();
    }

    private static void diagram(StringBuilder text, Machine machine) {
        text.append("\n## ").append(machine.table().name()).append("\n\n");
        text.append(machine.about()).append("\n\n```mermaid\nstateDiagram-v2\n");
        text.append("    [*] --> ").append(machine.start()).append('\n');
        machine.table()
                .rows()
                .forEach(r -> text.append("    ")
                        .append(r.from())
                        .append(" --> ")
                        .append(r.to())
                        .append(" : ")
                        .append(r.trigger())
                        .append('\n'));
        machine.ends().forEach(end -> text.append("    ").append(end).append(" --> [*]\n"));
        text.append("```\n");
    }
}
