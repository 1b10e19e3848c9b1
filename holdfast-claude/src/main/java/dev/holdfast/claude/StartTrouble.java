package dev.holdfast.claude;

import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * Why an agent cannot be used as it is, with what a person can do.
 *
 * @param fatal one word when no restart can help, else empty
 */
record StartTrouble(String fatal, String why) {
    private static final String UPDATE = "update Claude Code";

    /** The agent ran a turn for the line that shows its tools. */
    static final StartTrouble ANSWERED_THE_PROBE = new StartTrouble(
            "wrong_version", "this version of Claude Code answers a line that asks for no answer; " + UPDATE);

    static StartTrouble greetingRefused(String error) {
        return new StartTrouble("wrong_version", "Claude Code refused to be greeted: " + error + "; " + UPDATE);
    }

    static StartTrouble failed(String why) {
        return new StartTrouble("", "the agent failed at its start: " + why);
    }

    static StartTrouble wrongTools(ToolCheck.Difference difference) {
        return new StartTrouble(
                "tools_mismatch",
                "the agent's tools are not the bound ones: missing " + difference.missing() + ", surplus "
                        + difference.surplus());
    }

    /** Whether the agent has nothing to identify itself with, as it says itself. */
    static Optional<StartTrouble> inAccount(JsonNode account) {
        boolean loggedOut = StreamJson.text(account, "tokenSource").equals("none")
                && StreamJson.text(account, "apiProvider").equals("firstParty")
                && StreamJson.text(account, "apiKeySource").isEmpty();
        return loggedOut
                ? Optional.of(new StartTrouble(
                        "not_logged_in",
                        "Claude Code is not logged in: run 'claude' once and log in, or give an inference URL and key"))
                : Optional.empty();
    }

    /** What the error output of an agent that died at its start says. */
    static Optional<StartTrouble> inErrorOutput(String said) {
        if (said.contains("unknown option")) {
            return Optional.of(
                    new StartTrouble("wrong_version", "this version of Claude Code lacks what is needed; " + UPDATE));
        }
        if (said.contains("Configuration error")) {
            return Optional.of(new StartTrouble("", "the agent's configuration file is damaged: " + said.strip()));
        }
        return Optional.empty();
    }
}
