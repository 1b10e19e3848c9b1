package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.ToolProgress;
import dev.holdfast.ToolSpec;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The two pipes of one agent process, spoken in its language: what comes in is answered where it is a request to the host,
 * matched where it answers one of ours, and handed on as frames otherwise. Knows nothing of turns, so that whatever holds
 * a process can stand on it. Not thread-safe: its owner calls it under its lock.
 */
final class Connection {
    private static final int SHOWN_MAX = 2_000;

    /** So many unknown kinds are told; an agent that invents more floods nobody. */
    static final int TYPES_TOLD_MAX = 64;

    /** Line types that are understood and need nothing from us. */
    private static final Set<String> QUIET = Set.of(
            "keep_alive",
            "command_lifecycle",
            "tool_progress",
            "tool_use_summary",
            "prompt_suggestion",
            "active_goal",
            "autocompact_state",
            "auth_status",
            "rate_limit_event",
            "conversation_reset");

    private record Outgoing(String line, boolean urgent) {}

    private final StreamJson codec;
    private final Consumer<Frame> frames;
    private final Consumer<Report> reports;
    private final ControlChannel control;
    private final HostTools tools;
    private final UserDesk users;
    private final @Nullable GuardDesk guard;
    private final ArrayDeque<Outgoing> early = new ArrayDeque<>();
    private final Set<String> typesTold = new HashSet<>();
    private @Nullable AgentProcess process;
    private boolean tellsProgress;
    private boolean deafToProgress;
    private long notJson;
    private long written;
    private long read;

    /**
     * @param users makes what asks the users' code, given what writes ahead of messages that wait
     * @param guardClock present when the agent's own tools are guarded
     * @param frames takes what is neither a request to the host nor an answer to one of ours
     */
    Connection(
            StreamJson codec,
            List<ToolSpec> bound,
            Set<String> builtins,
            Function<Consumer<String>, UserDesk> users,
            Optional<LongSupplier> guardClock,
            Consumer<Frame> frames,
            Consumer<Report> reports) {
        this.codec = codec;
        this.frames = frames;
        this.reports = reports;
        this.control = new ControlChannel(codec, line -> send(line, true));
        this.users = users.apply(line -> send(line, true));
        this.guard = guardClock
                .map(clock -> new GuardDesk(codec, builtins, clock, line -> send(line, true), reports))
                .orElse(null);
        this.tools = new HostTools(codec, bound, builtins, this.users, guard, line -> send(line, true), reports);
    }

    /** Gives the process; what was to be written before it was known goes out now. */
    void attach(AgentProcess started) {
        process = started;
        early.forEach(out -> started.send(out.line(), out.urgent()));
        early.clear();
    }

    @Nullable
    AgentProcess process() {
        return process;
    }

    ControlChannel control() {
        return control;
    }

    HostTools tools() {
        return tools;
    }

    UserDesk users() {
        return users;
    }

    /** Whether the agent may use a tool of its own; absent {@code refusal} is yes. */
    void permit(String callId, Optional<String> refusal) {
        if (guard != null) {
            guard.permit(callId, refusal);
        }
    }

    /** The agent is being ended: nobody is asked any more. */
    void closing() {
        users.answers().closing();
        if (guard != null) {
            guard.closing();
        }
    }

    void send(String line, boolean urgent) {
        count(line);
        if (process == null) {
            early.add(new Outgoing(line, urgent));
        } else {
            process.send(line, urgent);
        }
    }

    /**
     * How much of what was written the agent may not have read, in bytes; {@link #read} tells up to where it has. A line of
     * its own that follows counts in full once it is written.
     */
    long unread() {
        return written - read;
    }

    /** The line is about to be written to the process itself. */
    void count(String line) {
        written += 3L * line.length() + 1; // at most so many bytes
    }

    /** Up to where the stream to the agent has come. */
    long written() {
        return written;
    }

    /** The agent has shown that it has read everything up to there. */
    void read(long upTo) {
        read = Math.max(read, upTo);
    }

    /**
     * Takes one line from the agent.
     *
     * @param frame what the codec read in it
     */
    void received(String line, Optional<Frame> frame) {
        if (frame.isPresent()) {
            route(frame.get());
        } else if (!line.isBlank()) {
            skipNotJson(line);
        }
    }

    private void route(Frame frame) {
        switch (frame) {
            case Frame.ControlRequest request -> tools.requested(request);
            case Frame.ControlCancel cancel -> {
                tools.cancelled(cancel.id());
                users.answers().cancelled(cancel.id());
                if (guard != null) {
                    guard.cancelled(cancel.id());
                }
            }
            case Frame.ControlResponse response -> {
                control.answered(response);
                listedAgain(response);
            }
            case Frame.Other other -> {
                noticeOnce(other);
                frames.accept(other);
            }
            default -> frames.accept(frame);
        }
    }

    /** A greeting's answer lists what the agent still waits for; what was taken before is not asked twice (HS-18). */
    private void listedAgain(Frame.ControlResponse response) {
        for (JsonNode each : response.raw().path("response").path("pending_permission_requests")) {
            if (StreamJson.frame(each) instanceof Frame.ControlRequest request) {
                tools.requested(request);
            }
        }
    }

    /** Told for the first, second, fourth, eighth … such line: visible, and no flood. */
    private void skipNotJson(String line) {
        notJson++;
        if (Long.bitCount(notJson) == 1) {
            reports.accept(new Report.Noticed("not_json", "line " + notJson + " of this kind: " + shortened(line)));
        }
    }

    private void noticeOnce(Frame.Other other) {
        if (!QUIET.contains(other.type())
                && typesTold.size() < TYPES_TOLD_MAX
                && typesTold.add(shortened(other.type()))) {
            reports.accept(new Report.Noticed("unknown_type", shortened(codec.write(other.raw()))));
        }
    }

    /**
     * Tells the agent how far a call is, where it asked for that. One at a time, so that a tool that tells much floods
     * nobody; none any more once the agent has refused one.
     */
    void progress(ToolProgress progress, long nowNanos, Duration deadline) {
        if (tellsProgress || deafToProgress) {
            return;
        }
        for (ObjectNode request : tools.progress(progress)) {
            tellsProgress = true;
            control.ask(request, nowNanos, deadline, answer -> {
                tellsProgress = false;
                deafToProgress |= answer instanceof ControlChannel.Answer.Refused;
            });
        }
    }

    /** Nothing comes any more: open questions fail, open calls are withdrawn. */
    void close(String why) {
        control.close(why);
        tools.close();
        users.answers().close();
    }

    static String shortened(String text) {
        return text.length() <= SHOWN_MAX ? text : text.substring(0, SHOWN_MAX) + "…";
    }
}
