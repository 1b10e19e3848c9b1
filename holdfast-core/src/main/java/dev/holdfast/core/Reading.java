package dev.holdfast.core;

import java.util.List;

/**
 * What a reading surface holds (CH-09): the generation of the newest feed, and what was taken through one and is not
 * settled yet, in order (MB-02).
 *
 * @param feed number of the newest feed, 0 before the first
 * @param open whether that feed still takes
 */
public record Reading(long feed, boolean open, List<Taken> inHand) {
    public Reading {
        inHand = List.copyOf(inHand);
    }

    static Reading none() {
        return new Reading(0, false, List.of());
    }
}
