package dev.holdfast;

/** When a message is to reach the agent (TN-09). */
public enum DeliveryPolicy {
    /** In its place in the queue, with a turn of its own. The default. */
    NEXT,
    /** Into the running turn; in its place in the queue when none runs, or when it does not land. */
    STEER,
    /** Once no other message waits and the agent is at rest; among its like in order. Later mail goes before it. */
    AFTER_IDLE,
    /** Cancels the turn that is open when it is accepted, and runs before everything that waits. */
    REPLACE,
    /** In its place when nothing is open or unread when it is accepted; else it is refused. */
    REFUSE_IF_BUSY
}
