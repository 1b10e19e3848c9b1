package dev.holdfast.examples;

import dev.holdfast.AgentTool;
import dev.holdfast.Describe;
import dev.holdfast.Message;
import dev.holdfast.Reply;
import dev.holdfast.ToolEffects;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import java.nio.file.Path;

/**
 * A held conversation with a tool, as the README shows it: what stands between {@code readme:} marks is compared with the
 * README by a test. Needs Claude Code, logged in; writes to the folder {@code data}.
 */
public final class OrderDesk {
    private OrderDesk() {}

    // readme: tools
    public static final class OrderTools {
        @AgentTool(value = "Where an order is", effects = ToolEffects.READ)
        public String locate(@Describe("number of the order") int order) {
            return "order " + order + " left the warehouse yesterday";
        }
    }
    // readme: end

    /** Asks one question, prints the answer, and leaves a message for later. */
    public static void main(String[] arguments) {
        // readme: conversation
        try (var holdfast = Holdfast.open(SqliteJournal.at(Path.of("data")))) {
            var agent = ClaudeCode.agent()
                    .systemPrompt("You answer for the order desk.")
                    .tools(new OrderTools());
            var session = holdfast.session("support-42", agent); // opens, or takes up again
            Reply reply = session.ask(Message.of("Where is order 7?").key("web-8812"));
            System.out.println(reply.outcome() + ": " + reply.text());
            session.send(Message.of("A refund has arrived").key("webhook-991")); // does not wait for the turn
        }
        // readme: end
    }
}
