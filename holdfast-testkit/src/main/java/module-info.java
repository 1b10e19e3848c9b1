import org.jspecify.annotations.NullMarked;

/** For tests, ours and users': scripted agent, scripted Messages API, virtual clock, simulation, what stores must do. */
@NullMarked
module dev.holdfast.testkit {
    requires transitive dev.holdfast;
    requires transitive dev.holdfast.core;
    requires transitive dev.holdfast.runtime;
    requires jdk.httpserver;
    requires org.slf4j;
    requires static org.assertj.core;
    requires static org.jspecify;
    requires static org.junit.jupiter.api;
    requires tools.jackson.databind;

    exports dev.holdfast.testkit;
}
