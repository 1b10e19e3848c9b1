package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.Knowledge.Tail;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.Usage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * What an agent remembers, read from its own session file: the one place that can answer TN-08. The file holds one entry
 * per line; entries form a tree by parent, and the agent's memory is the branch that ends at the newest entry, so an
 * entry on a branch that was left does not count. A message is found by the uuid we gave it, or, when it was folded into
 * a running turn, by the {@code source_uuid} of its attachment. Entries before a compaction count: their content is in
 * the summary. Lines that cannot be parsed are skipped, as the agent does. The file is only ever read.
 */
final class AgentRecord {
    /** What the agent puts after a message whose turn was lost; no answer. */
    private static final String FILLER = "No response requested.";

    /** Model name of everything the agent says by itself: fillers, error texts. */
    private static final String SYNTHETIC = "<synthetic>";

    private static final String INTERRUPTED = "[Request interrupted by user";

    /** What a newer agent writes in place of a result it lost. */
    private static final String LOST_RESULT = "[Tool call interrupted:";

    /** One line of the file. {@code at} is its place; {@code source} names the folded message it stands for. */
    private record Entry(int at, String type, String uuid, String parent, String source, JsonNode raw) {
        JsonNode message() {
            return raw.path("message");
        }

        boolean assistant() {
            return type.equals("assistant");
        }
    }

    private final Map<String, Entry> newest = new HashMap<>();
    private final List<Entry> entries = new ArrayList<>();
    private final List<Entry> branch = new ArrayList<>();
    private final Map<String, Integer> placeOnBranch = new HashMap<>();
    private boolean broken;

    private AgentRecord() {}

    /** @param lines the file's lines, in order */
    static AgentRecord of(Iterable<String> lines, StreamJson codec) {
        var record = new AgentRecord();
        for (String line : lines) {
            codec.tree(line).ifPresent(record::add);
        }
        record.walk();
        return record;
    }

    private void add(JsonNode raw) {
        String uuid = StreamJson.text(raw, "uuid");
        if (uuid.isEmpty() || raw.path("isSidechain").booleanValue(false)) {
            return;
        }
        String parent = StreamJson.text(raw, "parentUuid");
        if (parent.isEmpty()) {
            parent = StreamJson.text(raw, "logicalParentUuid");
        }
        String source = StreamJson.text(raw.path("attachment"), "source_uuid");
        var entry = new Entry(entries.size(), StreamJson.text(raw, "type"), uuid, parent, source, raw);
        entries.add(entry);
        newest.put(uuid, entry);
    }

    /** Follows the parents of the newest entry; an entry may be written twice, which must not turn this into a circle. */
    private void walk() {
        var seen = new HashSet<String>();
        String next = entries.isEmpty() ? "" : entries.getLast().uuid();
        while (!next.isEmpty() && seen.add(next)) {
            Entry entry = newest.get(next);
            if (entry == null) {
                broken = true;
                break;
            }
            branch.add(entry);
            next = entry.parent();
        }
        Collections.reverse(branch);
        for (int i = 0; i < branch.size(); i++) {
            placeOnBranch.put(branch.get(i).uuid(), i);
            if (!branch.get(i).source().isEmpty()) {
                placeOnBranch.put(branch.get(i).source(), i);
            }
        }
    }

    /** Whether there is anything to resume: the agent refuses a file without a message, by either flag. */
    boolean resumable() {
        return branch.stream().anyMatch(entry -> entry.type().equals("user") || entry.assistant());
    }

    Knowledge answer(KnowledgeQuestion question) {
        if (!resumable()) {
            return new Knowledge(RecordState.DAMAGED, 0, false, List.of(), new Tail.None());
        }
        var coverage = new Coverage(question.marks());
        List<DeliveryId> present =
                question.open().stream().filter(id -> remembers(id.toString())).toList();
        return new Knowledge(
                coverage.holed ? RecordState.DAMAGED : RecordState.PRESENT,
                coverage.through,
                coverage.askedNext,
                present,
                tail(present));
    }

    private boolean remembers(String id) {
        return placeOnBranch.containsKey(id);
    }

    /** Which turns are remembered, by their marks (TN-16). */
    private final class Coverage {
        private long through;
        private boolean askedNext;
        private boolean holed;

        Coverage(List<TurnMark> marks) {
            var covered = new TreeMap<Long, Boolean>();
            long retold = 0;
            for (TurnMark mark : marks) {
                boolean there = asked(mark) && (mark.answered().isEmpty() || remembers(mark.answered()));
                // A second mark of a turn is a catch-up: its text re-told every turn that was missing then.
                if (there && covered.containsKey(mark.turn()) && !broken) {
                    retold = mark.turn();
                }
                covered.merge(mark.turn(), there, Boolean::logicalOr);
            }
            boolean missing = false;
            for (var turn : covered.entrySet()) {
                boolean there = turn.getValue() || turn.getKey() <= retold;
                holed |= there && missing;
                if (!there && !missing) {
                    missing = true;
                    askedNext = marks.stream()
                            .anyMatch(mark -> mark.turn() == turn.getKey()
                                    && !mark.asked().isEmpty()
                                    && asked(mark));
                }
                if (!missing) {
                    through = turn.getKey();
                }
            }
        }

