package dev.holdfast.runtime;

import java.nio.file.Path;

/**
 * Something about a control file that a person should see (CH-07).
 *
 * @param file the file meant; a rotated one keeps the name it is read under
 * @param offset where the line begins, in bytes; for what concerns no line, how far was read
 * @param text one line, with what was wrong and what to do; holds no control characters
 */
public record ControlFileNotice(Kind kind, Path file, long offset, String text) {
    /** Kinds of notices. */
    public enum Kind {
        /** A line that is no command was passed over; it is not looked at again. */
        SKIPPED,
        /** The session refused what a line asks for, and said why; the line is not tried again. */
        REFUSED,
        /** Lines wait in the file until what is named has passed; then they are acted on. */
        WAITING,
        /** The file, or the file of acknowledgements, cannot be used as it is; it is looked at again. */
        UNUSABLE,
        /** Content that had been read was cut off or written over: what stands there now counts as new lines. */
        REWRITTEN,
        /** Another file has taken the name; the rest of the old one is read first. */
        ROTATED
    }

    @Override
    public String toString() {
        return kind + " " + file + " at byte " + offset + ": " + text;
    }
}
