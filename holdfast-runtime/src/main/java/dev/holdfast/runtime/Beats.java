package dev.holdfast.runtime;

import dev.holdfast.Beat;
import dev.holdfast.Outcome;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Which beats of a session are shown (HN-03): each once per turn, understanding once per session, finishing only of a turn
 * that was answered, which is known at its end. Used under its session's lock.
 */
final class Beats {
    private final Set<Beat> shown = EnumSet.noneOf(Beat.class);
    private long turn;
    private boolean understood;
    private boolean finishes;

    /**
     * The agent says what it does.
     *
     * @param first whether no turn of the session has ended yet
     */
    void seen(long now, boolean first, Beat beat, Consumer<Beat> show) {
        begin(now);
        switch (beat) {
            case UNDERSTANDING -> {
                if (first && !understood) {
                    understood = true;
                    once(beat, show);
                }
            }
            case PLANNING, ASSEMBLING, BUILDING, CHECKING -> once(beat, show);
            case FINISHING -> finishes = true;
        }
    }

    /** The turn's end was committed. */
    void settled(long number, Outcome outcome, Consumer<Beat> show) {
        begin(number);
        if (finishes && outcome == Outcome.ANSWERED) {
            once(Beat.FINISHING, show);
        }
    }

    private void begin(long number) {
        if (number != turn) {
            turn = number;
            shown.clear();
            finishes = false;
        }
    }

    private void once(Beat beat, Consumer<Beat> show) {
        if (shown.add(beat)) {
            show.accept(beat);
        }
    }
}
