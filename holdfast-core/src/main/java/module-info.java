import org.jspecify.annotations.NullMarked;

/** The pure machine of a session. */
@NullMarked
@SuppressWarnings("module") // the modules it is exported to are compiled after it
module dev.holdfast.core {
    requires transitive dev.holdfast;
    requires static org.jspecify;

    // exports dev.holdfast.core to dev.holdfast.runtime, dev.holdfast.testkit;  as soon as it holds a type
    opens dev.holdfast.core to
            tools.jackson.databind;
}
