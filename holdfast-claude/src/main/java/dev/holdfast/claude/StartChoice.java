package dev.holdfast.claude;

import dev.holdfast.Knowledge;
import dev.holdfast.Knowledge.RecordState;
import dev.holdfast.StartPlan;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Whether the agent is to create its session or to resume it, and what to do when it refuses (HS-06). The other way is
 * tried once each. A memory that was read and is refused is not replaced by an empty one here: that has to be planned
 * anew, with what is to be re-told. A record that nobody knows of is left alone: a fresh start takes a new id. Not
 * thread-safe.
 */
final class StartChoice {
    private enum Refusal {
        NONE,
        NO_SUCH_SESSION,
        IN_USE
    }

    private final Knowledge knowledge;
    private final Supplier<String> newIds;
    private final Set<String> tried = new HashSet<>();
    private String nativeSession;
    private boolean resume;
    private Refusal refusal = Refusal.NONE;

    StartChoice(StartPlan plan, Knowledge knowledge, Supplier<String> newIds) {
        this.knowledge = knowledge;
        this.newIds = newIds;
        this.nativeSession = plan.nativeSession();
        this.resume = plan.resume();
        tried.add(toString());
    }

    String nativeSession() {
        return nativeSession;
    }

    boolean resume() {
        return resume;
    }

    /** Looks for a refusal in what the agent said. Answers whether it was one. */
    boolean refusedIn(String said) {
        if (said.contains("No conversation found")) {
            refusal = Refusal.NO_SUCH_SESSION;
            return true;
        }
        if (said.contains("is already in use")) {
            refusal = Refusal.IN_USE;
            return true;
        }
        return false;
    }

    /** After a refusal: changes to another way that was not tried; false when there is none. */
    boolean another() {
        boolean remembers = knowledge.coversTurn() > 0 || !knowledge.present().isEmpty();
        if (refusal == Refusal.NO_SUCH_SESSION && resume && !remembers) {
            resume = false;
        } else if (refusal == Refusal.IN_USE && !resume && knowledge.record() != RecordState.PRESENT) {
            nativeSession = newIds.get();
        } else {
            return false;
        }
        refusal = Refusal.NONE;
        return tried.size() < 3 && tried.add(toString());
    }

    @Override
    public String toString() {
        return (resume ? "resume " : "create ") + nativeSession;
    }
}