        private boolean asked(TurnMark mark) {
            return mark.asked().stream().allMatch(AgentRecord.this::remembers);
        }
    }

    private Tail tail(List<DeliveryId> present) {
        if (present.isEmpty()) {
            return new Tail.None();
        }
        int first = Integer.MAX_VALUE;
        int last = -1;
        for (DeliveryId id : present) {
            int place = placeOnBranch.getOrDefault(id.toString(), -1);
            first = Math.min(first, place);
            last = Math.max(last, place);
        }
        List<Entry> afterLast = branch.subList(last + 1, branch.size());
        Entry answer = null;
        boolean interrupted = false;
        for (Entry entry : afterLast) {
            if (entry.assistant()) {
                answer = entry;
                interrupted = false;
            } else if (entry.type().equals("user")) {
                interrupted |= StreamJson.textBlocks(entry.message().path("content"))
                                .startsWith(INTERRUPTED)
                        && present.stream().noneMatch(id -> id.toString().equals(entry.uuid()));
            }
        }
        List<Entry> turn = descendants(branch.get(first).uuid());
        if (interrupted) {
            return new Tail.Answered(result(TurnResult.Ending.INTERRUPTED, answer, turn, present));
        }
        if (answer != null && complete(answer)) {
            return new Tail.Answered(result(TurnResult.Ending.ANSWERED, answer, turn, present));
        }
        return open(turn);
    }

    private static boolean complete(Entry entry) {
        JsonNode message = entry.message();
        String stop = StreamJson.text(message, "stop_reason");
        JsonNode content = message.path("content");
        return (stop.equals("end_turn") || stop.equals("stop_sequence"))
                && !entry.raw().path("isApiErrorMessage").booleanValue(false)
                && !StreamJson.text(message, "model").equals(SYNTHETIC)
                && !StreamJson.textBlocks(content).strip().equals(FILLER)
                && StreamJson.toolUses(content).isEmpty();
    }

    /** Everything that hangs below an entry, side branches too: results of parallel calls each hang on their own call. */
    private List<Entry> descendants(String root) {
        Set<String> below = new HashSet<>(Set.of(root));
        var found = new ArrayList<Entry>();
        boolean grew = true;
        Set<Integer> taken = new HashSet<>();
        while (grew) {
            grew = false;
            for (Entry entry : entries) {
                if (below.contains(entry.parent()) && taken.add(entry.at())) {
                    below.add(entry.uuid());
                    found.add(entry);
                    grew = true;
                }
            }
        }
        found.sort((a, b) -> Integer.compare(a.at(), b.at()));
        return found;
    }

    private static Tail open(List<Entry> turn) {
        Set<String> begun = new LinkedHashSet<>();
        Set<String> ended = new LinkedHashSet<>();
        for (Entry entry : turn) {
            JsonNode content = entry.message().path("content");
            if (entry.assistant()) {
                begun.addAll(StreamJson.toolUses(content));
            } else {
                ended.addAll(results(content));
            }
        }
        begun.removeAll(ended);
        return new Tail.Open(List.copyOf(begun), List.copyOf(ended));
    }

    private static List<String> results(JsonNode content) {
        var ids = new ArrayList<String>();
        if (content.isArray()) {
            for (JsonNode block : content) {
                boolean result = StreamJson.text(block, "type").equals("tool_result");
                boolean lost = block.path("is_error").booleanValue(false)
                        && StreamJson.textBlocks(block.path("content")).startsWith(LOST_RESULT);
                if (result && !lost) {
                    ids.add(StreamJson.text(block, "tool_use_id"));
                }
            }
        }
        return ids;
    }

    private TurnResult result(
            TurnResult.Ending ending,
            @org.jspecify.annotations.Nullable Entry last,
            List<Entry> turn,
            List<DeliveryId> lines) {
        String text = "";
        if (last != null && ending == TurnResult.Ending.ANSWERED) {
            String message = StreamJson.text(last.message(), "id");
            var words = new StringBuilder();
            for (Entry entry : turn) {
                if (entry.assistant() && StreamJson.text(entry.message(), "id").equals(message)) {
                    words.append(StreamJson.textBlocks(entry.message().path("content")));
                }
            }
            text = words.toString();
        }
        return new TurnResult(
                ending,
                text,
                "read from the agent's record",
                usage(turn),
                lines,
                last == null ? "" : last.uuid(),
                "",
                false);
    }

    /** Tokens of every model response of the turn, each counted once although it may fill several entries. */
    private static Usage usage(List<Entry> turn) {
        var responses = new LinkedHashMap<String, JsonNode>();
        for (Entry entry : turn) {
            if (entry.assistant() && !StreamJson.text(entry.message(), "model").equals(SYNTHETIC)) {
                responses.put(
                        StreamJson.text(entry.message(), "id"), entry.message().path("usage"));
            }
        }
        long input = 0;
        long output = 0;
        long read = 0;
        long creation = 0;
        for (JsonNode usage : responses.values()) {
            input += usage.path("input_tokens").longValue(0);
            output += usage.path("output_tokens").longValue(0);
            read += usage.path("cache_read_input_tokens").longValue(0);
            creation += usage.path("cache_creation_input_tokens").longValue(0);
        }
        return new Usage(input, output, read, creation, OptionalLong.empty());
    }
}
