package dev.holdfast.claude;

import dev.holdfast.HoldfastException;
import java.time.Duration;
import java.util.List;

/** Why a turn has no result from the agent. One class per cause, each with what is known of it. */
public abstract sealed class HeldFailure extends HoldfastException {
    private static final long serialVersionUID = 1;

    private HeldFailure(String message) {
        super(message);
    }

    /** There is no Claude Code where it was looked for. */
    public static final class CliNotFound extends HeldFailure {
        private static final long serialVersionUID = 1;

        CliNotFound(String message) {
            super(message);
        }
    }

    /** Claude Code has nothing to identify itself with. */
    public static final class NotLoggedIn extends HeldFailure {
        private static final long serialVersionUID = 1;

        NotLoggedIn(String message) {
            super(message);
        }
    }

    /** This version of Claude Code cannot be held. */
    public static final class WrongVersion extends HeldFailure {
        private static final long serialVersionUID = 1;

        WrongVersion(String message) {
            super(message);
        }
    }

    /** The agent's tools are not the bound ones (TL-01). */
    public static final class ToolsMismatch extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final String[] missing;
        private final String[] surplus;

        ToolsMismatch(String message, List<String> missing, List<String> surplus) {
            super(message);
            this.missing = missing.toArray(new String[0]);
            this.surplus = surplus.toArray(new String[0]);
        }

        public List<String> missing() {
            return List.of(missing);
        }

        public List<String> surplus() {
            return List.of(surplus);
        }
    }

    /** The process runs with another binding (HS-03). */
    public static final class BindingMismatch extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final String[] differences;

        BindingMismatch(SessionHandle handle, List<String> differences) {
            super("session " + handle + " runs with another binding: " + String.join("; ", differences)
                    + ". Close it first, or ask for TurnRequest.onOtherBinding(RECYCLE)");
            this.differences = differences.toArray(new String[0]);
        }

        /** Every difference, one text each. */
        public List<String> differences() {
            return List.of(differences);
        }
    }

    /** The agent was not ready in time. */
    public static final class StartTimedOut extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final String stage;

        StartTimedOut(String stage, String message) {
            super(message);
            this.stage = stage;
        }

        /** Where it hung: {@code spawning}, {@code greeting} or {@code probing}. */
        public String stage() {
            return stage;
        }
    }

    /** The agent could not be started, or ended at its start. */
    public static final class StartFailed extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final String stderrTail;

        StartFailed(String message, String stderrTail) {
            super(message);
            this.stderrTail = stderrTail;
        }

        public String stderrTail() {
            return stderrTail;
        }
    }

    /** The process ended before the turn did. */
    public static final class DiedInTurn extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final boolean landed;
        private final String stderrTail;

        DiedInTurn(SessionHandle handle, String why, boolean landed, String stderrTail) {
            super("the agent of session " + handle + " died in mid-turn (" + why + "), "
                    + (landed
                            ? "with the message in its context: tools may have run"
                            : "without having taken the message")
                    + (stderrTail.isBlank() ? "" : "; its error output ends: " + stderrTail.strip()));
            this.landed = landed;
            this.stderrTail = stderrTail;
        }

        /** Whether the message had entered the agent's context, so that running it again may do things twice. */
        public boolean landed() {
            return landed;
        }

        /** The end of the agent's error output, at most 64 KiB. */
        public String stderrTail() {
            return stderrTail;
        }
    }

    /** A deadline of the turn passed (TN-04). */
    public static final class TimedOut extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final String deadline;

        TimedOut(SessionHandle handle, String deadline) {
            super("the turn of session " + handle + " was ended: its deadline '" + deadline + "' passed");
            this.deadline = deadline;
        }

        /** {@code first_output}, {@code silence}, {@code turn} or {@code interrupt}. */
        public String deadline() {
            return deadline;
        }
    }

    /** The turn was cancelled before the agent began it, or the agent had to be ended to stop it. */
    public static final class Cancelled extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final boolean begun;

        Cancelled(SessionHandle handle, boolean begun) {
            super("the turn of session " + handle + " was cancelled"
                    + (begun ? "; its process was ended to stop it" : " before it touched a process"));
            this.begun = begun;
        }

        /** False when no process has seen anything of the turn. */
        public boolean begun() {
            return begun;
        }
    }

    /** The session or its {@link HeldSessions} was closed (HS-08). */
    public static final class Closed extends HeldFailure {
        private static final long serialVersionUID = 1;

        Closed(String message) {
            super(message);
        }
    }

    /** Another turn of this session runs (TN-01). */
    public static final class Busy extends HeldFailure {
        private static final long serialVersionUID = 1;

        Busy(SessionHandle handle) {
            super("session " + handle + " is in a turn; wait for it, or ask for TurnRequest.ifBusy(QUEUE)");
        }
    }

    /** Every process was in a turn for the whole wait (HS-04). */
    public static final class AllBusy extends HeldFailure {
        private static final long serialVersionUID = 1;

        AllBusy(int processes, Duration waited) {
            super("all " + processes + " processes were busy for " + waited.toSeconds()
                    + " s; raise HeldOptions.processes or send less at once");
        }
    }

    /** The session starts no process until a person has acted (HS-13). */
    public static final class Parked extends HeldFailure {
        private static final long serialVersionUID = 1;
        private final String reason;

        Parked(SessionHandle handle, String reason) {
            super("session " + handle + " is parked: " + reason + ". Mend that, then call HeldSessions.unpark");
            this.reason = reason;
        }

        public String reason() {
            return reason;
        }
    }

    /** Tools were described, and nobody was named to run them (TN-10). */
    public static final class NoExecutor extends HeldFailure {
        private static final long serialVersionUID = 1;

        NoExecutor(List<String> tools) {
            super("tools " + tools + " are only described; give TurnRequest.executor, or bind Tool objects");
        }
    }

    /** The agent came to rest and said no result for the turn. */
    public static final class NoResult extends HeldFailure {
        private static final long serialVersionUID = 1;

        NoResult(SessionHandle handle) {
            super("the agent of session " + handle + " rests and gave no result for the turn");
        }
    }

    /** There is no process to ask, or it refused or gave no answer in time. */
    public static final class ControlFailed extends HeldFailure {
        private static final long serialVersionUID = 1;

        ControlFailed(String message) {
            super(message);
        }
    }
}
