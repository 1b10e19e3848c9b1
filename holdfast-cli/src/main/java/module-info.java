import org.jspecify.annotations.NullMarked;

/** The {@code holdfast} command. */
@NullMarked
module dev.holdfast.cli {
    requires ch.qos.logback.classic;
    requires dev.holdfast;
    requires dev.holdfast.claude;
    requires dev.holdfast.journal;
    requires dev.holdfast.model;
    requires dev.holdfast.process;
    requires dev.holdfast.runtime;
    requires dev.holdfast.server;
    requires dev.holdfast.testkit;
    requires info.picocli;
    requires org.jline;
    requires org.slf4j;
    requires ch.qos.logback.core;
    requires tools.jackson.databind;
    requires static org.jspecify;

    opens dev.holdfast.cli to
            info.picocli,
            dev.holdfast.runtime,
            tools.jackson.databind;
}
