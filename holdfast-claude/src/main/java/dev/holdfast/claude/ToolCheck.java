package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The check of an agent's tools before a word reaches the model (TL-01). A line that starts no turn makes the agent show
 * what it has loaded and where its cost counter stands; its text re-tells what the agent lacks (TN-16). An agent that
 * knows the line's id from an earlier life shows nothing: its text is remembered, so a second line with another id does.
 * Not thread-safe.
 */
final class ToolCheck {
    private static final String NOTE = "The host has attached this session. Nothing to answer.";

    /** What a frame means for the start. */
    sealed interface Finding {
        /** Go on waiting. */
        record Nothing() implements Finding {}

        /** The line was known before; send {@link #line} again. */
        record Again(DeliveryId known) implements Finding {}

        record Right(Frame.Init init) implements Finding {}

        record Wrong(Difference difference) implements Finding {}

        /** The agent ran a turn although none was asked for. */
        record Unsuited() implements Finding {}

        /** The agent gave up at its start. */
        record Failed(String why) implements Finding {}
    }

    /** How the agent's tools differ from the bound ones; other things it loaded count as surplus (HS-17). */
    record Difference(List<String> missing, List<String> surplus) {
        boolean none() {
            return missing.isEmpty() && surplus.isEmpty();
        }
    }

    private final Supplier<DeliveryId> newIds;
    private final List<String> texts;
    private DeliveryId id;
    private boolean second;
    private Frame.@Nullable Init init;
    private boolean answered;

    /**
     * @param id the line's id
     * @param retelling what the agent lacks
     */
    ToolCheck(DeliveryId id, Optional<String> retelling, Supplier<DeliveryId> newIds) {
        this.id = id;
        this.texts = retelling.stream().toList();
        this.newIds = newIds;
    }

    String line(StreamJson codec) {
        return codec.probeLine(id, second ? List.of() : texts, NOTE);
    }

    /** @param mute true while the agent has not said whether it works or rests */
    Finding take(Frame frame, Set<String> bound, boolean mute) {
        boolean rests = frame instanceof Frame.State state && state.resting();
        if (frame instanceof Frame.Init shown) {
            init = shown;
            Difference difference = difference(shown, bound);
            if (!difference.none()) {
                return new Finding.Wrong(difference);
            }
        } else if (frame instanceof Frame.Result result) {
            if (result.error()) {
                return new Finding.Failed(why(result));
            }
            if (result.turns() > 0) {
                return new Finding.Unsuited();
            }
            answered = true;
        } else if (rests && init == null && !second) {
            second = true;
            DeliveryId known = id;
            id = newIds.get();
            return new Finding.Again(known);
        }
        boolean done = init != null && answered && (rests || mute);
        return done && init != null ? new Finding.Right(init) : new Finding.Nothing();
    }

    /** What a result that is an error says. */
    static String why(Frame.Result result) {
        return result.errors().isEmpty() ? result.text() : String.join("; ", result.errors());
    }

    static Difference difference(Frame.Init init, Set<String> bound) {
        var missing = new ArrayList<String>();
        for (String tool : bound) {
            if (!init.tools().contains(tool)) {
                missing.add(tool);
            }
        }
        var surplus = new ArrayList<String>();
        for (String tool : init.tools()) {
            if (!bound.contains(tool)) {
                surplus.add(tool);
            }
        }
        for (String server : init.servers()) {
            if (!server.equals(HostTools.SERVER)) {
                surplus.add("server " + server);
            }
        }
        init.plugins().forEach(plugin -> surplus.add("plugin " + plugin));
        init.skills().forEach(skill -> surplus.add("skill " + skill));
        return new Difference(List.copyOf(missing), List.copyOf(surplus));
    }
}
