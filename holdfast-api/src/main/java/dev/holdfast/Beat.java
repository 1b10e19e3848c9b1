package dev.holdfast;

/**
 * What an agent is doing, for people who wait (HN-03). A closed list with fixed labels: never words of a model. Within a
 * turn each is shown at most once; {@link #UNDERSTANDING} once per session; {@link #FINISHING} never of a turn that failed.
 */
public enum Beat {
    /** It takes in what was asked. */
    UNDERSTANDING("Understanding the request"),
    /** It thinks about how to do it. */
    PLANNING("Planning the work"),
    /** It puts an answer into words. */
    ASSEMBLING("Putting the answer together"),
    /** It calls tools. */
    BUILDING("Doing the work"),
    /** It looks at what tools brought. */
    CHECKING("Checking the result"),
    /** The turn is about to end well. */
    FINISHING("Finishing up");

    private final String label;

    Beat(String label) {
        this.label = label;
    }

    /** What people are shown. */
    public String label() {
        return label;
    }
}
