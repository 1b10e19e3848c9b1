package dev.holdfast.process;

/** The child has exited or has closed its stdin (HS-11). */
public final class ChildGone extends WriteFailed {

    private static final long serialVersionUID = 1L;

    ChildGone(String message) {
        super(message);
    }
}
