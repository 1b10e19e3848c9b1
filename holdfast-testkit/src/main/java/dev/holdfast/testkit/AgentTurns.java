package dev.holdfast.testkit;

import dev.holdfast.testkit.AgentInbox.Line;
import dev.holdfast.testkit.ModelCall.End;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The turn thread of the agent: takes messages from the inbox, one turn after the other, until there are no more. */
final class AgentTurns {
    private static final String INTERRUPTED = "[Request interrupted by user]";
    private static final String INTERRUPTED_TOOL = "[Request interrupted by user for tool use]";

    private final AgentParts parts;
    private int turns;
    private boolean lastFailed;
    private boolean overBudget;
    private boolean contextFull;

    AgentTurns(AgentParts parts) {
        this.parts = parts;
    }

    /** Runs until the input is closed and everything in it is done, then ends the process. */
    void run() {
        boolean wanted =
                parts.machine.variable("CLAUDE_CODE_RESUME_INTERRUPTED_TURN").equals("1");
        boolean again = wanted && parts.memory().isOpen();
        if (again) {
            parts.inbox.becomeBusy();
        }
        new HostTools(parts).introduce();
        if (again) {
            rerun();
            parts.inbox.rest();
        }
        boolean resting = true;
        while (true) {
            AgentInbox.Taken taken = parts.inbox.take(resting);
            if (taken.end()) {
                while (parts.faults.ignoresEnd()) {
                    parts.machine.pause(1_000);
                }
                parts.exit(lastFailed ? 1 : 0);
            }
            if (!taken.batch().isEmpty()) {
                Turn turn = turn(taken.batch());
                parts.inbox.rest();
                after(turn);
            }
            resting = !parts.inbox.isBusy();
        }
    }

    private void after(Turn turn) {
        contextFull |= turn.fillsContext;
        parts.faults.pointReached("idle", turn);
        if (turn.hangsAfter) {
            parts.machine.pause(Long.MAX_VALUE / 2_000_000);
        }
        if (turn.backgroundAfter) {
            parts.machine.pause(200);
            parts.output.frame(parts.frames
                    .system("task_notification", parts.sessionId())
                    .with("task_id", "t1")
                    .with("status", "completed"));
        }
        if (turn.agentTurnAfter || turn.backgroundAfter) {
            parts.inbox.becomeBusy();
            ownTurn();
            parts.inbox.rest();
        }
    }

    private Turn turn(List<Line> batch) {
        Line last = batch.getLast();
        Turn turn = new Turn(++turns);
        for (Line line : batch) {
            turn.uuids.add(line.uuid());
        }
        parts.begin(turn);
        readCrashPoint(turn, batch);
        for (Line line : batch.subList(0, batch.size() - 1)) {
            parts.replay(line.uuid(), line.content());
        }
        for (Line line : batch) {
            note("dequeue", Json.Nil.NIL);
            parts.lifecycle(line.uuid(), "started");
        }
        Json content = batch.size() == 1 ? last.content() : joined(batch);
        String command = batch.size() == 1 ? LocalCommand.nameIn(last.content()) : "";
        if (!last.query()) {
            append(turn, last);
        } else if (!command.isEmpty() && new LocalCommands(parts).run(command, turn, last)) {
            lastFailed = false;
        } else {
            converse(turn, last.uuid(), content);
        }
        parts.end();
        return turn;
    }

    private void readCrashPoint(Turn turn, List<Line> batch) {
        List<String> words = new ArrayList<>();
        for (Line line : batch) {
            words.addAll(words(line.content()));
        }
        List<Directive> steps = new ArrayList<>(parts.scenario.inTurn(turn.number(), words));
        for (String text : words) {
            steps.addAll(Directive.in(text));
        }
        for (Directive step : steps) {
            if (step.is("crash") && step.word().equals("at")) {
                turn.crashAt = step.afterWord();
            }
        }
    }

    private static List<String> words(Json content) {
        List<String> words = new ArrayList<>();
        if (content instanceof Json.Str string) {
            words.add(string.value());
        }
        for (Json block : content.list()) {
            words.add(block.text("text", ""));
        }
        return words;
    }

