package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolProgress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
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
    private final Map<String, Running> open = new HashMap<>();

    ToolDesk(BoundAgent bound, ClaudeAttachment attachment, HeldOptions options, Background background) {
        this.bound = bound;
        this.attachment = attachment;
        this.options = options;
        this.background = background;
    }

    /** One call on its way to its one answer. Thread-safe. */
    private static final class Running {
        private final long answerBytes;
        private @Nullable Consumer<ToolAnswer> answered;
        private @Nullable Thread thread;
        private boolean cancelled;
        private Background.Later alarm = () -> {};

        Running(long answerBytes, Consumer<ToolAnswer> answered) {
            this.answerBytes = answerBytes;
            this.answered = answered;
        }

        /** Called before the tool can run. */
        void within(Duration time, Background background) {
            alarm = background.after(time, () -> timeOut(time));
        }

        /** This thread runs the tool from now on; false when nobody wants its answer any more. */
        synchronized boolean begin() {
            if (answered == null || cancelled) {
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
                late = answered == null || cancelled;
            }
            if (late) {
                var unused = Thread.interrupted();
            }
            answer(answer);
        }

        /** Nobody wants the answer any more: the tool is told, and interrupted. */
        synchronized void cancel() {
            cancelled = true;
            if (thread != null) {
                thread.interrupt();
            }
        }

        synchronized boolean isCancelled() {
            return cancelled;
        }

        /** Whether somebody waits for the answer. */
        synchronized boolean isWanted() {
            return answered != null && !cancelled;
        }

        private void timeOut(Duration time) {
            Consumer<ToolAnswer> first;
            synchronized (this) {
                first = answered;
                answered = null;
                if (first != null) {
                    cancel();
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
                first.accept(answer.within(answerBytes));
            }
        }
    }

    /**
     * Answers a call, or begins to.
     *
     * @param run the running turn; null when there is none, and then nothing is run
     * @param told called on the executor when a tool reports progress or has answered, or on another thread when it did not
     *     answer in time
     */
    void call(Report.CallRequested call, @Nullable TurnRun run, SessionHandle handle, Consumer<HeldEvent> told) {
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
        String id = call.callId();
        String tool = call.tool();
        var running = new Running(options.answerBytes(), answer -> {
            attachment.answer(id, answer);
            told.accept(new HeldEvent.ToolAnswered(id, tool, answer.error()));
        });
        open.put(id, running);
        var toolCall = new ToolCall(
                new SessionName(handle.id()),
                run.number(),
                run.number(),
                Optional.empty(),
                id,
                key(run.id().toString(), id),
                call.input(),
                running::isCancelled,
                (done, total, note) -> {
                    if (running.isWanted()) {
                        var progress = new ToolProgress(id, tool, done, total, note);
                        attachment.progress(progress);
                        told.accept(new HeldEvent.ToolProgressed(progress));
                    }
                });
        Optional<ToolExecutor> ofTurn = run.request().executor();
        running.within(bound.tool(tool).flatMap(Tool::deadline).orElse(options.toolDeadline()), background);
        options.executor().execute(() -> {
            if (running.begin()) {
                running.end(run(tool, toolCall, ofTurn));
            } else {
                running.end(ToolAnswer.error("the call was cancelled before the tool began; nothing was done"));
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
        Running running = open.remove(callId);
        if (running != null) {
            running.cancel();
        }
    }

    /** The turn is over: what still runs is no longer wanted. */
    void turnOver() {
        if (!open.isEmpty()) {
            open.values().forEach(Running::cancel);
            open.clear();
        }
    }
}
