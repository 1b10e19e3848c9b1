package dev.holdfast;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a tool answers: blocks of text and images for the model, structured data beside them, or an error (TL-10).
 * Immutable, thread-safe. How much a host passes on is bounded ({@link #BYTES_MAX} unless the host says otherwise): a
 * larger answer reaches the agent as an error that says so.
 *
 * @param blocks what the model reads, in this order
 * @param structured data as JSON text, for agents whose protocol takes data: an object as a rule. The blocks should say
 *     the same for the others, as {@link #json} sees to
 * @param error whether the call failed
 */
public record ToolAnswer(List<Block> blocks, Optional<String> structured, boolean error) {
    /** The most that a host passes on unless it says otherwise, in bytes as {@link #bytes} counts them: 16 MiB. */
    public static final long BYTES_MAX = 16L << 20;

    /** A piece of an answer. */
    public sealed interface Block {}

    /** Words. */
    public record Text(String text) implements Block {}

    /**
     * A picture.
     *
     * @param mimeType such as {@code image/png}
     * @param data its bytes in base64, with padding and without line breaks
     */
    public record Image(String mimeType, String data) implements Block {
        private static final Pattern MIME = Pattern.compile("image/[a-z0-9][a-z0-9.+-]{0,63}");

        public Image {
            if (!MIME.matcher(mimeType).matches()) {
                throw new IllegalArgumentException(
                        "'" + Printable.shortened(mimeType) + "' is no media type of an image; use one like image/png");
            }
            if (data.isEmpty() || data.length() % 4 != 0 || !base64(data)) {
                throw new IllegalArgumentException("the data of an image must be base64 with padding and without line"
                        + " breaks, and not empty; got " + data.length() + " characters: use ToolAnswer.image");
            }
        }

        private static boolean base64(String data) {
            int end = data.endsWith("==") ? data.length() - 2 : data.endsWith("=") ? data.length() - 1 : data.length();
            return data.substring(0, end)
                    .chars()
                    .allMatch(c -> (c >= 'A' && c <= 'Z')
                            || (c >= 'a' && c <= 'z')
                            || (c >= '0' && c <= '9')
                            || c == '+'
                            || c == '/');
        }
    }

    public ToolAnswer {
        blocks = List.copyOf(blocks);
    }

    public static ToolAnswer text(String text) {
        return new ToolAnswer(List.of(new Text(text)), Optional.empty(), false);
    }

    public static ToolAnswer error(String text) {
        return new ToolAnswer(List.of(new Text(text)), Optional.empty(), true);
    }

    /** Structured data, and the same as text for agents that take none. {@code json} must be JSON; it is not checked. */
    public static ToolAnswer json(String json) {
        return new ToolAnswer(List.of(new Text(json)), Optional.of(json), false);
    }

    /** A picture, by its bytes. */
    public static ToolAnswer image(String mimeType, byte[] bytes) {
        var image =
                new Image(mimeType.toLowerCase(Locale.ROOT), Base64.getEncoder().encodeToString(bytes));
        return new ToolAnswer(List.of(image), Optional.empty(), false);
    }

    /** Several blocks. */
    public static ToolAnswer of(Block... blocks) {
        return new ToolAnswer(List.of(blocks), Optional.empty(), false);
    }

    /** The text of all text blocks, a line break between two. */
    public String text() {
        return blocks.stream()
                .filter(Text.class::isInstance)
                .map(block -> ((Text) block).text())
                .collect(Collectors.joining("\n"));
    }

    /** How much this is: its texts and structured data in UTF-8, its images in base64. */
    public long bytes() {
        long all = structured.map(ToolAnswer::utf8).orElse(0L);
        for (Block block : blocks) {
            all += switch (block) {
                case Text text -> utf8(text.text());
                case Image image ->
                    (long) image.data().length() + image.mimeType().length();
            };
        }
        return all;
    }

    /**
     * This answer when it has at most {@code max} {@link #bytes}, else an error that says so.
     *
     * @param max at least 0
     */
    public ToolAnswer within(long max) {
        long size = bytes();
        return size <= max
                ? this
                : error("the tool's answer has " + size + " bytes, more than the " + max
                        + " that this host passes on; what the tool did is done. Ask it for less");
    }

    private static long utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
