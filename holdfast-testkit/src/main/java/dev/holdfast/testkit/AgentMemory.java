package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the agent remembers of one native session: the entries of the active chain, and how each is written to the
 * {@link SessionRecord}. A resumed session remembers exactly what the chain of its file holds; everything else about
 * it (which uuids are known, what the model is shown) follows from that.
 *
 * <p>Used by the turn thread; {@link #knows} by the reading thread too.
 */
final class AgentMemory {
    static final String FILLER = "No response requested.";
    static final String OUTCOME_UNKNOWN =
            "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is"
                    + " unknown. Check whether it took effect before relying on it or running it again.]";
    private static final String FIRST_REMINDER = "<system-reminder>\nAs you answer the user's questions, you can use"
            + " the following context:\n# currentDate\nToday's date is given elsewhere.\n</system-reminder>\n";
    private static final String REMINDER =
            "<system-reminder>\n<total_tokens>15000000 tokens left</total_tokens>\n</system-reminder>\n";

    private enum Kind {
        USER,
        RESULT,
        FOLDED,
        ASSISTANT,
        UNSHOWN
    }

    private record Entry(Kind kind, String uuid, String messageId, Json content) {}

    private final AgentMachine machine;
    private final AgentProfile profile;
    private final SessionRecord record;
    private final String sessionId;
    private final String workingDirectory;
    private final List<Entry> entries = new ArrayList<>();
    private final Set<String> known = new HashSet<>();
    private final Set<String> forked = new HashSet<>();
    private final Set<String> written = new HashSet<>();
    private final Runnable recordIsBehind;
    private String leaf = "";
    private boolean resumed;
    private double costBefore;

    AgentMemory(
            AgentMachine machine,
            AgentProfile profile,
            SessionRecord record,
            String sessionId,
            String workingDirectory,
            Runnable recordIsBehind) {
        this.machine = machine;
        this.profile = profile;
        this.record = record;
        this.sessionId = sessionId;
        this.workingDirectory = workingDirectory;
        this.recordIsBehind = recordIsBehind;
    }

    String sessionId() {
        return sessionId;
    }

    /** The money that an earlier process left in the record, zero when this version does not carry it over. */
    double costBefore() {
        return costBefore;
    }

    synchronized boolean knows(String uuid) {
        return known.contains(uuid);
    }

    /** Takes up what a record holds. A fork knows no uuid before its first message, although its entries carry them. */
    synchronized void resume(List<Json> lines, boolean fork) {
        resumed = true;
        Map<String, Json> byUuid = new HashMap<>();
        for (Json line : lines) {
            String uuid = line.text("uuid", "");
            if (!uuid.isEmpty()) {
                byUuid.put(uuid, line);
                written.add(uuid);
                leaf = uuid;
            }
            if (line.text("type", "").equals("cost-state") && profile.has(AgentQuirk.COST_CARRIED)) {
                costBefore = line.decimal("totalCostUSD", 0);
            }
            if (fork) {
                append(line);
            }
        }
        List<Json> chain = new ArrayList<>();
        for (String at = leaf; byUuid.containsKey(at); at = byUuid.get(at).text("parentUuid", "")) {
            chain.addFirst(byUuid.get(at));
        }
        for (Json line : chain) {
            remember(line);
        }
        if (!fork) {
            append(Json.object().with("type", "mode").with("mode", "normal").with("sessionId", sessionId));
        } else {
            forked.addAll(known);
            known.clear();
        }
    }

    private void remember(Json line) {
        String uuid = line.text("uuid", "");
        Json message = line.at("message");
        switch (line.text("type", "")) {
            case "user" -> {
                boolean result = isResult(message.at("content"));
                entries.add(new Entry(result ? Kind.RESULT : Kind.USER, uuid, "", message.at("content")));
                known.add(uuid);
            }
            case "assistant" ->
                entries.add(new Entry(
                        line.isTrue("isApiErrorMessage") ? Kind.UNSHOWN : Kind.ASSISTANT,
                        uuid,
                        message.text("id", ""),
                        message.at("content")));
            case "attachment" -> {
                if (line.at("attachment").text("type", "").equals("queued_command")) {
                    entries.add(new Entry(
                            Kind.FOLDED, uuid, "", line.at("attachment").at("prompt")));
                }
            }
            case "system" -> {
                if (line.text("subtype", "").equals("local_command")) {
                    entries.add(new Entry(Kind.USER, uuid, "", line.at("content")));
                }
            }
            default -> {}
        }
    }

    private static boolean isResult(Json content) {
        for (Json block : content.list()) {
            if (block.text("type", "").equals("tool_result")) {
                return true;
            }
        }
        return false;
    }

    /** Whether the last turn of a resumed session has no answer. */
    synchronized boolean isOpen() {
        if (entries.isEmpty()) {
            return false;
        }
        Entry last = entries.getLast();
        boolean told = last.content().write().contains("[Request interrupted");
        return !told && (isSpokenByUser(last) || isCall(last));
    }

    /** The uuid of the last thing the user said. */
    synchronized String lastUserUuid() {
        for (int at = entries.size() - 1; at >= 0; at--) {
            if (entries.get(at).kind() == Kind.USER) {
                return entries.get(at).uuid();
            }
        }
        return "";
    }

    /** The words under an entry. */
    synchronized Json content(String uuid) {
        for (Entry entry : entries) {
            if (entry.uuid().equals(uuid)) {
                return entry.content();
            }
        }
        return Json.Nil.NIL;
    }

    /** Closes what a crash left open, as this version does it: open calls first, then a filler for the answer. */
    synchronized void repair(boolean withFiller) {
        if (!resumed) {
            return;
        }
        resumed = false;
        List<Entry> open = new ArrayList<>();
        for (Entry entry : entries) {
            if (isCall(entry) && !hasResult(callId(entry))) {
                open.add(entry);
            }
        }
        if (profile.has(AgentQuirk.FORGETS_OPEN_CALL)) {
            entries.removeAll(open);
            leaf = entries.isEmpty() || open.isEmpty()
                    ? leaf
                    : entries.getLast().uuid();
        } else {
            for (Entry call : open) {
                Json block = Json.object()
                        .with("type", "tool_result")
                        .with("content", OUTCOME_UNKNOWN)
                        .with("is_error", true)
                        .with("tool_use_id", callId(call));
                result(machine.uuid(), Json.array().add(block));
            }
        }
        if (withFiller && !entries.isEmpty() && isSpokenByUser(entries.getLast())) {
            Json text = Json.object().with("type", "text").with("text", FILLER);
            synthetic(machine.uuid(), text, false);
        }
    }

    private static boolean isSpokenByUser(Entry entry) {
        return entry.kind() == Kind.USER || entry.kind() == Kind.RESULT || entry.kind() == Kind.FOLDED;
    }

    private static boolean isCall(Entry entry) {
        return entry.kind() == Kind.ASSISTANT && !callId(entry).isEmpty();
    }

    private static String callId(Entry entry) {
        for (Json block : entry.content().list()) {
            if (block.text("type", "").equals("tool_use")) {
                return block.text("id", "");
            }
        }
        return "";
    }

    private boolean hasResult(String callId) {
        for (Entry entry : entries) {
            for (Json block : entry.kind() == Kind.RESULT ? entry.content().list() : List.<Json>of()) {
                if (block.text("tool_use_id", "").equals(callId)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The user's message lands: one entry, whatever it was joined from. */
    synchronized void user(String uuid, Json content, boolean meta) {
        known.add(uuid);
        known.addAll(forked);
        entries.add(new Entry(Kind.USER, uuid, "", content));
        if (written.contains(uuid) && profile.has(AgentQuirk.FORK_HANGS_UNDER_OLD)) {
            leaf = uuid;
            return;
        }
        Json.Obj line = chained(uuid);
        if (meta) {
            line.with("isMeta", true);
        }
        write(line.with("promptId", machine.uuid())
                .with("type", "user")
                .with("message", Json.object().with("role", "user").with("content", content)));
        if (profile.has(AgentQuirk.ATTACHMENTS)) {
            attachment(Json.object().with("type", "total_tokens_reminder").with("text", "tokens left"));
        }
    }

    synchronized void result(String uuid, Json content) {
        entries.add(new Entry(Kind.RESULT, uuid, "", content));
        write(chained(uuid)
                .with("promptId", machine.uuid())
                .with("type", "user")
                .with("message", Json.object().with("role", "user").with("content", content)));
    }

    /** A message taken into a running turn: no entry under its own uuid. */
    synchronized void folded(String sourceUuid, Json content) {
        known.add(sourceUuid);
        String uuid = machine.uuid();
        entries.add(new Entry(Kind.FOLDED, uuid, "", content));
        write(chained(uuid)
                .with(
                        "attachment",
                        Json.object()
                                .with("type", "queued_command")
                                .with("prompt", content)
                                .with("source_uuid", sourceUuid)
                                .with("commandMode", "prompt"))
                .with("type", "attachment"));
    }

    synchronized void attachment(Json.Obj body) {
        write(chained(machine.uuid()).with("attachment", body).with("type", "attachment"));
    }

    synchronized void assistant(String uuid, Json.Obj message) {
        entries.add(new Entry(Kind.ASSISTANT, uuid, message.text("id", ""), message.at("content")));
        write(chained(uuid).with("message", message).with("type", "assistant"));
    }

    /** An assistant entry that no model wrote; one about a failed call is not shown to the model. */
    synchronized void synthetic(String uuid, Json block, boolean apiError) {
        Json.Obj message = Json.object()
                .with("id", machine.uuid())
                .with("type", "message")
                .with("role", "assistant")
                .with("model", "<synthetic>")
                .with("content", Json.array().add(block))
                .with("stop_reason", "stop_sequence")
                .with("stop_sequence", "");
        entries.add(new Entry(
                apiError ? Kind.UNSHOWN : Kind.ASSISTANT, uuid, message.text("id", ""), message.at("content")));
        write(chained(uuid).with("message", message).with("type", "assistant").with("isApiErrorMessage", apiError));
    }

    /** A line of a local command: shown to the model as words of the user, no user entry in the record. */
    synchronized void localCommand(String uuid, String text) {
        entries.add(new Entry(Kind.USER, uuid, "", new Json.Str(text)));
        write(chained(uuid)
                .with("type", "system")
                .with("subtype", "local_command")
                .with("content", text)
                .with("isMeta", false));
    }

    /** Everything so far is replaced by a summary; the record begins a new chain. */
    synchronized void compact(String boundaryUuid, String summaryUuid, String summary) {
        Json.Obj boundary = Json.object()
                .with("parentUuid", Json.Nil.NIL)
                .with("logicalParentUuid", leaf.isEmpty() ? Json.Nil.NIL : new Json.Str(leaf))
                .with("isSidechain", false);
        leaf = boundaryUuid;
        write(common(boundary, boundaryUuid)
                .with("type", "system")
                .with("subtype", "compact_boundary")
                .with("content", "Conversation compacted")
                .with("isMeta", false));
        entries.clear();
        entries.add(new Entry(Kind.USER, summaryUuid, "", new Json.Str(summary)));
        write(chained(summaryUuid)
                .with("type", "user")
                .with("message", Json.object().with("role", "user").with("content", summary))
                .with("isCompactSummary", true));
    }

    /** A line of the record that is in no chain. */
    void note(Json.Obj line) {
        append(line);
    }

    synchronized void close(double totalCost) {
        if (!leaf.isEmpty()) {
            append(Json.object()
                    .with("type", "last-prompt")
                    .with("leafUuid", leaf)
                    .with("sessionId", sessionId));
        }
        if (profile.has(AgentQuirk.COST_CARRIED)) {
            append(Json.object()
                    .with("type", "cost-state")
                    .with("sessionId", sessionId)
                    .with("totalCostUSD", totalCost));
        }
        record.flush();
    }

    synchronized boolean isEmpty() {
        return entries.isEmpty();
    }

    private Json.Obj chained(String uuid) {
        Json.Obj line = Json.object()
                .with("parentUuid", leaf.isEmpty() ? Json.Nil.NIL : new Json.Str(leaf))
                .with("isSidechain", false);
        leaf = uuid;
        return common(line, uuid);
    }

    private Json.Obj common(Json.Obj line, String uuid) {
        return line.with("uuid", uuid)
                .with("timestamp", machine.now())
                .with("userType", "external")
                .with("entrypoint", "sdk-cli")
                .with("cwd", workingDirectory)
                .with("sessionId", sessionId)
                .with("version", profile.version())
                .with("gitBranch", "HEAD");
    }

    private void write(Json.Obj line) {
        written.add(line.text("uuid", ""));
        append(line);
    }

    private void append(Json line) {
        if (record.append(line)) {
            recordIsBehind.run();
        }
    }

    /** What the model would be shown now, as the messages of a request. */
    synchronized Json.Arr messages() {
        Json.Arr messages = Json.array();
        List<Json> blocks = new ArrayList<>();
        boolean user = true;
        String messageId = "";
        for (Entry entry : entries) {
            if (entry.kind() == Kind.UNSHOWN) {
                continue;
            }
            boolean byUser = entry.kind() != Kind.ASSISTANT;
            boolean merges = byUser ? user : !user && entry.messageId().equals(messageId);
            if (!merges) {
                close(messages, user, blocks);
                blocks = new ArrayList<>();
            }
            user = byUser;
            messageId = entry.messageId();
            if (byUser) {
                say(entry, blocks, messages.items().isEmpty());
            } else {
                blocks.addAll(entry.content().list());
            }
        }
        close(messages, user, blocks);
        return messages;
    }

    private void say(Entry entry, List<Json> blocks, boolean first) {
        if (entry.kind() == Kind.FOLDED) {
            fold(entry, blocks);
            return;
        }
        if (blocks.isEmpty() && entry.kind() == Kind.USER) {
            if (first) {
                blocks.add(text(FIRST_REMINDER));
            }
            if (profile.has(AgentQuirk.REMINDERS)) {
                blocks.add(text(REMINDER));
            }
        } else if (!blocks.isEmpty()) {
            breakBehind(blocks);
        }
        if (entry.content() instanceof Json.Str string) {
            blocks.add(text(string.value()));
        } else {
            blocks.addAll(entry.content().list());
        }
    }

    private void fold(Entry entry, List<Json> blocks) {
        StringBuilder words = new StringBuilder();
        if (entry.content() instanceof Json.Str string) {
            words.append(string.value());
        }
        for (Json block : entry.content().list()) {
            words.append(words.isEmpty() ? "" : "\n").append(block.text("text", ""));
        }
        String told = "<system-reminder>\nThe user sent a new message while you were working:\n" + words
                + "\n\nIMPORTANT: After completing your current task, you MUST address the user's message above. Do"
                + " not ignore it.\n</system-reminder>";
        Json last = blocks.isEmpty() ? Json.Nil.NIL : blocks.getLast();
        if (profile.has(AgentQuirk.REMINDERS) && last instanceof Json.Obj result && result.has("tool_use_id")) {
            Json.Arr content = Json.array();
            if (result.at("content") instanceof Json.Str string) {
                content.add(text(string.value() + "\n"));
            } else {
                result.at("content").list().forEach(content::add);
            }
            content.add(text(told + "\n"));
            Json.Obj changed = Json.object();
            result.members().forEach(changed::with);
            blocks.set(blocks.size() - 1, changed.with("content", content));
        } else {
            blocks.add(text(told));
        }
    }

    /** Ends the last block with a line break when it is text. */
    static void breakBehind(List<Json> blocks) {
        Json last = blocks.isEmpty() ? Json.Nil.NIL : blocks.getLast();
        if (last.text("type", "").equals("text")) {
            blocks.set(blocks.size() - 1, text(last.text("text", "") + "\n"));
        }
    }

    static Json.Obj text(String text) {
        return Json.object().with("type", "text").with("text", text);
    }

    private static void close(Json.Arr messages, boolean user, List<Json> blocks) {
        if (!blocks.isEmpty()) {
            messages.add(Json.object().with("role", user ? "user" : "assistant").with("content", new Json.Arr(blocks)));
        }
    }
}