    /** The blocks of all messages in one list; a bare text becomes a block. */
    private Json joined(List<Line> batch) {
        Json.Arr all = Json.array();
        for (int at = 0; at < batch.size(); at++) {
            Json content = batch.get(at).content();
            List<Json> blocks = new ArrayList<>(content.list());
            if (content instanceof Json.Str string) {
                blocks.add(AgentMemory.text(string.value()));
            }
            if (parts.has(AgentQuirk.JOINS_WITH_BREAKS) && at + 1 < batch.size()) {
                AgentMemory.breakBehind(blocks);
            }
            blocks.forEach(all::add);
        }
        return all;
    }

    private void note(String operation, Json content) {
        Json.Obj line = Json.object()
                .with("type", "queue-operation")
                .with("operation", operation)
                .with("timestamp", parts.machine.now())
                .with("sessionId", parts.sessionId());
        parts.memory().note(content.isNil() ? line : line.with("content", content));
    }

    /** A message that starts no turn: it stands before the next one. */
    private void append(Turn turn, Line line) {
        init(turn);
        parts.memory().repair(true);
        parts.memory().user(line.uuid(), line.content(), false);
        parts.replay(line.uuid(), line.content());
        results().plain(turn, "");
        parts.lifecycle(line.uuid(), "completed");
    }

    private TurnResults results() {
        return new TurnResults(parts);
    }

    private void init(Turn turn) {
        parts.output.frame(
                parts.frames.init(parts.sessionId(), parts.model(), parts.tools(), parts.servers(), turn.uuids));
        parts.faults.pointReached("init", turn);
    }

    private void converse(Turn turn, String uuid, Json content) {
        AgentHooks.Verdict asked = parts.hooks.ask(
                "UserPromptSubmit", "", "", Json.object().with("prompt", String.join("\n", words(content))));
        init(turn);
        if (asked.is("block") || asked.is("deny")) {
            keptBack(turn, "UserPromptSubmit operation blocked by hook:\n" + asked.reason());
            return;
        }
        parts.memory().repair(true);
        if (contextFull) {
            contextFull = false;
            new LocalCommands(parts).compactByItself();
        }
        attachFiles(content);
        parts.memory().user(uuid, content, false);
        turn.landed = false;
        turn.landingUuid = uuid;
        turn.landingContent = content;
        if (overBudget) {
            ModelCall.land(parts, turn);
            results().overBudget(turn);
            lastFailed = true;
            return;
        }
        loop(turn);
    }

    /** No acknowledgement, no memory of it, and a result that calls itself a success. */
    private void keptBack(Turn turn, String why) {
        parts.output.frame(parts.frames
                .system("informational", parts.sessionId())
                .with("content", why)
                .with("level", "warning")
                .with("prevent_continuation", true));
        lastFailed = false;
        results().plain(turn, why);
        settle(turn, "completed");
    }

    private void attachFiles(Json content) {
        for (String mentioned : LocalCommand.mentionedFiles(content)) {
            Path file = Path.of(parts.machine.workingDirectory()).resolve(mentioned);
            if (!Files.isRegularFile(file)) {
                continue;
            }
            String read;
            try {
                read = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            } catch (java.io.IOException unreadable) {
                continue;
            }
            parts.memory()
                    .user(
                            parts.machine.uuid(),
                            new Json.Str(
                                    "<system-reminder>\nCalled the Read tool with the following input: {\"file_path\":\""
                                            + file + "\"}\nResult of calling the Read tool:\n" + read
                                            + "\n</system-reminder>"),
                            true);
        }
    }

    /** Model calls and tool rounds until the turn is over, then its result. */
    private void loop(Turn turn) {
        long limit = parts.flags.maxTurns();
        while (true) {
            ModelCall call = new ModelCall(parts, turn);
            End end = call.run();
            if (end == End.ABORTED) {
                interrupted(turn, INTERRUPTED, "aborted_streaming", 1);
                return;
            }
            if (end == End.FAILED) {
                finish(turn, true);
                return;
            }
            if (isOverBudget()) {
                results().overBudget(turn);
                lastFailed = true;
                return;
            }
            if (end == End.ANSWERED && goesOnAtStop(turn)) {
                continue;
            }
            if (end == End.ANSWERED) {
                finish(turn, false);
                return;
            }
            new ToolRound(parts, turn).run(call.calls());
            if (turn.isAborted()) {
                interrupted(turn, INTERRUPTED_TOOL, "aborted_tools", 2);
                return;
            }
            if (limit > 0 && turn.modelCalls >= limit) {
                results().maxTurns(turn, limit);
                lastFailed = true;
                settle(turn, "completed");
                return;
            }
            fold(turn);
        }
    }

