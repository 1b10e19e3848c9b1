package dev.holdfast;

/** What was decided about a call. */
public enum CallRuling {
    /** A rule let it run. */
    ALLOWED,
    /** A rule, or a guard that failed, kept it back. */
    DENIED,
    /** Something has to be connected or logged in first. */
    UNCONNECTED,
    /** A person was asked and said yes. */
    APPROVED,
    /** A person was asked and said no. */
    REFUSED,
    /** A person was asked and did not answer in time. */
    LAPSED,
    /** A person was to be asked and nobody could be; it got the rule's default. */
    UNATTENDED,
    /** All tools were stopped. */
    STOPPED,
    /** Nothing: it was over before, nobody asked, or it was recorded by an older version. */
    NONE
}
