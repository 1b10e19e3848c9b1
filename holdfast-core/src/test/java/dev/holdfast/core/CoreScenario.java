package dev.holdfast.core;

import dev.holdfast.Limits;
import org.junit.jupiter.api.extension.ExtendWith;

/** A test class over the core that counts for the coverage of the transition tables. */
@ExtendWith(SeenTransitions.Recorder.class)
abstract class CoreScenario {
    /** A session whose owner has just woken for the first time. */
    final CoreDriver session = new CoreDriver(Limits.standard());
}
