package dev.holdfast;

/** The one exception family of Holdfast's API. Its message says what was wrong, with which value, and what to do. */
public class HoldfastException extends RuntimeException {
    private static final long serialVersionUID = 1;

    public HoldfastException(String message) {
        super(message);
    }

    public HoldfastException(String message, Throwable cause) {
        super(message, cause);
    }
}
