package dev.holdfast.it;

import dev.holdfast.testkit.Conversation;
import dev.holdfast.testkit.Conversation.Block;
import dev.holdfast.testkit.Conversation.Role;
import dev.holdfast.testkit.Conversation.Spoken;
import dev.holdfast.testkit.ModelReply;
import dev.holdfast.testkit.ModelRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What the model does, by the first word of the message it is to answer, the same for both scripted parts. The words of the
 * messages themselves hold no directives, so that a message told again is only words. Whatever is not named is answered
 * {@code ok}; no answer repeats a message, so that each marker can be counted.
 */
final class ModelScript {
    private static final String FALLBACK = "[[say ok]]";

    private final Map<String, List<String>> rounds = new LinkedHashMap<>();
    private final Map<String, List<String>> parts = new LinkedHashMap<>();

    /** @param calls the directives of each model call of the turn; all but the last end with a tool call */
    ModelScript on(String beginning, String... calls) {
        rounds.put(beginning, List.of(calls));
        return this;
    }

    /** As {@link #on}, for a message with this in its words or in the host's own block. */
    ModelScript onPart(String part, String... calls) {
        parts.put(part, List.of(calls));
        return this;
    }

    /** For the scripted agent. */
    String scenario() {
        var text = new StringBuilder();
        rounds.forEach((beginning, calls) -> text.append("begins ")
                .append(beginning)
                .append(": ")
                .append(String.join(" ", calls))
                .append('\n'));
        parts.forEach((part, calls) -> text.append("contains ")
                .append(part)
                .append(": ")
                .append(String.join(" ", calls))
                .append('\n'));
        return text.append("any: ").append(FALLBACK).append('\n').toString();
    }

    /** For the scripted Messages API. */
    Optional<ModelReply> reply(ModelRequest request) {
        if (request.kind() != ModelRequest.Kind.MAIN) {
            return Optional.empty();
        }
        List<String> words = List.of();
        int round = 0;
        for (Spoken message : request.conversation().messages()) {
            if (message.role() == Role.ASSISTANT) {
                round += message.blocks().stream().anyMatch(Block.ToolUse.class::isInstance) ? 1 : 0;
                continue;
            }
            var own = ownWords(message);
            if (!own.isEmpty()) {
                words = own;
                round = 0;
            }
        }
        String asked = words.size() > 1 ? words.get(words.size() - 2) : "";
        var all = String.join("\n", words);
        var calls = Stream.concat(
                        parts.entrySet().stream().filter(rule -> all.contains(rule.getKey())),
                        rounds.entrySet().stream().filter(rule -> asked.startsWith(rule.getKey())))
                .findFirst()
                .map(Map.Entry::getValue)
                .orElse(List.of());
        String steps = round < calls.size() ? calls.get(round) : "";
        boolean calling = steps.contains("[[tool");
        return Optional.of(new ModelReply(calling ? steps : steps + FALLBACK));
    }

    /** Words that came as a message of their own: neither folded into a turn nor the agent's reminders. */
    private static List<String> ownWords(Spoken message) {
        var own = new ArrayList<String>();
        for (Block block : message.blocks()) {
            if (block instanceof Block.Text text
                    && !text.text().startsWith("<system-reminder>\nThe user sent a new message")) {
                own.addAll(new Conversation(List.of(new Spoken(Role.USER, List.of(block)))).userTexts());
            }
        }
        return own;
    }
}
