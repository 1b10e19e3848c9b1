package dev.holdfast;

/** The agent cannot run here: not installed, not logged in, or of a version that lacks what is needed (HN-12). */
public final class AgentUnavailable extends HoldfastException {
    private static final long serialVersionUID = 1;
    private final String reason;

    /** @param reason one word for programs: {@code not_found}, {@code not_logged_in}, {@code wrong_version} */
    public AgentUnavailable(String reason, String message) {
        super(message);
        this.reason = reason;
    }

    public String reason() {
        return reason;
    }
}
