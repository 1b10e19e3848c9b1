package dev.holdfast.cli;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One thing that {@code holdfast doctor} looked at.
 *
 * @param check what, in a word or two
 * @param words what is so
 * @param advice what to do; empty when there is nothing to be done
 */
record Finding(String check, State state, String words, String advice) {

    /** How it stands. */
    enum State {
        OK("ok", Screen.Style.GREEN),
        /** Sessions run, but something is not as it could be. */
        NOTE("note", Screen.Style.YELLOW),
        /** No session runs before this is mended. */
        FAILED("FAILED", Screen.Style.RED);

        private final String word;
        private final Screen.Style style;

        State(String word, Screen.Style style) {
            this.word = word;
            this.style = style;
        }
    }

    private static final int STATE_WIDTH = 8;
    private static final int CHECK_WIDTH = 16;

    static Finding ok(String check, String words) {
        return new Finding(check, State.OK, words, "");
    }

    static Finding note(String check, String words, String advice) {
        return new Finding(check, State.NOTE, words, advice);
    }

    static Finding failed(String check, String words, String advice) {
        return new Finding(check, State.FAILED, words, advice);
    }

    boolean failed() {
        return state == State.FAILED;
    }

    void print(Screen screen) {
        if (screen.json()) {
            screen.object(members());
            return;
        }
        String state = screen.styled(state().style, Screen.padded(state().word, STATE_WIDTH));
        String words = advice.isEmpty() ? words() : words() + "\n" + advice;
        screen.line(state + Screen.padded(check, CHECK_WIDTH) + screen.setIn(STATE_WIDTH + CHECK_WIDTH, words));
    }

    private Map<String, Object> members() {
        var members = new LinkedHashMap<String, Object>();
        members.put("check", check);
        members.put("state", state.name().toLowerCase(java.util.Locale.ROOT));
        members.put("finding", words);
        members.put("advice", advice);
        return members;
    }
}
