package dev.holdfast.testkit;

import java.util.ArrayList;
import java.util.List;

/**
 * One turn while it runs: what it took in, what was done to it, and what its directives asked for at its end. The
 * turn thread owns it; only {@link #abort} is for other threads.
 */
final class Turn {
    final List<String> uuids = new ArrayList<>();
    final List<String> folded = new ArrayList<>();
    final Json.Arr denials = Json.array();
    private final int number;
    private boolean aborted;

    String landingUuid = "";
    Json landingContent = Json.Nil.NIL;
    boolean landed = true;
    int modelCalls;
    int toolCalls;
    long inputTokens;
    long outputTokens;
    String text = "";
    String stopReason = "";
    String apiError = "";
    long apiStatus;
    boolean replaced;
    boolean heldBack;
    boolean duplicateResult;
    boolean noResult;
    boolean hangsAfter;
    boolean agentTurnAfter;
    boolean backgroundAfter;
    boolean fillsContext;
    long resultDelay;
    int streamIndex = -1;
    String crashAt = "";

    Turn(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    synchronized void abort() {
        aborted = true;
        notifyAll();
    }

    synchronized boolean isAborted() {
        return aborted;
    }

    /** Waits until the time is over or the turn is aborted. */
    synchronized void sleep(AgentMachine machine, long millis) {
        long deadline = machine.millis() + millis;
        while (!aborted && machine.millis() < deadline) {
            machine.await(this, Math.max(1, deadline - machine.millis()));
        }
    }
}
