package dev.holdfast.claude;

import dev.holdfast.Launch;
import dev.holdfast.StopMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The process of an agent, as an attachment needs it. No method waits. */
interface AgentProcess {
    long pid();

    /**
     * Queues one line for the agent, whole and in order; an urgent one passes ordinary ones that wait (HS-12). A line
     * that cannot be written any more is told to {@link Listener#lineLost}.
     */
    void send(String line, boolean urgent);

    /** Like {@link #send} for an agent that has read all but {@code unread} bytes of what was written; it may wait no longer. */
    default void sendToReader(String line, long unread) {
        send(line, false);
    }

    /** Ends the process and all it started (HS-07). Idempotent. */
    void stop(StopMode mode);

    /** Hears of the process, one call at a time. A call is quick. */
    interface Listener {
        void line(String text);

        void skipped(long bytes, String why);

        /** Every line that was read was told; what they are for is done now. */
        void caughtUp();

        /** A line could not be written, or not wholly. */
        void lineLost(String why);

        void endOfOutput();

        void step(String what, String detail);

        /** The process and everything it started are dead, or survived KILL. The last call. */
        void gone(Exit exit);
    }

    /**
     * @param why exit code or signal, for people
     * @param allDead false when something survived
     */
    record Exit(String why, String stderrTail, boolean allDead) {}

    /** What to run. */
    record Command(List<String> words, Path workingDirectory, Map<String, String> environment) {
        public Command {
            words = List.copyOf(words);
            environment = Map.copyOf(environment);
        }
    }

    /** Where processes come from. */
    interface Source {
        /**
         * Ends every process of an older incarnation of this session and waits until it was seen dead (HS-21).
         *
         * @return why that could not be done
         */
        Optional<String> endOlder(Launch launch);

        /** @throws CannotStart when there is no such process now */
        AgentProcess start(Command command, Launch launch, Listener listener);
    }

    /** A start that failed; nothing of it is left. */
    final class CannotStart extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final String fatal;

        /** @param fatal one word when only a person can help, else empty */
        CannotStart(String fatal, String message) {
            super(message);
            this.fatal = fatal;
        }

        String fatal() {
            return fatal;
        }
    }
}
