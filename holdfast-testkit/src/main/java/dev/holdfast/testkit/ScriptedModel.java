package dev.holdfast.testkit;

import dev.holdfast.testkit.Conversation.Block;
import dev.holdfast.testkit.Conversation.Role;
import dev.holdfast.testkit.Conversation.Spoken;
import java.util.ArrayList;
import java.util.List;

/**
 * The model that both scripted parts share: a pure function from what it is shown to what it does.
 *
 * <p>It obeys the {@link Directive}s in the words of the newest message. They are one program for the whole turn: each
 * tool call ends one model call, and the next call goes on behind it. Messages folded in on the way append theirs. A
 * program that says nothing ends with the default answer, {@code echo: TEXT (tool results)}.
 *
 * <p>When several messages stand unanswered in one user message, the directives of the last one count: earlier ones
 * belong to turns that failed, were interrupted, or were only told.
 */
final class ScriptedModel {
    private ScriptedModel() {}

    /**
     * What the model does in this call.
     *
     * @param steps directives in order, the last ones {@code tool} when the call ends with tool calls
     * @param answer the text to end with, empty when the steps say something themselves or end with a tool
     */
    record Plan(List<Directive> steps, String answer) {
        boolean callsTools() {
            return !steps.isEmpty() && isTool(steps.getLast());
        }
    }

    static boolean isTool(Directive directive) {
        return directive.is("tool") || directive.is("tool+");
    }

    /** @param standing directives of a scenario, put behind those of the message */
    static Plan next(Conversation shown, List<Directive> standing) {
        List<Directive> program = new ArrayList<>();
        List<String> words = new ArrayList<>();
        List<String> results = new ArrayList<>();
        int rounds = 0;
        for (Spoken message : shown.messages()) {
            if (message.role() == Role.ASSISTANT) {
                rounds += callsTool(message) ? 1 : 0;
                continue;
            }
            List<String> entry = lastEntry(message);
            if (!entry.isEmpty()) {
                program.clear();
                results.clear();
                words = entry;
                rounds = 0;
                for (String text : entry) {
                    program.addAll(Directive.in(text));
                }
                program.addAll(standing);
            }
            for (String folded : folded(message)) {
                program.addAll(Directive.in(folded));
            }
            if (entry.isEmpty()) {
                addResults(message, results);
            }
        }
        return plan(program, rounds, words, results);
    }

    /** The words that decide: of the newest message with words of its own, its last entry. Empty when there are none. */
    static List<String> deciding(Conversation shown) {
        List<String> words = List.of();
        for (Spoken message : shown.messages()) {
            if (message.role() == Role.USER) {
                List<String> entry = lastEntry(message);
                words = entry.isEmpty() ? words : entry;
            }
        }
        return words;
    }

    private static Plan plan(List<Directive> program, int rounds, List<String> words, List<String> results) {
        int at = 0;
        for (int round = 0; round < rounds && at < program.size(); round++) {
            at = endOfRound(program, at);
        }
        int end = endOfRound(program, at);
        List<Directive> steps = List.copyOf(program.subList(at, end));
        boolean speaks = false;
        for (Directive step : steps) {
            speaks |= step.is("say") || isTool(step);
        }
        return new Plan(steps, speaks ? "" : echo(words, results));
    }

    /** The index behind the next tool call, calls joined by {@code tool+} included; the end when there is none. */
    private static int endOfRound(List<Directive> program, int from) {
        for (int at = from; at < program.size(); at++) {
            if (isTool(program.get(at))) {
                int end = at + 1;
                while (end < program.size() && program.get(end).is("tool+")) {
                    end++;
                }
                return end;
            }
        }
        return program.size();
    }

    private static String echo(List<String> words, List<String> results) {
        StringBuilder answer = new StringBuilder("echo: ");
        int own = words.size() > 1 ? words.size() - 1 : words.size();
        for (int i = 0; i < own; i++) {
            answer.append(i == 0 ? "" : " ").append(Directive.textWithout(words.get(i)));
        }
        if (!results.isEmpty()) {
            answer.append(" (").append(String.join("; ", results)).append(')');
        }
        return answer.toString();
    }

    private static boolean callsTool(Spoken message) {
        for (Block block : message.blocks()) {
            if (block instanceof Block.ToolUse) {
                return true;
            }
        }
        return false;
    }

    private static void addResults(Spoken message, List<String> results) {
        for (Block block : message.blocks()) {
            if (block instanceof Block.ToolResult result) {
                for (String text : result.texts()) {
                    String shown = text.strip();
                    if (!shown.startsWith("<system-reminder>")) {
                        results.add(shown);
                    }
                }
            }
        }
    }

    private static List<String> folded(Spoken message) {
        List<String> folded = new ArrayList<>();
        for (Block block : message.blocks()) {
            if (block instanceof Block.Text text && Conversation.isFolded(text.text())) {
                Conversation.own(text.text()).ifPresent(folded::add);
            } else if (block instanceof Block.ToolResult result) {
                folded.addAll(Conversation.folded(result));
            }
        }
        return folded;
    }

    /**
     * The words of the last message that was merged into this user message: agents end each merged one but the last
     * with a line break, or set a reminder between.
     */
    private static List<String> lastEntry(Spoken message) {
        List<String> entry = new ArrayList<>();
        boolean ended = false;
        for (Block block : message.blocks()) {
            if (!(block instanceof Block.Text text) || Conversation.isFolded(text.text())) {
                continue;
            }
            String own = Conversation.own(text.text()).orElse("");
            if (own.isEmpty()) {
                ended = !entry.isEmpty();
                continue;
            }
            if (ended) {
                entry.clear();
            }
            entry.add(own);
            ended = text.text().endsWith("\n");
        }
        return entry;
    }
}
