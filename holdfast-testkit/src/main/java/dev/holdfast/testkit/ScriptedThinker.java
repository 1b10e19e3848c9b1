package dev.holdfast.testkit;

import dev.holdfast.Agent;
import dev.holdfast.Beat;
import dev.holdfast.ToolOutcome;
import dev.holdfast.ToolSpec;
import dev.holdfast.Turn;
import dev.holdfast.TurnAgent;
import dev.holdfast.TurnEvent;
import dev.holdfast.TurnHarness;
import dev.holdfast.TurnMessage;
import dev.holdfast.TurnOptions;
import dev.holdfast.TurnSettings;
import dev.holdfast.TurnState;
import dev.holdfast.Usage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A thinker in this process that obeys the directives in the messages it is shown, and keeps what it was shown:
 *
 * <pre>
 * [[say TEXT]]            says so, instead of the default answer "echo: MESSAGE (TOOL RESULTS)"
 * [[tool NAME {json}]]    calls a tool; [[tool+ NAME {json}]] calls it beside the one before
 * [[gate NAME]]           waits for a test to open the gate, or to be cancelled
 * [[error WHY]]           fails the turn; [[limit]] reaches the limit of steps; [[throw WHY]] throws
 * [[twice]]               ends the turn twice
 * [[notice TEXT]]         says it as a notice; [[remember ID]] keeps a native session's id
 * </pre>
 *
 * Thread-safe.
 */
public final class ScriptedThinker implements TurnHarness {
    private final String name;
    private final Set<ThinkerFault> faults;
    private final Map<String, Gate.Local> gates = new ConcurrentHashMap<>();
    private final List<String> shown = new CopyOnWriteArrayList<>();
    private final List<String> memory = new CopyOnWriteArrayList<>();
    private final List<Turn> turns = new CopyOnWriteArrayList<>();
    private final List<String> tools = new CopyOnWriteArrayList<>();
    private volatile boolean broken;

    private ScriptedThinker(String name, Set<ThinkerFault> faults) {
        this.name = name;
        this.faults = faults;
    }

    /** One that does everything right. */
    public static ScriptedThinker right() {
        return named("scripted-thinker");
    }

    /** As {@link #right}, under a name of its own. */
    public static ScriptedThinker named(String name) {
        return new ScriptedThinker(name, EnumSet.noneOf(ThinkerFault.class));
    }

    /** One that does something wrong. */
    public static ScriptedThinker wrong(ThinkerFault fault) {
        return new ScriptedThinker("scripted-thinker", EnumSet.of(fault));
    }

    /** An agent that thinks with it. */
    public Agent agent(Object... bound) {
        return TurnAgent.of(this).tools(bound);
    }

    /** As {@link #agent}, with settings. */
    public Agent agent(TurnSettings settings, Object... bound) {
        return TurnAgent.of(this).tools(bound).settings(settings);
    }

    /** The gate of that name. */
    public Gate gate(String name) {
        return local(name);
    }

    private Gate.Local local(String name) {
        return gates.computeIfAbsent(name, unseen -> new Gate.Local());
    }

    /** What the model was shown in each turn, as one text; with steers that landed. */
    public List<String> shown() {
        return List.copyOf(shown);
    }

    /** The turns it was given, oldest first; over or not. */
    public List<Turn> turns() {
        return List.copyOf(turns);
    }

