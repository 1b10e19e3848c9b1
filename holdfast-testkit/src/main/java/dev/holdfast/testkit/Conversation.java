package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a model was shown in one call: the messages in order. The only proof that a message was delivered once is that
 * it stands here once.
 *
 * <p>The same shape comes from the {@link ScriptedMessagesApi} (the real command line in front of it) and from the
 * model log of the {@link ScriptedAgent}, so one assertion serves both. Immutable.
 *
 * @param messages in the order in which the model reads them
 */
public record Conversation(List<Spoken> messages) {
    private static final String REMINDER = "<system-reminder>";
    private static final String REMINDER_END = "</system-reminder>";
    private static final String FOLDED = "<system-reminder>\nThe user sent a new message while you were working:\n";

    /**
     * @param messages in the order in which the model reads them
     */
    public Conversation {
        messages = List.copyOf(messages);
    }

    /** Who speaks. Tool results are spoken by the user. */
    public enum Role {
        /** The user, and everything the agent puts into the user's mouth: reminders and tool results. */
        USER,
        /** The model itself, or a filler that the agent wrote in its name. */
        ASSISTANT
    }

    /** One message: a role and its blocks in order. */
    public record Spoken(Role role, List<Block> blocks) {
        /** One message: a role and its blocks in order. */
        public Spoken {
            blocks = List.copyOf(blocks);
        }
    }

    /** One block of a message. */
    public sealed interface Block {
        /** Words. */
        record Text(String text) implements Block {}

        /** A tool call of the model, its input as JSON text. */
        record ToolUse(String id, String tool, String inputJson) implements Block {}

        /** What a tool answered; on newer versions folded messages are among its texts. */
        record ToolResult(String toolUseId, List<String> texts, boolean isError) implements Block {
            /** What a tool answered. */
            public ToolResult {
                texts = List.copyOf(texts);
            }
        }

        /** Anything else, such as an image, as JSON text. */
        record Other(String type, String json) implements Block {}
    }

    /**
     * Reads the {@code messages} member of one JSON object: a line of the agent's model log, or a request body.
     *
     * @param json one JSON object
     * @return the conversation in it
     */
    public static Conversation of(String json) {
        return of(Json.read(json));
    }

    static Conversation of(Json body) {
        List<Spoken> messages = new ArrayList<>();
        for (Json message : body.at("messages").list()) {
            Role role = message.text("role", "").equals("assistant") ? Role.ASSISTANT : Role.USER;
            messages.add(new Spoken(role, blocks(message.at("content"))));
        }
        return new Conversation(messages);
    }

    /**
     * All calls that a scripted agent recorded, oldest first. A torn last line (the agent was killed) is left out.
     *
     * @param modelLog the file given to {@link ScriptedAgent#modelLog(Path)}; may not exist yet
     * @return one conversation for each model call
     */
    public static List<Conversation> allIn(Path modelLog) {
        if (!Files.exists(modelLog)) {
            return List.of();
        }
        List<Conversation> all = new ArrayList<>();
        try {
            String text = Files.readString(modelLog, StandardCharsets.UTF_8);
            int from = 0;
            for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
                all.add(of(text.substring(from, end)));
                from = end + 1;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the model log " + modelLog, e);
        }
        return all;
    }

    /**
     * The newest call that a scripted agent recorded.
     *
     * @param modelLog the file given to {@link ScriptedAgent#modelLog(Path)}
     * @return empty when the model was never called
     */
    public static Optional<Conversation> lastIn(Path modelLog) {
        List<Conversation> all = allIn(modelLog);
        return all.isEmpty() ? Optional.empty() : Optional.of(all.getLast());
    }

    /**
     * The user's words in order: text blocks of the user, messages that were folded into a running turn unwrapped, the
     * agent's own reminders and tool results left out, line breaks at the end cut off.
     *
     * @return never null, may be empty
     */
    public List<String> userTexts() {
        List<String> texts = new ArrayList<>();
        for (Spoken message : messages) {
            if (message.role() == Role.USER) {
                texts.addAll(userTexts(message));
            }
        }
        return texts;
    }

    static List<String> userTexts(Spoken message) {
        List<String> texts = new ArrayList<>();
        for (Block block : message.blocks()) {
            switch (block) {
                case Block.Text text -> own(text.text()).ifPresent(texts::add);
                case Block.ToolResult result -> texts.addAll(folded(result));
                case Block.ToolUse use -> {}
                case Block.Other other -> {}
            }
        }
        return texts;
    }

