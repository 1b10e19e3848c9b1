package dev.holdfast.claude;

import java.util.ArrayDeque;

/** The stage an attachment is in and how it got there. Its one mutator checks every move. Not thread-safe. */
final class StageTrack {
    private static final int HISTORY_MAX = 16;

    private final String name;
    private final ArrayDeque<String> history = new ArrayDeque<>();
    private Stage stage = Stage.NEW;

    /** @param name whose stages these are, for messages */
    StageTrack(String name) {
        this.name = name;
    }

    Stage now() {
        return stage;
    }

    boolean is(Stage one) {
        return stage == one;
    }

    /** @throws IllegalStateException when the table does not allow the move */
    void move(Stage next, String why) {
        if (!stage.mayBecome(next)) {
            throw new IllegalStateException(
                    name + " cannot go from " + stage + " to " + next + " (" + why + "); so far: " + history);
        }
        history.add(stage + " to " + next + " (" + why + ")");
        if (history.size() > HISTORY_MAX) {
            history.removeFirst();
        }
        stage = next;
    }

    /** @throws IllegalStateException when the stage is another */
    void require(Stage needed, String what) {
        if (stage != needed) {
            throw new IllegalStateException(
                    name + " was " + what + " in " + stage + "; wait for " + needed + ". So far: " + history);
        }
    }

    /** The last moves, oldest first. */
    @Override
    public String toString() {
        return history.toString();
    }
}
