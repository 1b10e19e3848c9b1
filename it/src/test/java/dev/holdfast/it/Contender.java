package dev.holdfast.it;

import dev.holdfast.testkit.Conversation;
import dev.holdfast.testkit.Gate;
import dev.holdfast.testkit.ModelRequest;
import dev.holdfast.testkit.ScriptedAgent;
import dev.holdfast.testkit.ScriptedMessagesApi;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** The agents of the conformance suite. */
enum Contender {
    SCRIPTED(""),
    CLI_2_1_197("2.1.197"),
    CLI_2_1_332("2.1.332");

    private final String version;

    Contender(String version) {
        this.version = version;
    }

    boolean scripted() {
        return version.isEmpty();
    }

    /** The agent with a model behind it that follows the script. */
    Mind mind(Path directory, ModelScript script) throws IOException {
        return scripted() ? new ScriptedMind(directory, script) : new RealMind(binary(version), script);
    }

    private static Path binary(String version) {
        Path binary = Path.of(System.getProperty("holdfast.root"), "target", "cli", version, "claude");
        if (!Files.isExecutable(binary)) {
            Assumptions.abort("npm is unreachable: " + binary + " is not there; fetch it with dev/fetch-cli");
        }
        return binary;
    }

    /** An agent's program, and what its model was shown. */
    interface Mind extends AutoCloseable {
        Path program();

        String url();

        Gate gate(String name);

        /** What the model was shown, call by call. */
        List<Conversation> conversations();

        /** What the model was shown in its last call, as JSON text. */
        String lastShown() throws IOException;

        @Override
        void close();
    }

    private static final class ScriptedMind implements Mind {
        private final ScriptedAgent agent;
        private final Path program;
        private final Path log;

        ScriptedMind(Path directory, ModelScript script) throws IOException {
            log = directory.resolve("model.log");
            Path scenario = Files.writeString(directory.resolve("scenario"), script.scenario());
            agent = ScriptedAgent.worst()
                    .modelLog(log)
                    .scenario(scenario)
                    .gates(Files.createDirectory(directory.resolve("gates")));
            program = agent.writeExecutable(directory.resolve("agent"));
        }

        @Override
        public Path program() {
            return program;
        }

        @Override
        public String url() {
            return "http://127.0.0.1:9";
        }

        @Override
        public Gate gate(String name) {
            return agent.gate(name);
        }

        @Override
        public List<Conversation> conversations() {
            return Conversation.allIn(log);
        }

        @Override
        public String lastShown() throws IOException {
            return Files.readAllLines(log).getLast();
        }

        @Override
        public void close() {}
    }

    private static final class RealMind implements Mind {
        private final Path program;
        private final ScriptedMessagesApi api;

        RealMind(Path program, ModelScript script) {
            this.program = program;
            this.api = ScriptedMessagesApi.start(script::reply);
        }

        @Override
        public Path program() {
            return program;
        }

        @Override
        public String url() {
            return api.url().toString();
        }

        @Override
        public Gate gate(String name) {
            return api.gate(name);
        }

        @Override
        public List<Conversation> conversations() {
            return api.requests().stream().map(ModelRequest::conversation).toList();
        }

        @Override
        public String lastShown() {
            return api.requests().stream()
                    .filter(request -> request.kind() == ModelRequest.Kind.MAIN)
                    .toList()
                    .getLast()
                    .body();
        }

        @Override
        public void close() {
            api.close();
        }
    }
}