    /**
     * How often a marker stands in what the user is made to say, reminders and summaries included, answers of tools
     * and of the model excluded.
     *
     * @param marker a text that occurs nowhere else, not empty
     * @return 0 or more
     */
    public int count(String marker) {
        if (marker.isEmpty()) {
            throw new IllegalArgumentException("The marker is empty; give a text that can be counted");
        }
        int count = 0;
        for (Spoken message : messages) {
            if (message.role() != Role.USER) {
                continue;
            }
            for (Block block : message.blocks()) {
                if (block instanceof Block.Text text) {
                    count += occurrences(text.text(), marker);
                } else if (block instanceof Block.ToolResult result) {
                    for (String folded : folded(result)) {
                        count += occurrences(folded, marker);
                    }
                }
            }
        }
        return count;
    }

    /**
     * Whether each marker stands exactly once in what the user said, and in this order.
     *
     * @param markers texts that occur nowhere else
     * @return true when all of it holds
     */
    public boolean holdsOnceInOrder(String... markers) {
        String all = String.join("\n", userTexts());
        int from = -1;
        for (String marker : markers) {
            int at = all.indexOf(marker);
            if (count(marker) != 1 || at <= from) {
                return false;
            }
            from = at;
        }
        return true;
    }

    /**
     * The results of tools in order.
     *
     * @return never null, may be empty
     */
    public List<Block.ToolResult> toolResults() {
        return blocks(Block.ToolResult.class);
    }

    /**
     * The tool calls of the model in order.
     *
     * @return never null, may be empty
     */
    public List<Block.ToolUse> toolUses() {
        return blocks(Block.ToolUse.class);
    }

    /**
     * The model's own words in order, fillers of the agent included.
     *
     * @return never null, may be empty
     */
    public List<String> assistantTexts() {
        List<String> texts = new ArrayList<>();
        for (Spoken message : messages) {
            for (Block block : message.blocks()) {
                if (message.role() == Role.ASSISTANT && block instanceof Block.Text text) {
                    texts.add(text.text());
                }
            }
        }
        return texts;
    }

    private <B extends Block> List<B> blocks(Class<B> kind) {
        List<B> found = new ArrayList<>();
        for (Spoken message : messages) {
            for (Block block : message.blocks()) {
                if (kind.isInstance(block)) {
                    found.add(kind.cast(block));
                }
            }
        }
        return found;
    }

    /** The messages folded into a tool's result, as newer versions do it. */
    static List<String> folded(Block.ToolResult result) {
        List<String> folded = new ArrayList<>();
        for (String text : result.texts()) {
            if (isFolded(text)) {
                own(text).ifPresent(folded::add);
            }
        }
        return folded;
    }

    static boolean isFolded(String text) {
        return text.startsWith(FOLDED);
    }

    /** The user's words in one text block: unwrapped when folded, nothing when it is a reminder. */
    static Optional<String> own(String text) {
        String stripped = text.stripTrailing();
        if (!stripped.startsWith(REMINDER)) {
            return Optional.of(stripped);
        }
        if (!isFolded(text)) {
            int end = stripped.indexOf(REMINDER_END);
            String behind = end < 0
                    ? ""
                    : stripped.substring(end + REMINDER_END.length()).strip();
            return behind.isEmpty() ? Optional.empty() : own(behind);
        }
        String inside = stripped.substring(FOLDED.length());
        int end = inside.indexOf(REMINDER_END);
        String body = end < 0 ? inside : inside.substring(0, end);
        int explanation = body.lastIndexOf("\n\n");
        return Optional.of((explanation < 0 ? body : body.substring(0, explanation)).strip());
    }

    private static int occurrences(String text, String marker) {
        int count = 0;
        for (int at = text.indexOf(marker); at >= 0; at = text.indexOf(marker, at + marker.length())) {
            count++;
        }
        return count;
    }

    private static List<Block> blocks(Json content) {
        if (content instanceof Json.Str string) {
            return List.of(new Block.Text(string.value()));
        }
        List<Block> blocks = new ArrayList<>();
        for (Json block : content.list()) {
            blocks.add(block(block));
        }
        return blocks;
    }

    private static Block block(Json block) {
        return switch (block.text("type", "")) {
            case "text" -> new Block.Text(block.text("text", ""));
            case "tool_use" ->
                new Block.ToolUse(
                        block.text("id", ""),
                        block.text("name", ""),
                        block.at("input").write());
            case "tool_result" ->
                new Block.ToolResult(
                        block.text("tool_use_id", ""), resultTexts(block.at("content")), block.isTrue("is_error"));
            default -> new Block.Other(block.text("type", ""), block.write());
        };
    }

    private static List<String> resultTexts(Json content) {
        if (content instanceof Json.Str string) {
            return List.of(string.value());
        }
        List<String> texts = new ArrayList<>();
        for (Json part : content.list()) {
            texts.add(part.text("text", ""));
        }
        return texts;
    }
}
