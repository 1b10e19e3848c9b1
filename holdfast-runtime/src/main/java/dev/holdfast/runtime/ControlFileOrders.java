package dev.holdfast.runtime;

import dev.holdfast.Receipt;
import dev.holdfast.Session;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * Gives what lines ask for to the session, one after the other in the order of the lines, and writes down what became of
 * them. A line leaves this place only with a receipt: what meets a full inbox or a failing store waits and is tried again
 * under the same key. What is urgent goes past words that wait for room. One thread at a time.
 */
final class ControlFileOrders {
    private static final int WAITING_MAX = 1_000;
    private static final long WAITING_BYTES_MAX = 8L << 20;
    private static final long RECEIPT_SECONDS = 30;

    private final Session session;
    private final ControlFileAcks acks;
    private final String author;
    private final Consumer<ControlFileNotice> notices;
    private final Consumer<ControlFile.Step> steps;
    private final CompletableFuture<Receipt> closing;

    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private long waitingBytes;
    /** What holds things up, so that it is told once and not at each look. */
    private String hindrance = "";

    /** A line and what it means. */
    private record Waiting(ControlFileReader.Raw line, ControlFileLine meant) {
        boolean ordinary() {
            return meant instanceof ControlFileLine.Order order && order.ordinary();
        }
    }

    /** What became of a line for now. */
    private enum Fate {
        /** It is done with. */
        DONE,
        /** The inbox has no room for it. */
        NO_ROOM,
        /** Nothing goes at present. */
        LATER
    }

    /** @param closing completed, in whatever way, when no more is to be done */
    ControlFileOrders(
            Session session,
            ControlFileAcks acks,
            String author,
            Consumer<ControlFileNotice> notices,
            Consumer<ControlFile.Step> steps,
            CompletableFuture<Receipt> closing) {
        this.session = session;
        this.acks = acks;
        this.author = author;
        this.notices = notices;
        this.steps = steps;
        this.closing = closing;
    }

    /** Whether more lines may be read. */
    boolean roomy() {
        return waiting.size() < WAITING_MAX && waitingBytes < WAITING_BYTES_MAX;
    }

    void take(Collection<ControlFileReader.Raw> lines) {
        for (ControlFileReader.Raw line : lines) {
            var meant = line.content()
                    .map(content -> ControlFileLine.of(content, author))
                    .orElseGet(() -> new ControlFileLine.Nonsense("the line has " + (line.size() - 1)
                            + " bytes, more than allowed: write a file and name it in a shorter line"));
            waiting.add(new Waiting(line.withoutContent(), meant));
            waitingBytes += line.size();
        }
    }

    /** Does what can be done now; false when nothing goes at present, and all is to be tried again later. */
    boolean act() {
        if (!settle()) {
            return false;
        }
        boolean full = false;
        boolean later = false;
        for (var each = waiting.iterator(); each.hasNext() && !later && !closing.isDone(); ) {
            var next = each.next();
            if (full && next.ordinary()) {
                continue;
            }
            switch (act(next)) {
                case DONE -> {
                    each.remove();
                    waitingBytes -= next.line().size();
                }
                case NO_ROOM -> full = true;
                case LATER -> later = true;
            }
        }
        boolean settled = settle();
        if (settled && waiting.isEmpty()) {
            hindrance = "";
        }
        return settled && !later;
    }

    private Fate act(Waiting next) {
        var line = next.line();
        var ack = acks.seen(line.part(), line.mark());
        return switch (next.meant()) {
            case ControlFileLine.Order order -> act(line, order, ack.put("kind", order.kind()));
            case ControlFileLine.Blank blank -> {
                acks.append(ack.put("result", "blank"));
                yield Fate.DONE;
            }
            case ControlFileLine.Nonsense nonsense -> {
                acks.append(ack.put("result", "skipped").put("why", nonsense.why()));
                notices.accept(notice(line, ControlFileNotice.Kind.SKIPPED, nonsense.why()));
                yield Fate.DONE;
            }
        };
    }

    private Fate act(ControlFileReader.Raw line, ControlFileLine.Order order, ObjectNode ack) {
        steps.accept(ControlFile.Step.READ);
        var receipt = submit(line, order);
        if (receipt.isEmpty()) {
            return Fate.LATER;
        }
        steps.accept(ControlFile.Step.ACCEPTED);
        switch (receipt.get()) {
            case Receipt.Full full -> {
                hinder("full", notice(line, ControlFileNotice.Kind.WAITING, full.message()));
                return Fate.NO_ROOM;
            }
            case Receipt.Stored stored ->
                ack.put("result", stored instanceof Receipt.Duplicate ? "duplicate" : "accepted")
                        .put("number", stored.number())
                        .put("accepted_at", stored.acceptedAt().toString());
            case Receipt.Refusal refusal -> {
                ack.put("result", "refused")
                        .put("problem", refusal.problem())
                        .put("why", ControlFileLine.printable(refusal.message()));
                notices.accept(notice(line, ControlFileNotice.Kind.REFUSED, refusal.message()));
            }
        }
        acks.append(ack);
        return Fate.DONE;
    }

    /** Absent when it is to be tried again. */
    private Optional<Receipt> submit(ControlFileReader.Raw line, ControlFileLine.Order order) {
        try {
            var receipt =
                    session.submit(order.payload(), order.author(), order.key().or(() -> Optional.of(line.key())));
            var first = CompletableFuture.anyOf(receipt.toCompletableFuture(), closing);
            return first.get(RECEIPT_SECONDS, TimeUnit.SECONDS) instanceof Receipt r
                    ? Optional.of(r)
                    : Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (TimeoutException e) {
            return failed(line, new TimeoutException("there is no receipt after " + RECEIPT_SECONDS + " s"));
        } catch (ExecutionException | RuntimeException e) {
            return failed(line, e);
        }
    }

    private Optional<Receipt> failed(ControlFileReader.Raw line, Throwable failure) {
        @Nullable Throwable cause = failure;
        while ((cause instanceof ExecutionException || cause instanceof CompletionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
        if (cause instanceof IllegalArgumentException) {
            return Optional.of(new Receipt.Refused(why)); // it will not be better the next time
        }
        if (!closing.isDone()) {
            hinder(why, notice(line, ControlFileNotice.Kind.WAITING, "the session does not take it now: " + why));
        }
        return Optional.empty();
    }

    /** Forces acknowledgements to disk; false when that failed, and then nothing is done until it succeeds. */
    private boolean settle() {
        if (!acks.hasUnwritten()) {
            return true;
        }
        try {
            acks.write();
            steps.accept(ControlFile.Step.WRITTEN);
            acks.force();
            steps.accept(ControlFile.Step.ACKNOWLEDGED);
            return true;
        } catch (IOException e) {
            hinder(
                    e.toString(),
                    new ControlFileNotice(
                            ControlFileNotice.Kind.UNUSABLE,
                            acks.path(),
                            0,
                            "acknowledgements cannot be written, and nothing is done until they can: "
                                    + ControlFileLine.printable(e.toString())));
            return false;
        }
    }

    private void hinder(String what, ControlFileNotice notice) {
        if (!what.equals(hindrance)) {
            hindrance = what;
            notices.accept(notice);
        }
    }

    private static ControlFileNotice notice(ControlFileReader.Raw line, ControlFileNotice.Kind kind, String text) {
        return new ControlFileNotice(kind, line.file(), line.mark().start(), ControlFileLine.printable(text));
    }
}
