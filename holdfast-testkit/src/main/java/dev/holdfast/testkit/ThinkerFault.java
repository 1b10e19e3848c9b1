package dev.holdfast.testkit;

/** What a {@link ScriptedThinker} can do wrong on purpose, so that a test of the conformance suite can see it noticed. */
public enum ThinkerFault {
    /** Leaves its words out. */
    LOSES_TEXT,
    /** Never says what it used. */
    NO_USAGE,
    /** Answers where the model failed. */
    HIDES_ERRORS,
    /** Never says what it does. */
    NO_BEATS,
    /** Says that it is finishing, and fails. */
    FINISHES_BEFORE_FAILING,
    /** Says that a steer has landed, and does not show it to the model. */
    LIES_ABOUT_STEERS,
    /** Lets no steer land. */
    LANDS_NO_STEER,
    /** Does not show the last of its tools. */
    HIDES_A_TOOL,
    /** Gives the answers of parallel calls to the wrong callers. */
    MIXES_UP_CALLS,
    /** Makes up an answer for a tool that is not there. */
    INVENTS_TOOLS,
    /** Goes on when it is cancelled. */
    IGNORES_CANCEL,
    /** Shows the model what it was told in earlier turns out of a memory of its own. */
    REMEMBERS_BY_ITSELF,
    /** Shows the model nothing but what this turn asks. */
    FORGETS,
    /** Shows who spoke under one name. */
    MERGES_AUTHORS,
    /** Gives the words of a turn to the sink of the turn before. */
    WRITES_TO_THE_OLD_SINK,
    /** Takes every option. */
    TAKES_EVERY_OPTION,
    /** Throws where it should fail the one turn, and is of no use after that. */
    STAYS_BROKEN
}
