package dev.holdfast.process;

/** The line came after {@link Child#closeInput()} or {@link Child#stop}. */
public final class InputClosed extends WriteFailed {

    private static final long serialVersionUID = 1L;

    InputClosed(String message) {
        super(message);
    }
}
