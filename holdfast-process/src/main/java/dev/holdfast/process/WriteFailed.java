package dev.holdfast.process;

/** A line could not be handed to a child. It may have been written in part when the child died while reading it. */
public abstract sealed class WriteFailed extends RuntimeException permits ChildGone, InputClosed, InputFull {

    private static final long serialVersionUID = 1L;

    WriteFailed(String message) {
        super(message);
    }
}
