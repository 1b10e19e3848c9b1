package dev.holdfast.it;

import dev.holdfast.Agent;
import dev.holdfast.Journal;
import dev.holdfast.TurnSettings;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.model.ModelLoop;
import dev.holdfast.testkit.Gate;
import dev.holdfast.testkit.HarnessConformance;
import dev.holdfast.testkit.HarnessStage;
import dev.holdfast.testkit.ScriptedMessagesApi;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/** The conformance suite with the model loop, and a scripted Messages API on loopback. */
@Tag("HN-11")
final class ModelConformanceTest extends HarnessConformance {
    @Override
    protected HarnessStage stage(Path directory) {
        return new ModelStage();
    }

    @Override
    protected Journal journal(Path directory) {
        return SqliteJournal.at(directory);
    }

    /** Not for a thinker without a process: that one dies with its host only. */
    @Override
    public void agent_killedInMidTurn_isAskedWhatItHas_andTheMessageIsAnsweredOnce() {}

    /** The model loop as the suite sees it. */
    private static final class ModelStage implements HarnessStage {
        private final ScriptedMessagesApi api = ScriptedMessagesApi.start();
        private final Set<String> gates = new HashSet<>();

        private ModelLoop loop() {
            return ModelLoop.agent().baseUrl(api.url().toString()).apiKey("sk-fake");
        }

        @Override
        public Agent agent(Object... tools) {
            return loop().tools(tools);
        }

        @Override
        public Optional<Agent> agentWithOption(String name, String value) {
            return Optional.of(loop().settings(TurnSettings.standard().options(Map.of(name, value))));
        }

        @Override
        public Gate gate(String name) {
            gates.add(name);
            return api.gate(name);
        }

        @Override
        public String shown() {
            return api.requests().getLast().conversation().toString();
        }

        @Override
        public List<String> tools() {
            return api.requests().getLast().tools();
        }

        @Override
        public void close() {
            gates.forEach(name -> api.gate(name).open());
            api.close();
        }
    }
}
