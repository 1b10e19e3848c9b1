package dev.holdfast.mcp;

import dev.holdfast.HoldfastException;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolSpec;
import io.modelcontextprotocol.spec.McpSchema;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.json.JsonMapper;

/** One tool of a remote server. */
final class RemoteTool implements Tool {
    private static final int NAME_MAX = 64;
    private static final int DESCRIPTION_MAX = 20_000;

    private final RemoteLine line;
    private final String remoteName;
    private final ToolSpec spec;
    private final boolean idempotent;
    private final Optional<Duration> deadline;
    private final JsonMapper json;

    RemoteTool(RemoteLine line, McpSchema.Tool offered, RemoteOptions options, JsonMapper json) {
        this.line = line;
        this.json = json;
        this.remoteName = offered.name();
        this.deadline = options.deadline();
        var hints = offered.annotations();
        boolean believed = options.hintsTrusted() && hints != null;
        this.idempotent = believed && Boolean.TRUE.equals(hints.idempotentHint());
        String name = options.prefix() + offered.name().replaceAll("[^A-Za-z0-9_-]", "_");
        String about = offered.description() == null ? "" : offered.description();
        try {
            this.spec = new ToolSpec(
                    name.length() > NAME_MAX ? name.substring(0, NAME_MAX) : name,
                    about.length() > DESCRIPTION_MAX ? about.substring(0, DESCRIPTION_MAX) : about,
                    json.writeValueAsString(
                            offered.inputSchema() == null ? Map.of("type", "object") : offered.inputSchema()),
                    believed ? effects(hints) : ToolEffects.DESTRUCTIVE);
        } catch (IllegalArgumentException e) {
            throw new HoldfastException("a tool of " + line + " cannot be taken over: " + e.getMessage(), e);
        }
    }

    /** As MCP has it: what does not say that it only reads, and not that it destroys nothing, may destroy something. */
    private static ToolEffects effects(McpSchema.ToolAnnotations hints) {
        if (Boolean.TRUE.equals(hints.readOnlyHint())) {
            return ToolEffects.READ;
        }
        return Boolean.FALSE.equals(hints.destructiveHint()) ? ToolEffects.WRITE : ToolEffects.DESTRUCTIVE;
    }

    @Override
    public ToolSpec spec() {
        return spec;
    }

    @Override
    public boolean idempotent() {
        return idempotent;
    }

    @Override
    public Optional<Duration> deadline() {
        return deadline;
    }

    @Override
    public ToolAnswer call(ToolCall call) throws InterruptedException {
        boolean twice = idempotent || spec.effects() == ToolEffects.READ;
        return switch (line.call(remoteName, RemoteTools.arguments(call.input()), twice, call::progress)) {
            case RemoteLine.Came came -> answer(came.result());
            case RemoteLine.Failed failed -> ToolAnswer.error(failed.why());
        };
    }

    private ToolAnswer answer(McpSchema.CallToolResult result) {
        var blocks = new ArrayList<ToolAnswer.Block>();
        if (result.content() != null) {
            result.content().forEach(content -> blocks.add(block(content)));
        }
        var structured = Optional.ofNullable(result.structuredContent()).map(json::writeValueAsString);
        if (blocks.isEmpty()) {
            blocks.add(new ToolAnswer.Text(structured.orElse("")));
        }
        return new ToolAnswer(List.copyOf(blocks), structured, Boolean.TRUE.equals(result.isError()));
    }

    private static ToolAnswer.Block block(McpSchema.Content content) {
        return switch (content) {
            case McpSchema.TextContent text -> new ToolAnswer.Text(text.text());
            case McpSchema.ImageContent image -> {
                try {
                    yield new ToolAnswer.Image(image.mimeType(), image.data());
                } catch (IllegalArgumentException e) {
                    yield new ToolAnswer.Text("(an image that cannot be shown: " + e.getMessage() + ")");
                }
            }
            case McpSchema.EmbeddedResource embedded
            when embedded.resource() instanceof McpSchema.TextResourceContents text -> new ToolAnswer.Text(text.text());
            case McpSchema.ResourceLink link -> new ToolAnswer.Text("(a resource: " + link.uri() + ")");
            default -> new ToolAnswer.Text("(something that cannot be shown: " + content.type() + ")");
        };
    }
}
