import org.jspecify.annotations.NullMarked;

/** The Claude Code harness: stream-json, control channel, record reader, held sessions. */
@NullMarked
module dev.holdfast.claude {
    requires transitive dev.holdfast;
    requires dev.holdfast.process;
    requires org.slf4j;
    requires static org.jspecify;
    requires tools.jackson.databind;

    exports dev.holdfast.claude;
}
