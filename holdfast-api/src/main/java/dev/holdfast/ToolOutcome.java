package dev.holdfast;

/** What became of a call (TL-03). */
public sealed interface ToolOutcome {
    /** It ran. */
    record Ok(ToolAnswer answer) implements ToolOutcome {}

    /** It was not let through. */
    record Denied(Denial why, String text) implements ToolOutcome {}

    /** It could not be run, or failed. */
    record Failed(String text) implements ToolOutcome {}

    /** Why a call is not let through. */
    enum Denial {
        /** A person has to approve it, and did not. */
        NEEDS_APPROVAL,
        /** Something has to be connected or logged in first. */
        NEEDS_CONNECTION,
        /** Nobody is here who could allow it. */
        UNATTENDED,
        /** A rule, or a guard that failed, kept it back. */
        BY_RULE,
        /** All tools are stopped. */
        STOPPED
    }

    /** What the model is to be told. */
    default String text() {
        return switch (this) {
            case Ok ok -> ok.answer().text();
            case Denied denied -> denied.text();
            case Failed failed -> failed.text();
        };
    }

    /** Whether the model is to be told of an error. */
    default boolean error() {
        return !(this instanceof Ok ok) || ok.answer().error();
    }
}
