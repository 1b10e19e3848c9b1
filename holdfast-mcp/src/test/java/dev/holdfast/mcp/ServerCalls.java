package dev.holdfast.mcp;

import dev.holdfast.SessionName;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCalls;
import dev.holdfast.ToolProgress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** A door for tests: {@code echo} answers at once, everything else when the test says so. */
final class ServerCalls implements ToolCalls {
    final List<String> asked = new CopyOnWriteArrayList<>();
    final List<String> withdrawn = new CopyOnWriteArrayList<>();
    final Map<String, CompletableFuture<ToolAnswer>> open = new ConcurrentHashMap<>();
    final Map<String, Consumer<ToolProgress>> progress = new ConcurrentHashMap<>();

    @Override
    public CompletionStage<ToolAnswer> call(
            SessionName session, String callId, String tool, String input, Consumer<ToolProgress> told) {
        asked.add(session + " " + callId + " " + tool + " " + input);
        if (tool.equals("echo")) {
            return CompletableFuture.completedFuture(ToolAnswer.text("echo " + input));
        }
        progress.put(tool, told);
        return open.computeIfAbsent(tool, each -> new CompletableFuture<>());
    }

    @Override
    public void withdraw(SessionName session, String callId) {
        withdrawn.add(session + " " + callId);
    }
}
