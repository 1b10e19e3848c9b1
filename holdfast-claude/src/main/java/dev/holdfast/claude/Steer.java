package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.SteerAnswer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One message into a running turn. Its futures are thread-safe; the rest belongs to its session. */
final class Steer {
    private final List<String> texts;
    private final String note;
    private final CompletableFuture<SteerAnswer> answer = new CompletableFuture<>();
    private final CompletableFuture<HeldResult> result = new CompletableFuture<>();
    private @Nullable DeliveryId told;
    private boolean landed;

    Steer(List<String> texts, String note) {
        this.texts = List.copyOf(texts);
        this.note = note;
        if (texts.isEmpty() || texts.stream().allMatch(String::isEmpty)) {
            throw new IllegalArgumentException("a steering message needs words; got " + texts.size() + " empty texts");
        }
    }

    List<String> texts() {
        return texts;
    }

    String note() {
        return note;
    }

    CompletableFuture<SteerAnswer> answer() {
        return answer;
    }

    CompletableFuture<HeldResult> result() {
        return result;
    }

    /** The id under which it was written; null while it was not. */
    @Nullable
    DeliveryId told() {
        return told;
    }

    void told(DeliveryId id) {
        told = id;
    }

    boolean landed() {
        return landed;
    }

    void land() {
        landed = true;
        answer.complete(SteerAnswer.LANDED);
    }

    void refuse(HeldFailure why) {
        answer.complete(SteerAnswer.REFUSED);
        result.completeExceptionally(why);
    }
}
