package dev.holdfast.runtime;

import dev.holdfast.Attachment;
import dev.holdfast.Harness;
import dev.holdfast.Launch;
import dev.holdfast.ReportSink;

/** The harness of a session whose mail no agent takes here. */
final class NoAgent implements Harness {
    static final NoAgent INSTANCE = new NoAgent();

    private NoAgent() {}

    @Override
    public String name() {
        return "none";
    }

    @Override
    public Attachment attach(Launch launch, ReportSink sink) {
        throw new IllegalStateException(
                "session " + launch.session() + " has no agent here, and none was to be started");
    }
}
