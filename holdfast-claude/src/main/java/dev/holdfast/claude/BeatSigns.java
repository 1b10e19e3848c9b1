package dev.holdfast.claude;

import dev.holdfast.Beat;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * By what an agent that says nothing of the kind shows which beat it is at (HN-03): a fixed mapping from what its frames
 * are, never from their words. Each beat is told once per turn. Used on its conversation's thread.
 */
final class BeatSigns {
    /** What can be seen of an agent. */
    enum Sign {
        LANDED,
        THOUGHT,
        WORDS,
        CALL,
        CALL_ENDED,
        ANSWER
    }

    private static final Map<Sign, Beat> BEATS = new EnumMap<>(Sign.class);

    static {
        for (Beat beat : Beat.values()) {
            BEATS.put(sign(beat), beat);
        }
    }

    private final Set<Beat> told = EnumSet.noneOf(Beat.class);
    private final Consumer<Beat> tell;

    BeatSigns(Consumer<Beat> tell) {
        this.tell = tell;
    }

    /** One for each: a beat more does not compile before it has its sign here. */
    private static Sign sign(Beat beat) {
        return switch (beat) {
            case UNDERSTANDING -> Sign.LANDED;
            case PLANNING -> Sign.THOUGHT;
            case ASSEMBLING -> Sign.WORDS;
            case BUILDING -> Sign.CALL;
            case CHECKING -> Sign.CALL_ENDED;
            case FINISHING -> Sign.ANSWER;
        };
    }

    void seen(Sign sign) {
        var beat = BEATS.get(sign);
        if (beat != null && told.add(beat)) {
            tell.accept(beat);
        }
    }

    void turnOver() {
        told.clear();
    }
}
