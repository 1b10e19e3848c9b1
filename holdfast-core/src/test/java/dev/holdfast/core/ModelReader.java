package dev.holdfast.core;

import java.util.ArrayList;
import java.util.List;

/**
 * A tiny reading surface, as its user sees it. Immutable.
 *
 * @param feed number of its feed, 0 before the first
 * @param open whether the feed gives
 * @param asks it waits for a message
 * @param holds messages it was given and has not ended or given back
 */
record ModelReader(long feed, boolean open, boolean asks, List<Long> holds) {
    static ModelReader none() {
        return new ModelReader(0, false, false, List.of());
    }

    ModelReader asking(boolean now) {
        return new ModelReader(feed, open, now, holds);
    }

    ModelReader given(List<Long> messages) {
        var all = new ArrayList<>(holds);
        all.addAll(messages);
        return new ModelReader(feed, open, false, List.copyOf(all));
    }

    ModelReader without(long message) {
        return new ModelReader(
                feed, open, asks, holds.stream().filter(m -> m != message).toList());
    }

    ModelReader over() {
        return new ModelReader(feed, false, false, holds);
    }
}
