package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.Knowledge.Tail;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.TurnMark;
import dev.holdfast.TurnResult;
import dev.holdfast.TurnResult.Ending;
import dev.holdfast.Usage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
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

    /**
     * One line of the file, as far as it matters. {@code at} is its place; {@code source} names the folded message it
     * stands for.
     */
    private record Entry(
            int at,
            String type,
            String uuid,
            String parent,
            String source,
            boolean interruption,
            List<String> toolResults,
            Optional<Said> said) {}

    /** A block of an answer. {@code stop} is the reason its whole response ended, empty while it had not. */
    private record Said(
            String response, String stop, boolean ownWords, String text, List<String> toolUses, Usage usage) {
        /** Whether a turn can end with this: the agent's own fillers and error texts answer nothing. */
        boolean complete() {
            return (stop.equals("end_turn") || stop.equals("stop_sequence")) && !ownWords && toolUses.isEmpty();
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
            if (line.contains("\"uuid\"")) {
                codec.tree(line).ifPresent(record::add);
            }
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
        String type = StreamJson.text(raw, "type");
        JsonNode content = raw.path("message").path("content");
        boolean user = type.equals("user");
        var entry = new Entry(
                entries.size(),
                type,
                uuid,
                parent,
                StreamJson.text(raw.path("attachment"), "source_uuid"),
                user && interruption(content),
                user ? results(content) : List.of(),
                type.equals("assistant") ? Optional.of(said(raw)) : Optional.empty());
        entries.add(entry);
        newest.put(uuid, entry);
    }

    /** A marker is a text alone; a line of ours with such words also has the host's block. */
    private static boolean interruption(JsonNode content) {
        return (content.isString() || content.size() == 1)
                && StreamJson.textBlocks(content).startsWith(INTERRUPTED);
    }

    private static Said said(JsonNode raw) {
        JsonNode message = raw.path("message");
        JsonNode content = message.path("content");
        String text = StreamJson.textBlocks(content);
        boolean ownWords = StreamJson.text(message, "model").equals(SYNTHETIC)
                || raw.path("isApiErrorMessage").booleanValue(false)
                || text.strip().equals(FILLER);
        return new Said(
                StreamJson.text(message, "id"),
                StreamJson.text(message, "stop_reason"),
                ownWords,
                text,
                StreamJson.toolUses(content),
                TurnEnd.usage(message.path("usage"), OptionalLong.empty()));
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
        return branch.stream()
                .anyMatch(entry -> entry.type().equals("user") || entry.said().isPresent());
    }

    Knowledge answer(KnowledgeQuestion question) {
        if (!resumable()) {
            return new Knowledge(RecordState.DAMAGED, 0, List.of(), List.of(), new Tail.None());
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
        private List<String> askedNext = List.of();
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
                            .filter(mark -> mark.turn() == turn.getKey())
                            .flatMap(mark -> mark.asked().stream())
                            .filter(AgentRecord.this::remembers)
                            .toList();
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
        Optional<Entry> answer = Optional.empty();
        boolean interrupted = false;
        for (Entry entry : afterLast) {
            if (entry.said().isPresent()) {
                answer = Optional.of(entry);
                interrupted = false;
            } else {
                interrupted |= entry.interruption();
            }
        }
        List<Entry> turn = descendants(branch.get(first).uuid());
        if (interrupted) {
            return new Tail.Answered(result(Ending.INTERRUPTED, answer, turn, present));
        }
        if (answer.flatMap(Entry::said).filter(Said::complete).isPresent()) {
            return new Tail.Answered(result(Ending.ANSWERED, answer, turn, present));
        }
        return open(turn);
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
            entry.said().ifPresent(said -> begun.addAll(said.toolUses()));
            ended.addAll(entry.toolResults());
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

    private static TurnResult result(Ending ending, Optional<Entry> last, List<Entry> turn, List<DeliveryId> lines) {
        String text = "";
        if (ending == Ending.ANSWERED) {
            String response = last.flatMap(Entry::said).map(Said::response).orElse("");
            text = turn.stream()
                    .flatMap(entry -> entry.said().stream())
                    .filter(said -> said.response().equals(response))
                    .map(Said::text)
                    .collect(Collectors.joining());
        }
        String answerId = last.map(Entry::uuid).orElse("");
        return new TurnResult(ending, text, "read from the agent's record", usage(turn), lines, answerId, "", false);
    }

    /** Tokens of every model response of the turn, each counted once although it may fill several entries. */
    private static Usage usage(List<Entry> turn) {
        var responses = new LinkedHashMap<String, Usage>();
        turn.stream()
                .flatMap(entry -> entry.said().stream())
                .filter(said -> !said.ownWords())
                .forEach(said -> responses.put(said.response(), said.usage()));
        return responses.values().stream().reduce(Usage.unknown(), AgentRecord::sum);
    }

    private static Usage sum(Usage a, Usage b) {
        return new Usage(
                a.inputTokens() + b.inputTokens(),
                a.outputTokens() + b.outputTokens(),
                a.cacheReadTokens() + b.cacheReadTokens(),
                a.cacheCreationTokens() + b.cacheCreationTokens(),
                OptionalLong.empty());
    }
}
