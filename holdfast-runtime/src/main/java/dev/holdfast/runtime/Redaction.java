package dev.holdfast.runtime;

import dev.holdfast.Knowledge;
import dev.holdfast.Report;
import dev.holdfast.TurnResult;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Takes secrets out of what is kept and shown (TL-08): values that were registered, and values of secret fields in the
 * inputs of one agent's calls. Used by one owner's serial task.
 */
final class Redaction {
    private static final String GONE = "[redacted]";
    private static final int SEEN_MAX = 256;
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Comparator<String> LONGEST_FIRST =
            Comparator.comparingInt(String::length).reversed().thenComparing(Comparator.naturalOrder());

    private final Set<String> fields;
    private final TreeSet<String> registered = new TreeSet<>(LONGEST_FIRST);
    private final LinkedHashSet<String> seen = new LinkedHashSet<>();

    Redaction(DoorRules rules) {
        fields = rules.secretFields();
        rules.secretValues().forEach(value -> add(registered, value));
    }

    private static void add(Collection<String> all, String value) {
        all.add(value);
        var written = JSON.writeValueAsString(value); // as it stands inside JSON
        all.add(written.substring(1, written.length() - 1));
    }

    /** The values of secret fields in this input are secrets from now on. */
    void look(String input) {
        var lower = input.toLowerCase(Locale.ROOT);
        if (fields.stream().noneMatch(lower::contains)) {
            return; // nothing to parse it for
        }
        try {
            look(JSON.readTree(input));
        } catch (JacksonException notJson) {
            return; // the tool will say so
        }
    }

    private void look(JsonNode node) {
        for (var property : node.properties()) {
            if (fields.contains(property.getKey().toLowerCase(Locale.ROOT))) {
                hide(property.getValue());
            } else {
                look(property.getValue());
            }
        }
        if (node.isArray()) {
            node.forEach(this::look);
        }
    }

    private void hide(JsonNode value) {
        if (value.isContainer()) {
            value.forEach(this::hide);
            return;
        }
        var text = value.asString("");
        if (text.strip().length() >= DoorRules.SECRET_MIN) {
            add(seen, text);
            while (seen.size() > SEEN_MAX) {
                seen.removeFirst();
            }
        }
    }

    String text(String text) {
        var clean = text;
        for (String secret : registered) {
            clean = clean.replace(secret, GONE);
        }
        for (String secret : seen.stream().sorted(LONGEST_FIRST).toList()) {
            clean = clean.replace(secret, GONE);
        }
        return clean;
    }

    /** Only what the host registered: the agent knows by itself what it gave. */
    String registered(String text) {
        var clean = text;
        for (String secret : registered) {
            clean = clean.replace(secret, GONE);
        }
        return clean;
    }

    boolean none() {
        return registered.isEmpty() && seen.isEmpty();
    }

    /** What is recorded of a report. */
    Report report(Report report) {
        if (none()) {
            return report;
        }
        return switch (report) {
            case Report.Noticed n -> new Report.Noticed(n.what(), text(n.detail()));
            case Report.Ended e -> new Report.Ended(text(e.why()), e.fatal(), text(e.stderrTail()));
            case Report.Mismatch m -> new Report.Mismatch(texts(m.missing()), texts(m.surplus()));
            case Report.Result r -> new Report.Result(result(r.result()));
            case Report.Known k -> new Report.Known(known(k.knowledge()));
            default -> report;
        };
    }

    /** A turn may be settled by what the agent's own record says. */
    private Knowledge known(Knowledge k) {
        return k.tail() instanceof Knowledge.Tail.Answered a
                ? new Knowledge(
                        k.record(),
                        k.coversTurn(),
                        k.askedNext(),
                        k.present(),
                        new Knowledge.Tail.Answered(result(a.result())))
                : k;
    }

    private List<String> texts(List<String> all) {
        return all.stream().map(this::text).toList();
    }

    private TurnResult result(TurnResult r) {
        return new TurnResult(
                r.ending(),
                text(r.text()),
                text(r.reason()),
                r.usage(),
                r.lines(),
                r.answerId(),
                r.requestId(),
                r.fatal());
    }
}