    /** Whether a hook has more for the turn to do; it is not asked twice. */
    private boolean goesOnAtStop(Turn turn) {
        AgentHooks.Verdict stop =
                parts.hooks.ask("Stop", "", "", Json.object().with("stop_hook_active", turn.heldBack));
        if (!stop.is("block") || turn.heldBack) {
            return false;
        }
        turn.heldBack = true;
        parts.memory().user(parts.machine.uuid(), Json.array().add(AgentMemory.text(stop.reason())), true);
        return true;
    }

    private boolean isOverBudget() {
        double budget = parts.flags.maxBudget();
        overBudget |= budget >= 0 && parts.ledger.spentHere() >= budget;
        return overBudget;
    }

    private void fold(Turn turn) {
        List<String> taken = new ArrayList<>();
        for (Line line : parts.inbox.takeFoldable()) {
            note("remove", Json.Nil.NIL);
            parts.memory().folded(line.uuid(), line.content());
            parts.replay(line.uuid(), line.content());
            turn.folded.add(line.uuid());
            taken.add(line.uuid());
            parts.faults.pointReached("fold", turn);
        }
        for (String uuid : taken) {
            parts.lifecycle(uuid, "started");
        }
    }

    private void finish(Turn turn, boolean failed) {
        for (String uuid : turn.folded) {
            parts.lifecycle(uuid, "completed");
        }
        lastFailed = failed;
        if (failed) {
            results().apiError(turn);
        } else {
            results().success(turn);
        }
        settle(turn, failed ? "cancelled" : "completed");
    }

    private void settle(Turn turn, String state) {
        for (String uuid : turn.uuids) {
            parts.lifecycle(uuid, state);
        }
    }

    private void interrupted(Turn turn, String marker, String reason, int extra) {
        if (turn.replaced) {
            lastFailed = false;
            endStream(turn);
            results().replaced(turn, reason);
            settle(turn, "cancelled");
            return;
        }
        Json content = Json.array().add(AgentMemory.text(marker));
        String uuid = parts.machine.uuid();
        parts.memory().user(uuid, content, false);
        parts.output.frame(parts.frames.user(uuid, content, parts.sessionId()));
        endStream(turn);
        lastFailed = true;
        results().interrupted(turn, reason, extra);
        settle(turn, "cancelled");
    }

    /** The events that close a stream which an abort cut off. */
    private void endStream(Turn turn) {
        if (turn.streamIndex < 0 || !parts.flags.streams()) {
            return;
        }
        for (String type : List.of("content_block_stop", "message_delta", "message_stop")) {
            Json event = Json.object().with("type", type).with("index", turn.streamIndex);
            parts.output.frame(parts.frames.stream(event, parts.sessionId()));
        }
    }

    /** The agent's own idea: a turn that no message started. */
    private void ownTurn() {
        Turn turn = new Turn(++turns);
        parts.begin(turn);
        init(turn);
        parts.memory()
                .user(
                        parts.machine.uuid(),
                        new Json.Str("<task-notification>a task has ended</task-notification>"),
                        true);
        loop(turn);
        parts.end();
    }

    /** The open turn of a crashed process, run again: the message once, no filler. */
    private void rerun() {
        Turn turn = new Turn(++turns);
        String uuid = parts.memory().lastUserUuid();
        turn.uuids.add(uuid);
        turn.landingUuid = uuid;
        turn.landingContent = parts.memory().content(uuid);
        turn.landed = parts.has(AgentQuirk.LIFECYCLE);
        parts.begin(turn);
        init(turn);
        parts.memory().repair(false);
        if (parts.has(AgentQuirk.CONTINUES_BY_WORDS)) {
            Json words = Json.array().add(AgentMemory.text("Continue from where you left off."));
            parts.memory().user(parts.machine.uuid(), words, true);
        }
        loop(turn);
        parts.end();
    }
}
