package dev.holdfast;

/** Where the stop ladder begins (HS-07). The signal is TERM before KILL in every mode (HS-22). */
public enum StopMode {
    /** Between turns: end of input first, so that the agent leaves by itself. */
    IDLE,
    /** In mid-turn: TERM first, since end of input would break the turn's answers. */
    BUSY
}
