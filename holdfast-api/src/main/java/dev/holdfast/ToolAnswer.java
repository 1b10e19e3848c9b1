package dev.holdfast;

/** What a tool answers: text for the model, marked as an error or not. Structured data is given as JSON text. */
public record ToolAnswer(String text, boolean error) {
    public static ToolAnswer text(String text) {
        return new ToolAnswer(text, false);
    }

    public static ToolAnswer error(String text) {
        return new ToolAnswer(text, true);
    }
}
