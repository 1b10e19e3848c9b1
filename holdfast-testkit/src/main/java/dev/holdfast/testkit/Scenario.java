package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What a scripted agent does that no message asks it for: a text file, one rule a line, {@code #} for comments.
 *
 * <pre>
 * start: [[sleep 500]]                     before the first byte is read
 * turn 2: [[crash]]                        in the second turn of this process
 * contains refund: [[tool mcp__host__echo {"text":"x"}]]
 * begins /clear: [[say I cannot]]          for a message whose words, before the host's own block, begin so
 * any: [[say ok]]                          in every turn
 * initialize: [[ignore]]                   a control request of the host, by its subtype
 * interrupt: [[sleep 2000]]               or [[ignore]], or [[refuse TEXT]]
 * </pre>
 *
 * @param rules in the order of the file
 */
record Scenario(List<Rule> rules) {
    record Rule(String when, List<Directive> steps) {}

    static final Scenario NONE = new Scenario(List.of());

    static Scenario at(String path) {
        if (path.isEmpty()) {
            return NONE;
        }
        try {
            return parse(Files.readString(Path.of(path), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot read the scenario " + path, e);
        }
    }

    static Scenario parse(String text) {
        List<Rule> rules = new ArrayList<>();
        for (String line : AgentProfile.split(text, '\n')) {
            String rule = line.strip();
            if (rule.isEmpty() || rule.startsWith("#")) {
                continue;
            }
            int steps = rule.indexOf("[[");
            int colon = steps < 0 ? -1 : rule.lastIndexOf(':', steps);
            if (colon < 0) {
                throw new IllegalArgumentException(
                        "A scenario line is WHEN: [[directive]] …, this one is not: " + rule);
            }
            rules.add(new Rule(rule.substring(0, colon).strip(), Directive.in(rule.substring(colon))));
        }
        return new Scenario(rules);
    }

    List<Directive> atStart() {
        return of("start");
    }

    /** For a control request of the host. */
    List<Directive> control(String subtype) {
        return of(subtype);
    }

    /** For one turn: by its number in this process, counted from 1, and by its words. */
    List<Directive> inTurn(int number, List<String> words) {
        String all = String.join("\n", words);
        String asked = words.size() < 2 ? "" : words.get(words.size() - 2);
        List<Directive> steps = new ArrayList<>();
        for (Rule rule : rules) {
            boolean holds = rule.when().equals("turn " + number)
                    || rule.when().equals("any")
                    || (rule.when().startsWith("contains ")
                            && all.contains(rule.when().substring("contains ".length())))
                    || (rule.when().startsWith("begins ")
                            && !asked.isEmpty()
                            && asked.startsWith(rule.when().substring("begins ".length())));
            if (holds) {
                steps.addAll(rule.steps());
            }
        }
        return steps;
    }

    private List<Directive> of(String when) {
        List<Directive> steps = new ArrayList<>();
        for (Rule rule : rules) {
            if (rule.when().equals(when)) {
                steps.addAll(rule.steps());
            }
        }
        return steps;
    }
}
