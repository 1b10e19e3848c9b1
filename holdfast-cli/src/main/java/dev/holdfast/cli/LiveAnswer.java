package dev.holdfast.cli;

import dev.holdfast.EventListener;
import dev.holdfast.Outcome;
import dev.holdfast.Reply;
import dev.holdfast.SessionEvent;
import dev.holdfast.Usage;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Shows answers as they are written, with what happens on the way, and tells who waits how each message ended. What was
 * shown live is completed from the settling event, so that nothing is missing when fragments were lost.
 */
final class LiveAnswer implements EventListener {
    private static final int INDENT = 7;

    private final Screen answers;
    private final Screen notices;
    private final Teller teller;
    private final boolean shown;
    private final Map<Long, CompletableFuture<Reply>> waiting = new LinkedHashMap<>();
    private final Map<Long, Reply> ended = new LinkedHashMap<>();
    private final CompletableFuture<String> parked = new CompletableFuture<>();
    private final StringBuilder streamed = new StringBuilder();
    private long settled;
    private boolean inLine;

    /** What to say of an event at once; absent for nothing. */
    @FunctionalInterface
    interface Teller {
        Optional<String> notice(long seq, Event event);
    }

    /** @param shown false: nothing is printed but notices */
    LiveAnswer(Screen answers, Screen notices, Teller teller, boolean shown) {
        this.teller = teller;
        this.answers = answers;
        this.notices = notices;
        this.shown = shown;
    }

    /** How the message ends, as a committed event says. */
    synchronized CompletableFuture<Reply> end(long number) {
        var known = ended.get(number);
        return known != null
                ? CompletableFuture.completedFuture(known)
                : waiting.computeIfAbsent(number, n -> new CompletableFuture<>());
    }

    /** Completes with the reason when the session is parked. */
    CompletableFuture<String> parked() {
        return parked;
    }

    @Override
    public synchronized void onText(long turn, String fragment) {
        if (!shown || turn <= settled || fragment.isEmpty()) {
            return;
        }
        begin();
        streamed.append(fragment);
        answers.part(TerminalText.safe(fragment).replace("\n", "\n" + " ".repeat(INDENT)));
    }

    /** Prints a line of its own, also in the middle of an answer. */
    synchronized void aside(String ready) {
        endLine();
        streamed.setLength(0);
        notices.line(ready);
    }

    /** Tells of something that went wrong beside the answers. */
    void warn(String words) {
        aside(notices.styled(Screen.Style.YELLOW, "       · " + words));
    }

    private void begin() {
        if (!inLine) {
            answers.part(answers.styled(Screen.Style.CYAN, "agent  "));
            inLine = true;
        }
    }

    private void endLine() {
        if (inLine) {
            answers.blank();
            inLine = false;
        }
    }

    @Override
    public synchronized void onEvent(SessionEvent stored) {
        EventWords.read(stored).ifPresent(event -> happened(stored.seq(), event));
    }

    private void happened(long seq, Event event) {
        if (event instanceof Event.TurnSettled e) {
            settle(e);
        }
        teller.notice(seq, event).ifPresent(words -> aside(notices.styled(Screen.Style.DIM, "       · " + words)));
        switch (event) {
            case Event.TurnSettled e -> {
                for (Taken m : e.messages()) {
                    end(new Reply(m.number(), e.turn(), e.outcome(), e.text(), e.detail(), e.usage()));
                }
            }
            case Event.MessageEnded e ->
                end(new Reply(e.message().number(), 0, e.outcome(), "", e.why(), Usage.unknown()));
            case Event.PhaseChanged e
            when EventWords.parks(e) -> {
                endLine();
                parked.complete(e.reason());
            }
            default -> {}
        }
    }

    private void end(Reply reply) {
        ended.put(reply.number(), reply);
        var waiter = waiting.remove(reply.number());
        if (waiter != null) {
            waiter.complete(reply);
        }
    }

    private void settle(Event.TurnSettled e) {
        settled = e.turn();
        if (shown) {
            complete(e.text());
            if (e.outcome() != Outcome.ANSWERED) {
                notices.line(Screen.Style.YELLOW, "       (" + EventWords.ending(e.outcome(), e.detail()) + ")");
            }
        }
        streamed.setLength(0);
    }

    /** Prints what of the final words was not shown live. */
    private void complete(String text) {
        int known = overlap(streamed.toString(), text);
        if (known < text.length() && !text.isBlank()) {
            if (known == 0) {
                endLine();
            }
            begin();
            answers.part(TerminalText.safe(text.substring(known)).replace("\n", "\n" + " ".repeat(INDENT)));
        }
        endLine();
    }

    /** How many characters at the beginning of {@code text} are at the end of {@code shown} already. */
    static int overlap(String shown, String text) {
        for (int length = Math.min(shown.length(), text.length()); length > 0; length--) {
            if (shown.regionMatches(shown.length() - length, text, 0, length)) {
                return length;
            }
        }
        return 0;
    }
}
