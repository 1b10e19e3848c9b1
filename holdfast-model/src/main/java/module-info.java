import org.jspecify.annotations.NullMarked;

/** A plain model loop over a Messages-API endpoint, as a harness without a process. */
@NullMarked
module dev.holdfast.model {
    requires transitive dev.holdfast;
    requires java.net.http;
    requires static org.jspecify;
    requires tools.jackson.databind;

    exports dev.holdfast.model;
}
