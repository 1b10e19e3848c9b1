package dev.holdfast.it;

import dev.holdfast.Agent;
import dev.holdfast.Journal;
import dev.holdfast.TurnSettings;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.testkit.Gate;
import dev.holdfast.testkit.HarnessConformance;
import dev.holdfast.testkit.HarnessStage;
import dev.holdfast.testkit.ScriptedThinker;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;

/** The conformance suite with the thinker of the testkit, which runs in this process. */
@Tag("HN-11")
final class ThinkerConformanceTest extends HarnessConformance {
    @Override
    protected HarnessStage stage(Path directory) {
        return new ThinkerStage(ScriptedThinker.right());
    }

    @Override
    protected Journal journal(Path directory) {
        return SqliteJournal.at(directory);
    }

    /** Not for a thinker without a process: that one dies with its host only. */
    @Override
    public void agent_killedInMidTurn_isAskedWhatItHas_andTheMessageIsAnsweredOnce() {}

    /** A scripted thinker as the suite sees it. */
    static final class ThinkerStage implements HarnessStage {
        private final ScriptedThinker thinker;
        private final Set<String> gates = new HashSet<>();

        ThinkerStage(ScriptedThinker thinker) {
            this.thinker = thinker;
        }

        @Override
        public Agent agent(Object... tools) {
            return thinker.agent(tools);
        }

        @Override
        public Optional<Agent> agentWithOption(String name, String value) {
            return Optional.of(thinker.agent(TurnSettings.standard().options(Map.of(name, value))));
        }

        @Override
        public Gate gate(String name) {
            gates.add(name);
            return thinker.gate(name);
        }

        @Override
        public Optional<String> throwing() {
            return Optional.of("[[throw a fit]]");
        }

        @Override
        public String shown() {
            return thinker.shown().getLast();
        }

        @Override
        public List<String> tools() {
            return thinker.tools();
        }

        @Override
        public void close() {
            gates.forEach(name -> thinker.gate(name).open());
        }
    }
}
