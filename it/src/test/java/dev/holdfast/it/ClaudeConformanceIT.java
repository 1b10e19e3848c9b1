package dev.holdfast.it;

import dev.holdfast.Agent;
import dev.holdfast.Journal;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.Conversation;
import dev.holdfast.testkit.Gate;
import dev.holdfast.testkit.HarnessConformance;
import dev.holdfast.testkit.HarnessStage;
import dev.holdfast.testkit.ScriptedAgent;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import tools.jackson.databind.json.JsonMapper;

/** The conformance suite with Claude Code's harness, and the scripted agent as its process. */
@Tag("HN-11")
final class ClaudeConformanceIT extends HarnessConformance {
    private static final String PREFIX = "mcp__host__";

    @Override
    protected HarnessStage stage(Path directory) {
        return new ChildStage(directory);
    }

    @Override
    protected Journal journal(Path directory) {
        return SqliteJournal.at(directory);
    }

    /** Not for Claude Code: what it can be told are methods, so that there is no name to refuse. */
    @Override
    public void option_thatTheHarnessDoesNotKnow_isRefusedByNameBeforeAnythingIsStarted() {}

    /** The scripted agent as the suite sees it. */
    private static final class ChildStage implements HarnessStage {
        private final Set<String> gates = new HashSet<>();
        private final ScriptedAgent agent;
        private final Path program;
        private final Path log;

        ChildStage(Path directory) {
            log = directory.resolve("model.log");
            try {
                agent = ScriptedAgent.of(AgentProfile.v197())
                        .modelLog(log)
                        .gates(Files.createDirectories(directory.resolve("gates")));
                program = agent.writeExecutable(directory.resolve("agent"));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public Agent agent(Object... tools) {
            return ClaudeCode.agent()
                    .binary(program)
                    .inference("http://127.0.0.1:9", "sk-fake")
                    .tools(tools);
        }

        @Override
        public String tool(String name) {
            return PREFIX + name;
        }

        @Override
        public Gate gate(String name) {
            gates.add(name);
            return agent.gate(name);
        }

        @Override
        public String shown() {
            var all = new StringBuilder();
            Conversation.lastIn(log)
                    .orElseThrow()
                    .messages()
                    .forEach(m -> all.append(m.blocks()).append('\n'));
            return all.toString();
        }

        @Override
        public List<String> tools() {
            try {
                var calls = Files.readAllLines(log);
                var names = new ArrayList<String>();
                JsonMapper.shared()
                        .readTree(calls.getLast())
                        .path("tools")
                        .forEach(tool -> names.add(tool.asString().substring(PREFIX.length())));
                return names;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public boolean callsInParallel() {
            return false;
        }

        @Override
        public boolean kill() {
            var mine = ProcessHandle.current()
                    .descendants()
                    .filter(p -> p.info().arguments().stream()
                            .flatMap(Arrays::stream)
                            .anyMatch(a -> a.contains(log.toString())))
                    .toList();
            mine.forEach(ProcessHandle::destroyForcibly);
            return true;
        }

        @Override
        public void close() {
            gates.forEach(name -> agent.gate(name).open());
        }
    }
}
