package dev.holdfast.testkit;

import dev.holdfast.runtime.GuardPolicy;
import dev.holdfast.runtime.GuardRule;

/** The rules of a simulated host: of three kinds of work one is free, one denied, and about one a person is asked. */
final class SimulatedGuard {
    static final String DENIED = "{\"n\":1}";
    static final String ASKED = "{\"n\":2}";

    static final GuardPolicy POLICY = GuardPolicy.of(
            GuardRule.of("never", GuardRule.Decision.DENY).input("n", "^1$"),
            GuardRule.of("person", GuardRule.Decision.ASK).input("n", "^2$"));

    private SimulatedGuard() {}
}
