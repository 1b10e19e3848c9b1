package dev.holdfast.claude;

import dev.holdfast.Binding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The hooks of one agent description, in an order that follows from their rules: books that do not differ name the same
 * hook by the same callback id, so that a process can go over from one to the other. Immutable, thread-safe.
 */
final class HookBook {
    /** What the agent is told to wait beyond a hook's own deadline, so that it is answered and never cut off. */
    private static final long MARGIN_SECONDS = 5;

    private static final String ID = "hook-";
    private static final Comparator<Hooked> ORDER = Comparator.comparing((Hooked each) -> each.rule.event())
            .thenComparing(each -> each.rule.matcher())
            .thenComparing(each -> each.rule.deadline())
            .thenComparing(each -> each.rule.guards());

    /** A hook and when it is asked. */
    record Hooked(HookRule rule, AgentHook hook) {}

    private final List<Hooked> hooks;

    private HookBook(List<Hooked> hooks) {
        this.hooks = hooks;
    }

    static HookBook empty() {
        return new HookBook(List.of());
    }

    HookBook with(HookRule rule, AgentHook hook) {
        var all = new ArrayList<>(hooks);
        all.add(new Hooked(rule, hook));
        all.sort(ORDER);
        return new HookBook(List.copyOf(all));
    }

    Optional<Hooked> called(String callbackId) {
        for (int at = 0; at < hooks.size(); at++) {
            if (callbackId.equals(ID + at)) {
                return Optional.of(hooks.get(at));
            }
        }
        return Optional.empty();
    }

    /** Writes the hooks into a greeting; the agent forgets those a greeting does not name. */
    void register(ObjectNode greeting) {
        if (hooks.isEmpty()) {
            return;
        }
        ObjectNode events = greeting.putObject("hooks");
        for (int at = 0; at < hooks.size(); at++) {
            HookRule rule = hooks.get(at).rule;
            ArrayNode ofEvent = events.withArrayProperty(rule.event().wireName());
            ObjectNode entry = ofEvent.addObject();
            if (!rule.matcher().isEmpty()) {
                entry.put("matcher", rule.matcher());
            }
            entry.putArray("hookCallbackIds").add(ID + at);
            entry.put("timeout", rule.deadline().plusMillis(999).toSeconds() + MARGIN_SECONDS);
            entry.put("onFailure", rule.guards() ? "block" : "continue");
        }
    }

    /** The rules as parts of a binding, with how often each was given; what they run is no part of it. */
    Binding binding() {
        var counts = new LinkedHashMap<String, Integer>();
        hooks.forEach(hooked -> counts.merge(shown(hooked.rule), 1, Integer::sum));
        var binding = Binding.none();
        for (var rule : counts.entrySet()) {
            binding = binding.shown(rule.getKey(), rule.getValue());
        }
        return binding;
    }

    private static String shown(HookRule rule) {
        return "hook " + rule.event().wireName()
                + (rule.matcher().isEmpty() ? "" : " on '" + rule.matcher() + "'")
                + (rule.guards() ? " (guards, " : " (observes, ") + rule.deadline() + ")";
    }
}
