package dev.holdfast.process;

/** The variable by which the children of one spawner can be told from those of another. */
final class HostGuard {

    static final String VARIABLE = "HOLDFAST_SPAWNER";

    private HostGuard() {}
}
