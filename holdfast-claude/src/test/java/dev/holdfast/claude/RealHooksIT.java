package dev.holdfast.claude;

import dev.holdfast.testkit.ScriptedMessagesApi;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;

/** Hooks and permission questions with the real programs that {@code dev/fetch-cli} fetched, against a scripted model. */
class RealHooksIT extends HookConformance {
    private ScriptedMessagesApi api;

    static Stream<String> versions() {
        return RealAgentIT.binaries();
    }

    @BeforeEach
    void needsThePrograms() {
        Assumptions.assumeTrue(
                versions().allMatch(path -> Files.isExecutable(Path.of(path))),
                "npm is unreachable: dev/fetch-cli fetched no real program");
        api = ScriptedMessagesApi.start();
    }

    @AfterEach
    void closeApi() {
        if (api != null) {
            api.close();
        }
    }

    @Override
    ClaudeCodeAgent agent(String version) {
        return ClaudeCode.agent()
                .binary(Path.of(version))
                .model("claude-sonnet-4-5")
                .inference(api.url().toString(), "sk-fake");
    }

    @Override
    String shown() {
        return api.lastConversation().orElseThrow().toString();
    }
}
