package dev.holdfast.core;

import dev.holdfast.DeliveryId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The open turn.
 *
 * @param told its lines, in the order in which they were fixed; the first carries its messages
 * @param afterOrdinary the highest ordinary arrival named before this turn was opened
 * @param inFlight false after the incarnation that had it ended, until the next is planned (MB-05)
 * @param exposed an earlier incarnation may have had its line
 * @param agentDeaths deaths of the agent after it had the message
 * @param hostDeaths deaths of the host in a row without evidence of a landing
 * @param ending why it is to be ended; empty unless the stage is ENDING
 * @param cancelled true when ENDING because of a cancel; false for a deadline
 */
public record Turn(
        long number,
        TurnStage stage,
        List<Told> told,
        long afterOrdinary,
        Instant openedAt,
        Instant deadline,
        boolean inFlight,
        boolean exposed,
        int agentDeaths,
        int hostDeaths,
        List<OpenCall> calls,
        String ending,
        boolean cancelled) {
    public Turn {
        told = List.copyOf(told);
        calls = List.copyOf(calls);
    }

    public Told original() {
        return told.getFirst();
    }

    /** The line whose landing and result settle the turn: the last that is not a steer. */
    public Told current() {
        return told.reversed().stream()
                .filter(t -> t.kind() != Told.Kind.STEER)
                .findFirst()
                .orElseThrow();
    }

    /** The steer that is told and not yet acknowledged, at most one (TN-13). */
    public Optional<Told> openSteer() {
        return told.stream()
                .filter(t -> t.kind() == Told.Kind.STEER && !t.landed())
                .findFirst();
    }

    /** Every message that settles with this turn: its own and the steers that landed. */
    public List<Taken> messages() {
        var all = new ArrayList<Taken>();
        for (Told t : told) {
            if (t.kind() == Told.Kind.MESSAGE || (t.kind() == Told.Kind.STEER && t.landed())) {
                all.addAll(t.messages());
            }
        }
        return all;
    }

    public List<DeliveryId> ids() {
        return told.stream().map(Told::id).toList();
    }

    boolean has(DeliveryId id) {
        return told.stream().anyMatch(t -> t.id().equals(id));
    }

    Turn told(List<Told> lines) {
        return with(stage, lines, deadline, inFlight, exposed, agentDeaths, hostDeaths, calls, ending, cancelled);
    }

    Turn stage(TurnStage next) {
        return with(next, told, deadline, inFlight, exposed, agentDeaths, hostDeaths, calls, ending, cancelled);
    }

    Turn deadline(Instant next) {
        return with(stage, told, next, inFlight, exposed, agentDeaths, hostDeaths, calls, ending, cancelled);
    }

    Turn inFlight(boolean next) {
        return with(stage, told, deadline, next, exposed || !next, agentDeaths, hostDeaths, calls, ending, cancelled);
    }

    Turn deaths(int agent, int host) {
        return with(stage, told, deadline, inFlight, exposed, agent, host, calls, ending, cancelled);
    }

    Turn calls(List<OpenCall> next) {
        return with(stage, told, deadline, inFlight, exposed, agentDeaths, hostDeaths, next, ending, cancelled);
    }

    Turn ending(String why, boolean isCancel) {
        return with(stage, told, deadline, inFlight, exposed, agentDeaths, hostDeaths, calls, why, isCancel);
    }

    private Turn with(
            TurnStage nextStage,
            List<Told> lines,
            Instant by,
            boolean flying,
            boolean wasExposed,
            int agent,
            int host,
            List<OpenCall> nextCalls,
            String why,
            boolean isCancel) {
        return new Turn(
                number,
                nextStage,
                lines,
                afterOrdinary,
                openedAt,
                by,
                flying,
                wasExposed,
                agent,
                host,
                nextCalls,
                why,
                isCancel);
    }
}
