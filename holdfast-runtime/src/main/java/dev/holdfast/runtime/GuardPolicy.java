package dev.holdfast.runtime;

import dev.holdfast.Guard;
import dev.holdfast.GuardedCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A guard whose rules are data: the first rule that takes a call decides, else the default. Immutable, thread-safe.
 *
 * <p>As a file, one JSON object:
 *
 * <pre>{@code
 * {"rules": [
 *    {"name": "no-rm", "tool": "Bash", "input": {"field": "command", "matches": "\\brm\\b"}, "verdict": "deny",
 *     "reason": "nothing is removed here"},
 *    {"name": "pay", "tool": "pay_*", "effects": ["write", "destructive"], "verdict": "ask",
 *     "question": "May it pay?", "unattended": "deny"},
 *    {"name": "night", "session": "prod-*", "author": "ci", "verdict": "unattended-deny"}],
 *  "default": "allow"}
 * }</pre>
 *
 * @param defaultDecision for calls that no rule takes: allow or deny
 */
public record GuardPolicy(List<GuardRule> rules, GuardRule.Decision defaultDecision) implements Guard {
    private static final int RULES_MAX = 1_000;
    private static final String DEFAULT = "default";
    private static final Set<String> TOP = Set.of("rules", DEFAULT);
    private static final Set<String> FIELDS = Set.of(
            "name", "tool", "input", "session", "author", "effects", "verdict", "reason", "question", "unattended");
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                    .build())
            .build();

    public GuardPolicy {
        rules = List.copyOf(rules);
        if (rules.size() > RULES_MAX) {
            throw new IllegalArgumentException("rules: a policy has at most " + RULES_MAX + "; got " + rules.size());
        }
        if (defaultDecision == GuardRule.Decision.ASK || defaultDecision == GuardRule.Decision.UNATTENDED_DENY) {
            throw new IllegalArgumentException("default: use allow or deny; for anything else, end with a rule");
        }
        var names = new HashSet<String>();
        for (GuardRule rule : rules) {
            if (!names.add(rule.name())) {
                throw new IllegalArgumentException("name: two rules are named '" + rule.name() + "'");
            }
        }
    }

    /** Lets through what no rule takes. */
    public static GuardPolicy of(GuardRule... rules) {
        return new GuardPolicy(List.of(rules), GuardRule.Decision.ALLOW);
    }

    /** Denies what no rule takes. */
    public GuardPolicy otherwiseDeny() {
        return new GuardPolicy(rules, GuardRule.Decision.DENY);
    }

    @Override
    public Verdict judge(GuardedCall call) {
        for (GuardRule rule : rules) {
            if (rule.takes(call)) {
                return rule.verdict(call);
            }
        }
        return defaultDecision == GuardRule.Decision.ALLOW
                ? new Verdict.Allow(DEFAULT)
                : new Verdict.Deny(DEFAULT, "no rule of this host allows " + call.tool());
    }

    /** Whether judging takes no time worth a thread: no regular expression is looked for. */
    boolean quick() {
        return rules.size() <= 50 && rules.stream().allMatch(r -> r.input().isEmpty());
    }

    // ---- from a file ----------------------------------------------------------------------------------------------

    /**
     * The policy in a file.
     *
     * @throws IllegalArgumentException naming the field that is wrong, and what to do
     */
    public static GuardPolicy read(Path file) {
        String text;
        try {
            text = Files.readString(file);
        } catch (IOException e) {
            throw new IllegalArgumentException("the guard file " + file + " cannot be read: " + e, e);
        }
        try {
            return parse(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the guard file " + file + ": " + e.getMessage(), e);
        }
    }

    /** As {@link #read}, of the file's text. */
    public static GuardPolicy parse(String json) {
        JsonNode root;
        try {
            root = JSON.readTree(json);
        } catch (JacksonException e) {
            throw new IllegalArgumentException("it is no JSON: " + e.getOriginalMessage(), e);
        }
        if (!root.isObject()) {
            throw new IllegalArgumentException("it must be one JSON object with 'rules'");
        }
        known(root, TOP, "");
        var list = root.path("rules");
        if (!list.isArray()) {
            throw new IllegalArgumentException("rules: must be an array");
        }
        var rules = new ArrayList<GuardRule>();
        for (JsonNode node : list) {
            rules.add(rule(node, "rules[" + rules.size() + "]."));
        }
        var otherwise = root.has(DEFAULT) ? decision(root, DEFAULT, "") : GuardRule.Decision.ALLOW;
        return new GuardPolicy(rules, otherwise);
    }

    private static GuardRule rule(JsonNode node, String at) {
        if (!node.isObject()) {
            throw new IllegalArgumentException(at.substring(0, at.length() - 1) + ": must be an object");
        }
        known(node, FIELDS, at);
        try {
            var decision = decision(node, "verdict", at);
            var rule = GuardRule.of(text(node, "name", at, null), decision)
                    .tool(text(node, "tool", at, "*"))
                    .session(text(node, "session", at, "*"))
                    .author(text(node, "author", at, "*"))
                    .text(words(node, decision, at));
            if (node.has("effects")) {
                rule = rule.effects(effects(node.path("effects"), at).toArray(ToolEffects[]::new));
            }
            if (node.has("input")) {
                rule = input(rule, node.path("input"), at);
            }
            return unattended(rule, node, at);
        } catch (IllegalArgumentException e) {
            throw String.valueOf(e.getMessage()).startsWith(at)
                    ? e
                    : new IllegalArgumentException(at + e.getMessage(), e);
        }
    }

    private static GuardRule unattended(GuardRule rule, JsonNode node, String at) {
        if (!node.has("unattended")) {
            return rule;
        }
        if (rule.decision() != GuardRule.Decision.ASK) {
            throw new IllegalArgumentException(at + "unattended: goes only with the verdict ask");
        }
        return switch (text(node, "unattended", at, null)) {
            case "allow" -> rule.otherwiseAllow();
            case "deny" -> rule;
            default -> throw new IllegalArgumentException(at + "unattended: use allow or deny");
        };
    }

    private static String words(JsonNode node, GuardRule.Decision decision, String at) {
        boolean asks = decision == GuardRule.Decision.ASK;
        var wrong = asks ? "reason" : "question";
        if (node.has(wrong)) {
            throw new IllegalArgumentException(at + wrong + ": does not go with this verdict");
        }
        return text(node, asks ? "question" : "reason", at, "");
    }

    private static GuardRule input(GuardRule rule, JsonNode node, String at) {
        if (node.isString()) {
            return rule.input("", node.stringValue());
        }
        if (!node.isObject()) {
            throw new IllegalArgumentException(at + "input: a regular expression, or an object with field and matches");
        }
        known(node, Set.of("field", "matches"), at + "input.");
        return rule.input(text(node, "field", at + "input.", ""), text(node, "matches", at + "input.", null));
    }

    private static Set<ToolEffects> effects(JsonNode node, String at) {
        var all = EnumSet.noneOf(ToolEffects.class);
        for (JsonNode each : node.isArray() ? node : JSON.createArrayNode()) {
            all.add(
                    switch (each.asString("")) {
                        case "read" -> ToolEffects.READ;
                        case "write" -> ToolEffects.WRITE;
                        case "destructive" -> ToolEffects.DESTRUCTIVE;
                        default ->
                            throw new IllegalArgumentException(
                                    at + "effects: '" + each.asString("") + "' is none of read, write, destructive");
                    });
        }
        if (all.isEmpty()) {
            throw new IllegalArgumentException(at + "effects: an array of read, write, destructive");
        }
        return all;
    }

    private static GuardRule.Decision decision(JsonNode node, String field, String at) {
        var word = text(node, field, at, null);
        for (GuardRule.Decision d : GuardRule.Decision.values()) {
            if (d.name().toLowerCase(Locale.ROOT).replace('_', '-').equals(word)) {
                return d;
            }
        }
        throw new IllegalArgumentException(
                at + field + ": '" + word + "' is none of allow, deny, ask, unattended-deny");
    }

    private static String text(
            JsonNode node, String field, String at, @org.jspecify.annotations.Nullable String otherwise) {
        var value = node.path(field);
        if (value.isMissingNode() && otherwise != null) {
            return otherwise;
        }
        if (!value.isString()) {
            throw new IllegalArgumentException(
                    at + field + (value.isMissingNode() ? ": is missing" : ": must be a string"));
        }
        return value.stringValue();
    }

    private static void known(JsonNode node, Set<String> names, String at) {
        for (String name : node.propertyNames()) {
            if (!names.contains(name)) {
                throw new IllegalArgumentException(at + name + ": is not known; there are "
                        + names.stream().sorted().toList());
            }
        }
    }
}
