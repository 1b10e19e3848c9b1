import org.jspecify.annotations.NullMarked;

/** The HTTP API of a host, and its door: a unix socket in the data directory. */
@NullMarked
module dev.holdfast.server {
    requires transitive dev.holdfast;
    requires transitive dev.holdfast.runtime;
    requires io.helidon.common.socket;
    requires io.helidon.http;
    requires io.helidon.webserver;
    requires jdk.net;
    requires org.slf4j;
    requires tools.jackson.databind;
    requires static org.jspecify;

    exports dev.holdfast.server;
}
