package dev.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The scripted agent beside the real command line of the version it plays: the same host, the same words, the same
 * script. What each prints, shows the model and writes into its record must be the same.
 */
@Tag("slow")
class RealCliComparisonTest {
    /** Does something with an agent and tells what it saw. */
    interface Script {
        List<String> run(Contender agent) throws IOException;
    }

    /** A script with a name for the report. */
    record Case(String name, Script script) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Arguments> all() {
        List<Arguments> all = new ArrayList<>();
        for (Case one : ComparisonScripts.all()) {
            all.add(Arguments.of("2.1.197", one));
            all.add(Arguments.of("2.1.332", one));
        }
        return all.stream();
    }

    @ParameterizedTest(name = "{1} {0}")
    @MethodSource("all")
    void scriptedAgent_besideTheRealOne_behavesTheSame(String version, Case one) throws IOException {
        Optional<Path> binary = Contender.binary(version);
        Assumptions.assumeTrue(
                binary.isPresent(), "No command line at target/cli/" + version + "; dev/fetch-cli fetches it");
        List<String> scripted;
        try (Contender agent = Contender.scripted(AgentProfile.parse(version))) {
            scripted = one.script().run(agent);
        }
        List<String> real;
        try (Contender agent = Contender.real(binary.orElseThrow())) {
            real = one.script().run(agent);
        }
        assertThat(String.join("\n", scripted)).isEqualTo(String.join("\n", real));
    }
}