    /** The tools the model was shown last. */
    public List<String> tools() {
        return List.copyOf(tools);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Set<String> turnOptions() {
        return faults.contains(ThinkerFault.TAKES_EVERY_OPTION)
                ? Set.of(TurnOptions.MAX_TURNS, "colour")
                : Set.of(TurnOptions.MAX_TURNS);
    }

    @Override
    public void run(Turn turn) throws Exception {
        turns.add(turn);
        if (broken) {
            throw new IllegalStateException("broken since an earlier turn");
        }
        new Thinking(turn, look(turn)).think();
    }

    /** What the model sees, and the directives of what is asked now. */
    private List<TurnMessage> look(Turn turn) {
        var names = turn.tools().list().stream().map(ToolSpec::name).toList();
        tools.clear();
        tools.addAll(has(ThinkerFault.HIDES_A_TOOL) ? names.subList(0, Math.max(0, names.size() - 1)) : names);
        var all = turn.messages();
        var now = turn.asked();
        var seen = (has(ThinkerFault.FORGETS) ? now : all)
                .stream()
                        .map(m -> (has(ThinkerFault.MERGES_AUTHORS) ? "somebody" : m.author()) + ": " + m.text())
                        .collect(Collectors.joining("\n"));
        memory.add(seen);
        shown.add(has(ThinkerFault.REMEMBERS_BY_ITSELF) ? String.join("\n", memory) : seen);
        return now;
    }

    private boolean has(ThinkerFault fault) {
        return faults.contains(fault);
    }

    /** One turn. */
    private final class Thinking {
        private final Turn turn;
        private final ArrayDeque<Directive> program = new ArrayDeque<>();
        private final String words;
        private final List<String> results = new ArrayList<>();
        private final List<String> landed = new ArrayList<>();
        private boolean spoke;

        Thinking(Turn turn, List<TurnMessage> asked) {
            this.turn = turn;
            asked.forEach(m -> program.addAll(Directive.in(m.text())));
            words = asked.isEmpty() ? "" : Directive.textWithout(asked.getLast().text());
        }

        void think() throws Exception {
            turn.onSteer(this::steer);
            beat(Beat.UNDERSTANDING);
            beat(Beat.PLANNING);
            while (!program.isEmpty() || takeSteers()) {
                perform(program.removeFirst());
                if (turn.cancel().isCancelled() && !has(ThinkerFault.IGNORES_CANCEL)) {
                    return;
                }
            }
            if (!spoke) {
                say("echo: " + words + (results.isEmpty() ? "" : " (" + String.join("; ", results) + ")"));
            }
            if (!has(ThinkerFault.NO_USAGE)) {
                turn.emit(new TurnEvent.Used(new Usage(10, 5, 0, 0, OptionalLong.of(7))));
            }
            beat(Beat.FINISHING);
        }

        private boolean steer(TurnMessage message) {
            if (has(ThinkerFault.LANDS_NO_STEER)) {
                return false;
            }
            synchronized (landed) {
                landed.add(message.author() + ": " + message.text());
            }
            return true;
        }

        /** The model sees them at its next step. */
        private boolean takeSteers() {
            synchronized (landed) {
                if (!landed.isEmpty() && !has(ThinkerFault.LIES_ABOUT_STEERS)) {
                    shown.set(shown.size() - 1, shown.getLast() + "\n" + String.join("\n", landed));
                }
                landed.clear();
            }
            return false;
        }

        private void perform(Directive step) throws Exception {
            switch (step.name()) {
                case "say" -> say(step.rest());
                case "tool" -> calls(step);
                case "gate" -> pass(local(step.word()));
                case "error" -> fail(step.rest());
                case "limit" -> {
                    say("so far");
                    turn.emit(new TurnEvent.Failure(TurnEvent.Cause.TURN_LIMIT, "the limit of steps is reached"));
                }
                case "throw" -> {
                    broken = has(ThinkerFault.STAYS_BROKEN);
                    throw new IllegalStateException(step.rest());
                }
                case "notice" -> turn.emit(new TurnEvent.Notice(step.rest()));
                case "twice" -> {
                    say("once");
                    turn.emit(new TurnEvent.Failure(TurnEvent.Cause.FAILED, "first end"));
                    turn.emit(new TurnEvent.Failure(TurnEvent.Cause.FAILED, "second end"));
                }
                case "remember" -> turn.state().set(new TurnState(step.word(), turn.length()));
                default -> {}
            }
        }

        private void beat(Beat beat) {
            if (!has(ThinkerFault.NO_BEATS)) {
                turn.emit(new TurnEvent.Status(beat));
            }
        }

        private void say(String text) {
            spoke = true;
            beat(Beat.ASSEMBLING);
            if (has(ThinkerFault.LOSES_TEXT)) {
                return;
            }
            var into = has(ThinkerFault.WRITES_TO_THE_OLD_SINK) ? turns.getFirst() : turn;
            int half = text.length() / 2;
            into.emit(new TurnEvent.Text(text.substring(0, half)));
            into.emit(new TurnEvent.Text(text.substring(half)));
        }

        private void fail(String why) {
            spoke = true;
            if (has(ThinkerFault.FINISHES_BEFORE_FAILING)) {
                say("all is well"); // and so it is taken for an answer
            } else if (has(ThinkerFault.HIDES_ERRORS)) {
                say("done");
            } else {
                turn.emit(new TurnEvent.Failure(TurnEvent.Cause.FAILED, "the model failed: " + why));
            }
        }

        private void pass(Gate.Local gate) throws InterruptedException {
            gate.reached();
            var go = new CountDownLatch(1);
            if (!has(ThinkerFault.IGNORES_CANCEL)) {
                turn.cancel().onCancel(go::countDown);
            }
            gate.whenOpen(go::countDown);
            while (true) {
                try {
                    go.await();
                    return;
                } catch (InterruptedException e) {
                    if (!has(ThinkerFault.IGNORES_CANCEL)) {
                        throw e;
                    }
                }
            }
        }

        private void calls(Directive first) {
            beat(Beat.BUILDING);
            var steps = new ArrayList<Directive>(List.of(first));
            while (!program.isEmpty() && program.peekFirst().is("tool+")) {
                steps.add(program.removeFirst());
            }
            var answers = steps.stream().map(this::call).toList();
            var outcomes = answers.stream().map(CompletableFuture::join).toList();
            for (ToolOutcome outcome : has(ThinkerFault.MIXES_UP_CALLS) ? outcomes.reversed() : outcomes) {
                results.add(outcome.text());
            }
            beat(Beat.CHECKING);
        }

        private CompletableFuture<ToolOutcome> call(Directive step) {
            boolean known = Stream.of(turn.tools().list())
                    .flatMap(List::stream)
                    .anyMatch(t -> t.name().equals(step.word()));
            if (!known && has(ThinkerFault.INVENTS_TOOLS)) {
                return CompletableFuture.completedFuture(
                        new ToolOutcome.Ok(dev.holdfast.ToolAnswer.text("it went well")));
            }
            var input = step.afterWord().isEmpty() ? "{}" : step.afterWord();
            return turn.tools().callAsync(step.word(), input).toCompletableFuture();
        }
    }
}
