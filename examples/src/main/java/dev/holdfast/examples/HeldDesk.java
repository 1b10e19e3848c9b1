package dev.holdfast.examples;

import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.claude.HeldOptions;
import dev.holdfast.claude.HeldSessions;
import java.nio.file.Path;

/** Claude Code held without a journal: two turns of one conversation, on one warm process. */
final class HeldDesk {
    private HeldDesk() {}

    public static void main(String[] args) throws InterruptedException {
        // readme: held
        var agent = ClaudeCode.agent().systemPrompt("You answer for the order desk.");
        try (var sessions = HeldSessions.open(HeldOptions.in(Path.of("held")))) {
            var handle = sessions.handle(); // or new SessionHandle("…") with the string of one you stored
            var first = sessions.run(handle, agent, "Where is order 7?");
            System.out.println(first.text());
            var second = sessions.run(handle, agent, "And order 8?");
            System.out.println(second.text() + ", cost in millionths of a dollar: " + second.costMicros());
        }
        // readme: end
    }
}
