package dev.holdfast.testkit;

import dev.holdfast.testkit.AgentInbox.Line;

/** Messages that the agent takes for commands of its own. Used by the turn thread. */
final class LocalCommands {
    private final AgentParts parts;

    LocalCommands(AgentParts parts) {
        this.parts = parts;
    }

    /** Runs the command in place of a turn. False when the message goes to the model after all. */
    boolean run(String command, Turn turn, Line line) {
        switch (command) {
            case "clear" -> clear(turn, line);
            case "compact" -> compact(turn, line);
            case "cost", "usage" -> answer("usage", "Total cost:            $" + parts.ledger.total(), turn, line);
            case "context" -> answer("context", "## Context Usage", turn, line);
            default -> {
                if (!parts.has(AgentQuirk.SWALLOWS_UNKNOWN_COMMANDS)) {
                    return false;
                }
                unknown(command, turn, line);
            }
        }
        parts.lifecycle(line.uuid(), "completed");
        return true;
    }

    private void init(Turn turn) {
        parts.output.frame(
                parts.frames.init(parts.sessionId(), parts.model(), parts.tools(), parts.servers(), turn.uuids));
    }

    private void say(String text) {
        Json.Obj message = parts.frames.message(
                parts.machine.uuid(),
                "<synthetic>",
                Json.array().add(AgentMemory.text(text)),
                Json.Nil.NIL,
                AgentFrames.usage(0, 0));
        parts.output.frame(parts.frames.assistant(parts.machine.uuid(), message, parts.sessionId()));
    }

    private void acknowledge(String command, Line line) {
        if (!parts.has(AgentQuirk.COMMANDS_WITHOUT_REPLAY)) {
            parts.replay(line.uuid(), new Json.Str(LocalCommand.spoken(command)));
        }
    }

    private void remember(String command, Line line) {
        AgentMemory memory = parts.memory();
        memory.user(parts.machine.uuid(), new Json.Str(LocalCommand.CAVEAT), true);
        String uuid = parts.has(AgentQuirk.COMMANDS_WITHOUT_REPLAY) ? parts.machine.uuid() : line.uuid();
        memory.user(uuid, new Json.Str(LocalCommand.spoken(command)), false);
    }

    private void answer(String command, String text, Turn turn, Line line) {
        init(turn);
        parts.memory().repair(true);
        remember(command, line);
        parts.memory().localCommand(parts.machine.uuid(), LocalCommand.output(text));
        say(text);
        acknowledge(command, line);
        new TurnResults(parts).plain(turn, text);
    }

    private void unknown(String command, Turn turn, Line line) {
        init(turn);
        parts.memory().repair(true);
        String text = "Unknown command: /" + command;
        parts.memory().localCommand(parts.machine.uuid(), LocalCommand.parsedText(line.content()));
        parts.memory().localCommand(parts.machine.uuid(), LocalCommand.output(text));
        say(text);
        new TurnResults(parts).plain(turn, text);
    }

    private void clear(Turn turn, Line line) {
        parts.startOver(parts.machine.uuid());
        parts.ledger.startOver();
        if (parts.has(AgentQuirk.LIFECYCLE)) {
            parts.output.frame(Json.object()
                    .with("type", "conversation_reset")
                    .with("new_conversation_id", parts.sessionId())
                    .with("trigger", "clear"));
        }
        init(turn);
        remember("clear", line);
        parts.memory().localCommand(parts.machine.uuid(), LocalCommand.output(""));
        if (parts.has(AgentQuirk.COMMANDS_WITHOUT_REPLAY)) {
            say("(no content)");
        }
        acknowledge("clear", line);
        new TurnResults(parts).plain(turn, "");
    }

    private void compact(Turn turn, Line line) {
        parts.memory().repair(true);
        replaceBySummary("manual", () -> init(turn));
        remember("compact", line);
        String output = LocalCommand.output("Compacted ");
        parts.memory().localCommand(parts.machine.uuid(), output);
        parts.replay(parts.machine.uuid(), new Json.Str(output));
        acknowledge("compact", line);
        new TurnResults(parts).plain(turn, "");
    }

    /** What the agent does by itself when the conversation has grown too long, in the middle of a turn. */
    void compactByItself() {
        replaceBySummary("auto", () -> {});
    }

    private void replaceBySummary(String trigger, Runnable beforeTheBoundary) {
        status("compacting");
        String summary = summary();
        status("");
        beforeTheBoundary.run();
        String summaryUuid = parts.machine.uuid();
        parts.ledger.oneCall();
        parts.memory().compact(parts.machine.uuid(), summaryUuid, summary);
        Json metadata = Json.object().with("trigger", trigger).with("pre_tokens", 15);
        parts.output.frame(
                parts.frames.system("compact_boundary", parts.sessionId()).with("compact_metadata", metadata));
        parts.output.frame(parts.frames
                .user(summaryUuid, new Json.Str(summary), parts.sessionId())
                .with("isSynthetic", true));
    }

    private void status(String status) {
        Json.Obj frame = parts.frames.system("status", parts.sessionId());
        parts.output.frame(frame.with("status", status.isEmpty() ? Json.Nil.NIL : new Json.Str(status)));
    }

    /** A faithful summary: everything the user said, so that a test can still find it. */
    private String summary() {
        Conversation shown =
                Conversation.of(Json.object().with("messages", parts.memory().messages()));
        StringBuilder summary = new StringBuilder("This session is being continued from a previous conversation that"
                + " ran out of context. The summary below covers the earlier portion of the conversation.\n");
        for (String text : shown.userTexts()) {
            summary.append("\n- ").append(Directive.textWithout(text));
        }
        return summary.toString();
    }
}
