package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the calls of host tools of one process: only while a turn of ours runs, at most as many as it allows, each on the
 * executor of the options. Every call is answered once, whatever its tool does, and in time (TL-06). Belongs to its
 * session.
 */
final class ToolDesk {
    private static final Logger LOG = LoggerFactory.getLogger(ToolDesk.class);

    private final BoundAgent bound;
    private final ClaudeAttachment attachment;
    private final HeldOptions options;
    private final Background background;
    private final Map<String, AtomicBoolean> open = new HashMap<>();

    ToolDesk(BoundAgent bound, ClaudeAttachment attachment, HeldOptions options, Background background) {
        this.bound = bound;
        this.attachment = attachment;
        this.options = options;
        this.background = background;
    }

    /** One call on its way to its one answer. Thread-safe. */
    private static final class Running {
        private final AtomicBoolean cancelled;
        private @Nullable Consumer<ToolAnswer> answered;
        private @Nullable Thread thread;
        private Background.Later alarm = () -> {};

        Running(AtomicBoolean cancelled, Consumer<ToolAnswer> answered) {
            this.cancelled = cancelled;
            this.answered = answered;
        }

        /** Called before the tool can run. */
        void within(Duration time, Background background) {
            alarm = background.after(time, () -> timeOut(time));
        }

        /** This thread runs the tool from now on; false when the call was answered before. */
        synchronized boolean begin() {
            if (answered == null) {
                return false;
            }
            thread = Thread.currentThread();
            return true;
        }

        /** The tool has returned. An interrupt that was meant for it stays with it. */
        void end(ToolAnswer answer) {
            boolean late;
            synchronized (this) {
                thread = null;
                late = answered == null;
            }
            if (late) {
                var unused = Thread.interrupted();
            }
            answer(answer);
        }

        private void timeOut(Duration time) {
            Consumer<ToolAnswer> first;
            synchronized (this) {
                first = answered;
                answered = null;
                if (first != null) {
                    cancelled.set(true);
                    if (thread != null) {
                        thread.interrupt();
                    }
                }
            }
            if (first != null) {
                first.accept(ToolAnswer.error(
                        "the tool did not answer within " + time + "; what it has done until then may have happened"));
            }
        }

        private void answer(ToolAnswer answer) {
            Consumer<ToolAnswer> first;
            synchronized (this) {
                first = answered;
                answered = null;
            }
            if (first != null) {
                alarm.callOff();
                first.accept(answer);
            }
        }
    }

    /**
     * Answers a call, or begins to.
     *
     * @param run the running turn; null when there is none, and then nothing is run
     * @param told called on the executor when a tool has answered, or on another thread when it did not in time
     */
    void call(
            Report.CallRequested call,
            @Nullable TurnRun run,
            SessionHandle handle,
            Consumer<HeldEvent.ToolAnswered> told) {
        if (run == null) {
            attachment.answer(call.callId(), ToolAnswer.error("no turn of this session runs; nothing was done"));
            return;
        }
        if (!run.takesCall()) {
            attachment.answer(
                    call.callId(),
                    ToolAnswer.error("this turn's calls are used up; nothing was done. Answer with what you have"));
            return;
        }
        var cancelled = new AtomicBoolean();
        open.put(call.callId(), cancelled);
        var toolCall = new ToolCall(
                new SessionName(handle.id()),
                run.number(),
                run.number(),
                call.callId(),
                key(run.id().toString(), call.callId()),
                call.input(),
                cancelled::get);
        Optional<ToolExecutor> ofTurn = run.request().executor();
        String id = call.callId();
        String tool = call.tool();
        var running = new Running(cancelled, answer -> {
            attachment.answer(id, answer);
            told.accept(new HeldEvent.ToolAnswered(id, tool, answer.error()));
        });
        running.within(options.toolDeadline(), background);
        options.executor().execute(() -> {
            if (running.begin()) {
                running.end(run(tool, toolCall, ofTurn));
            }
        });
    }

    private ToolAnswer run(String name, ToolCall call, Optional<ToolExecutor> ofTurn) {
        try {
            Optional<Tool> tool = bound.tool(name);
            // a host without null checks may return null all the same
            @Nullable
            ToolAnswer answer = tool.isPresent()
                    ? tool.get().call(call)
                    : ofTurn.isPresent()
                            ? ofTurn.get().call(name, call)
                            : ToolAnswer.error("nobody runs tool '" + name + "' in this turn");
            return answer == null ? ToolAnswer.error("tool '" + name + "' returned null, not an answer") : answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ToolAnswer.error("the call was interrupted");
        } catch (Exception e) {
            return failed(e);
        } catch (Throwable e) {
            LOG.error("tool '{}' threw an Error", name, e);
            return failed(e);
        }
    }

    private static ToolAnswer failed(Throwable e) {
        return ToolAnswer.error(String.valueOf(e.getMessage() == null ? e : e.getMessage()));
    }

    private static String key(String message, String callId) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256")
                    .digest((message + " " + callId).getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Nobody wants the call's answer any more. */
    void withdrawn(String callId) {
        AtomicBoolean cancelled = open.remove(callId);
        if (cancelled != null) {
            cancelled.set(true);
        }
    }

    /** The turn is over: what still runs is no longer wanted. */
    void turnOver() {
        if (!open.isEmpty()) {
            open.values().forEach(cancelled -> cancelled.set(true));
            open.clear();
        }
    }
}
