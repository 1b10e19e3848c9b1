package dev.holdfast.testkit;

import dev.holdfast.CallOutcome;
import dev.holdfast.CallRuling;
import dev.holdfast.core.Event;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** What the recorded events of a session may say about calls of tools, and which calls may run (TL-03, TL-04, TL-07). */
final class CallRules {
    private final MessageLedger.Broken broken;
    private final Set<String> started = new HashSet<>();
    private final Set<String> ended = new HashSet<>();
    /** Ids of calls whose start is recorded and whose end is not. */
    private final Set<String> running = new HashSet<>();
    /** Keys of calls by the question about them. */
    private final Map<String, String> questions = new HashMap<>();
    /** How often a call of that key was approved and did not begin since. */
    private final Map<String, Integer> approvals = new HashMap<>();

    CallRules(MessageLedger.Broken broken) {
        this.broken = broken;
    }

    void asked(Event.QuestionAsked e) {
        e.call().ifPresent(call -> questions.put(e.id(), call.key()));
    }

    void answered(String question, String words) {
        var key = questions.get(question);
        if (key != null && words.equals("yes")) {
            approvals.merge(key, 1, Integer::sum);
        }
    }

    /** Whether a question was given up with its call. */
    boolean over(Event.QuestionWithdrawn e) {
        return questions.containsKey(e.id())
                && (e.why().equals("the turn is over") || e.why().startsWith("the agent does not want"));
    }

    void started(Event.CallStarted e) {
        started.add(e.key());
        running.add(e.callId());
        if (e.facts().ruling() == CallRuling.APPROVED) {
            int left = approvals.merge(e.key(), -1, Integer::sum);
            broken.check(left >= 0, () -> "TL-04: call " + e.callId() + " begins by an approval that is used up");
        }
        broken.check(
                e.facts().ruling() == CallRuling.APPROVED || e.facts().ruling() == CallRuling.ALLOWED,
                () -> "TL-03: call " + e.callId() + " begins and was "
                        + e.facts().ruling());
    }

    void ended(Event.CallEnded e) {
        running.remove(e.callId());
        broken.check(ended.add(e.callId()), () -> "TL-03: call " + e.callId() + " has two rows in the audit");
        boolean ran = e.outcome() == CallOutcome.OK || e.outcome() == CallOutcome.ERROR;
        broken.check(
                !ran || started.contains(e.key()), () -> "TL-07: call " + e.callId() + " ended and was never begun");
    }

    /** The agent's process is over: whatever it had begun has its row by now. */
    void incarnationEnded() {
        broken.check(running.isEmpty(), () -> "TL-08: calls " + running + " have no row in the audit");
    }

    /** A tool of the host begins to run. */
    void runs(String callId, String key, String input) {
        broken.check(started.contains(key), () -> "TL-07: call " + callId + " runs before its start is durable");
        broken.check(
                !input.equals(SimulatedGuard.DENIED), () -> "TL-03: call " + callId + " runs and its rule denies it");
        broken.check(
                !input.equals(SimulatedGuard.ASKED) || approvals.containsKey(key),
                () -> "TL-04: call " + callId + " runs and nobody has approved it");
    }
}
