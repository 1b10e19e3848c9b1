import org.jspecify.annotations.NullMarked;

/** What runs sessions: owners, effect runner, slots, timers, event codec, tool door. */
@NullMarked
module dev.holdfast.runtime {
    requires transitive dev.holdfast;
    requires transitive dev.holdfast.core;
    requires org.slf4j;
    requires static org.jspecify;
    requires tools.jackson.databind;
    requires com.fasterxml.classmate;
    requires com.github.victools.jsonschema.generator;
    requires com.networknt.schema;

    exports dev.holdfast.runtime;

    opens dev.holdfast.runtime to
            tools.jackson.databind;
}
