package dev.holdfast.claude;

import dev.holdfast.testkit.AgentProfile;
import dev.holdfast.testkit.Conversation;
import dev.holdfast.testkit.ScriptedAgent;
import java.util.stream.Stream;

/** Hooks and permission questions with the scripted agent. */
class ScriptedHooksTest extends HookConformance {
    static Stream<String> versions() {
        return Stream.of("2.1.197", "2.1.332");
    }

    @Override
    ClaudeCodeAgent agent(String version) {
        var profile = version.equals("2.1.197") ? AgentProfile.v197() : AgentProfile.v332();
        var script = ScriptedAgent.of(profile).modelLog(home.resolve("model.log"));
        return ClaudeCode.agent()
                .binary(script.writeExecutable(home.resolve("claude")))
                .inference("http://127.0.0.1:9", "sk-fake");
    }

    @Override
    String shown() {
        return Conversation.allIn(home.resolve("model.log")).getLast().toString();
    }
}
