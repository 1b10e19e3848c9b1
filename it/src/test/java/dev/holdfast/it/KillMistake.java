package dev.holdfast.it;

import dev.holdfast.core.Core;
import dev.holdfast.testkit.SeededBug;
import java.util.Locale;

/** Mistakes that a {@link KillLoop} must bring to light; without one that it does it says nothing. */
enum KillMistake {
    /** None. */
    NONE,
    /** A receipt is told before the commit. */
    ACKNOWLEDGED_EARLY,
    /** The end of a message is told before the commit. */
    ENDED_EARLY,
    /** A later life does not know the keys of an earlier one. */
    KEY_FORGOTTEN,
    /** A settled message is given again. */
    GIVEN_AGAIN;

    Core plant(Core sound) {
        return this == GIVEN_AGAIN ? SeededBug.REDELIVERY_AFTER_SETTLE.plant(sound) : sound;
    }

    /** The name for a command line. */
    String option() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static KillMistake named(String option) {
        return valueOf(option.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}
