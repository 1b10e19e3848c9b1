package dev.holdfast.model;

import java.time.Duration;
import java.util.Optional;

/** The Messages API did not answer a request. */
final class ApiFailure extends Exception {
    private static final long serialVersionUID = 1;

    private final boolean again;
    private final boolean fatal;
    private final transient Optional<Duration> wait;

    /**
     * @param again whether the same request may succeed later
     * @param fatal whether no request can succeed before a person acts
     * @param wait how long the API asks to wait
     */
    ApiFailure(String message, boolean again, boolean fatal, Optional<Duration> wait) {
        super(message);
        this.again = again;
        this.fatal = fatal;
        this.wait = wait;
    }

    boolean again() {
        return again;
    }

    boolean fatal() {
        return fatal;
    }

    Optional<Duration> asked() {
        return wait;
    }
}
