package dev.holdfast;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A session at a glance, from committed state (MB-19).
 *
 * @param phase the phase's name: OPEN, PAUSED, DRAINING, PARKED or CLOSED
 * @param phaseReason why, when not OPEN; else empty
 * @param finishing the reason it was finished for and still works off what waits; absent when it takes mail (MB-07)
 * @param queued messages accepted and not yet in a turn, those returned to the front included
 * @param inFlight messages in the turn that is open, or taken by a reader and not settled (MB-02)
 * @param openTurn number of the turn in flight, if one is
 * @param turnSince when that turn was opened
 * @param consumed real messages taken into turns over all incarnations, less those given back
 * @param awaitingMail nothing waits and nothing is in flight (MB-14)
 * @param lastEnd why the last incarnation or feed ended (MB-19)
 * @param process what the agent's process does, in words: asleep, starting, working, idle, stopping
 */
public record SessionStatus(
        SessionName name,
        String phase,
        String phaseReason,
        Optional<String> finishing,
        long queued,
        long inFlight,
        OptionalLong openTurn,
        Optional<Instant> turnSince,
        long consumed,
        boolean awaitingMail,
        String lastEnd,
        String process,
        OptionalLong costMicros,
        String lastWords) {}
