package dev.holdfast.claude;

import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.Tool;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs the calls of host tools of one process: only while a turn of ours runs, at most as many as it allows, each on the
 * executor of the options. Belongs to its session.
 */
final class ToolDesk {
    private final BoundAgent bound;
    private final ClaudeAttachment attachment;
    private final Executor executor;
    private final Map<String, AtomicBoolean> open = new HashMap<>();

    ToolDesk(BoundAgent bound, ClaudeAttachment attachment, Executor executor) {
        this.bound = bound;
        this.attachment = attachment;
        this.executor = executor;
    }

    /**
     * Answers a call, or begins to.
     *
     * @param run the running turn; null when there is none, and then nothing is run
     * @param told called on the executor when a tool has answered
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
        executor.execute(() -> {
            ToolAnswer answer = run(call.tool(), toolCall, ofTurn);
            attachment.answer(call.callId(), answer);
            told.accept(new HeldEvent.ToolAnswered(call.callId(), call.tool(), answer.error()));
        });
    }

    private ToolAnswer run(String name, ToolCall call, Optional<ToolExecutor> ofTurn) {
        try {
            Optional<Tool> tool = bound.tool(name);
            if (tool.isPresent()) {
                return tool.get().call(call);
            }
            return ofTurn.isPresent()
                    ? ofTurn.get().call(name, call)
                    : ToolAnswer.error("nobody runs tool '" + name + "' in this turn");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return ToolAnswer.error("the call was interrupted");
        } catch (Exception | LinkageError | AssertionError | StackOverflowError e) {
            return ToolAnswer.error(String.valueOf(e.getMessage() == null ? e : e.getMessage()));
        }
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
