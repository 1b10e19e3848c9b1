import org.jspecify.annotations.NullMarked;

/** What runs sessions: owners, effect runner, slots, timers, event codec, tool door. */
@NullMarked
module dev.holdfast.runtime {
    requires transitive dev.holdfast;
    requires dev.holdfast.core;
    requires org.slf4j;
    requires static org.jspecify;
    requires tools.jackson.databind;
}
