package dev.holdfast;

/**
 * What a thinker with a conversation elsewhere remembers of it (HN-04).
 *
 * @param nativeSession its id there, 1 to 256 characters
 * @param covers how many messages our transcript had when it last answered: the inputs of that turn. Its reply stands at
 *     index {@code covers}
 */
public record TurnState(String nativeSession, int covers) {
    public TurnState {
        if (nativeSession.isEmpty() || nativeSession.length() > 256) {
            throw new IllegalArgumentException("a native session's id has 1 to 256 characters; this one has "
                    + nativeSession.length() + ": keep a key to what is larger, not the thing itself");
        }
        if (covers < 0) {
            throw new IllegalArgumentException("covers counts messages and is not negative; got " + covers);
        }
    }

    /**
     * Whether the answer it remembers was thrown away: the transcript did not grow past what it covers.
     *
     * @param messages how many messages the transcript has now
     */
    public boolean truncated(int messages) {
        return messages <= covers;
    }
}
