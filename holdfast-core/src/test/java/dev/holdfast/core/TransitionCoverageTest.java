package dev.holdfast.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Every row of every transition table is visited by some test of this module. Runs last; a change outside the tables
 * fails the test that made it. */
@Order(Integer.MAX_VALUE)
class TransitionCoverageTest {
    private static final List<Transitions<?, ?>> TABLES = List.of(Phase.TABLE, TurnStage.TABLE, AgentStage.TABLE);

    @Test
    void tables_afterAllTests_haveNoRowThatWasNeverVisited() {
        var missing = new TreeSet<>(scenarios());
        missing.removeAll(SeenTransitions.testClasses());
        assumeTrue(
                missing.isEmpty(),
                "coverage of the transition tables is judged only when the whole module is tested; not run: "
                        + missing);

        var unvisited = new ArrayList<String>();
        for (Transitions<?, ?> table : TABLES) {
            table.rows().forEach(row -> unvisited.add(SeenTransitions.name(table, row)));
        }
        unvisited.removeAll(SeenTransitions.rows());
        assertThat(unvisited)
                .as("rows no test visits: add a scenario, or remove the row")
                .isEmpty();
    }

    /** The test classes beside this one that drive the core, slow ones left out: a quick build does not run them. */
    private static Set<String> scenarios() {
        var names = new TreeSet<String>();
        try {
            var here = Path.of(TransitionCoverageTest.class
                    .getResource("TransitionCoverageTest.class")
                    .toURI());
            try (var files = Files.newDirectoryStream(here.resolveSibling(""), "*Test.class")) {
                for (Path file : files) {
                    var name = file.getFileName().toString().replace(".class", "");
                    var type = Class.forName(TransitionCoverageTest.class.getPackageName() + "." + name);
                    if (CoreScenario.class.isAssignableFrom(type) && !type.isAnnotationPresent(Tag.class)) {
                        names.add(type.getName());
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (URISyntaxException | ClassNotFoundException e) {
            throw new IllegalStateException("the test classes cannot be listed", e);
        }
        assertThat(names).as("test classes found").hasSizeGreaterThan(5);
        return names;
    }
}
