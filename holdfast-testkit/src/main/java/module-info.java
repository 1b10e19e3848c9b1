import org.jspecify.annotations.NullMarked;

/** For tests, ours and users': scripted agent, scripted Messages API, virtual clock, simulation. */
@NullMarked
module dev.holdfast.testkit {
    exports dev.holdfast.testkit;

    requires transitive dev.holdfast;
    requires dev.holdfast.core;
    requires dev.holdfast.runtime;
    requires jdk.httpserver;
    requires org.slf4j;
    requires static org.jspecify;
    requires tools.jackson.databind;
}
