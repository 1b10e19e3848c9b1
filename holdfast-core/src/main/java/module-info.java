import org.jspecify.annotations.NullMarked;

/** The pure machine of a session: what to record, what should be running. No I/O, threads, clock or randomness. */
@NullMarked
module dev.holdfast.core {
    requires static org.jspecify;
    requires transitive dev.holdfast;

    exports dev.holdfast.core to
            dev.holdfast.cli,
            dev.holdfast.runtime,
            dev.holdfast.testkit;

    opens dev.holdfast.core to
            tools.jackson.databind;
}
