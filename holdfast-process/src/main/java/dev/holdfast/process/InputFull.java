package dev.holdfast.process;

/** The child does not read its stdin fast enough and its queue is full (HS-11). */
public final class InputFull extends WriteFailed {

    private static final long serialVersionUID = 1L;

    InputFull(String message) {
        super(message);
    }
}
