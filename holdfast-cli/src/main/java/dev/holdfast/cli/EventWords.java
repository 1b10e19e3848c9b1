package dev.holdfast.cli;

import dev.holdfast.CallOutcome;
import dev.holdfast.EventRecord;
import dev.holdfast.JournalException;
import dev.holdfast.Outcome;
import dev.holdfast.SessionEvent;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Event;
import dev.holdfast.core.Phase;
import dev.holdfast.core.Taken;
import dev.holdfast.runtime.EventCodec;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** Says in words what an event means. */
final class EventWords {
    private static final EventCodec CODEC = new EventCodec();
    private static final int WORDS = 160;

    private EventWords() {}

    /** The event; absent for one of a newer version. */
    static Optional<Event> read(StoredEvent stored) {
        try {
            return Optional.of(CODEC.decode(stored));
        } catch (JournalException unknown) {
            return Optional.empty();
        }
    }

    static Optional<Event> read(SessionEvent event) {
        var body = event.body().getBytes(StandardCharsets.UTF_8);
        return read(new StoredEvent(
                event.seq(), 0, event.at(), new EventRecord(event.type(), event.version(), event.turn(), body)));
    }

    /** Whether it is a step in which a process was stopped: what came of that has an event of its own. */
    static boolean isNoise(StoredEvent stored) {
        return read(stored).orElse(null) instanceof Event.Noticed e && e.what().startsWith("stop_");
    }

    static String of(Event event) {
        return switch (event) {
            case Event.SessionOpened e -> "the session begins, on the agent '" + e.harness() + "'";
            case Event.PhaseChanged e -> phase(e);
            case Event.ArrivalDone e -> e.kind().name().toLowerCase(Locale.ROOT) + " " + e.number() + ": " + e.what();
            case Event.MessageEnded e ->
                "message " + e.message().number() + " ends without a turn: " + word(e.outcome()) + because(e.why());
            case Event.TurnOpened e -> opened(e);
            case Event.SteerPlanned e -> "message " + e.message().number() + " is to join turn " + e.turn();
            case Event.SteerLanded e -> "message " + e.message().number() + " joined turn " + e.turn();
            case Event.SteerReturned e ->
                "message " + e.message().number() + " did not reach turn " + e.turn() + " and waits again";
            case Event.ContinuationOpened e ->
                "the agent has the message and not the whole answer: it is asked to go on, not asked again";
            case Event.TurnReturned e -> "the agent does not have the message: turn " + e.turn() + " begins again";
            case Event.TurnSettled e ->
                "turn " + e.turn() + " settled, " + (e.messages().isEmpty() ? "" : messages(e.messages()) + " ")
                        + ending(e.outcome(), e.detail());
            case Event.CallStarted e -> "tool " + e.tool() + " is called";
            case Event.CallEnded e -> called(e);
            case Event.InterruptAsked e -> "turn " + e.turn() + " is to end" + because(e.why());
            default -> ofMail(event);
        };
    }

    private static String called(Event.CallEnded e) {
        var tool = "tool " + e.tool();
        return switch (e.outcome()) {
            case OK -> tool + " answered: " + TerminalText.line(e.answer(), WORDS);
            case ERROR -> tool + " failed: " + TerminalText.line(e.answer(), WORDS);
            case DENIED -> tool + " was denied by rule " + e.facts().rule() + because(e.answer());
            case ABANDONED -> tool + " was asked for and not begun";
            case CANCELLED -> tool + " was cancelled; it may have happened";
            case LOST -> tool + " was begun and its end was not seen; it may have happened";
        };
    }

    private static String opened(Event.TurnOpened e) {
        return switch (e.kind()) {
            case AFTER_LIMIT -> "turn " + e.turn() + " goes on where the last one reached its limit of steps";
            case INTERNAL -> "turn " + e.turn() + " is a request of the host itself";
            case MESSAGE, STEER, CONTINUATION ->
                messages(e.messages()) + (e.messages().size() == 1 ? " gets" : " get") + " turn " + e.turn();
        };
    }

    private static String ofMail(Event event) {
        return switch (event) {
            case Event.FinishAsked e -> "nothing new is taken; what waits still runs" + because(e.reason());
            case Event.QuestionAsked e -> "question " + e.id() + ": " + TerminalText.line(e.text(), WORDS);
            case Event.QuestionAnswered e -> "question " + e.id() + " is answered by arrival " + e.number();
            case Event.QuestionWithdrawn e -> "question " + e.id() + " is withdrawn" + because(e.why());
            case Event.MemoryDropped e -> "the agent forgets turns 1 to " + e.through() + because(e.why());
            case Event.TranscriptCut e -> "turns from " + e.from() + " on are thrown away" + because(e.why());
            case Event.TurnCopied e -> "turn " + e.turn() + " was taken over from another session";
            case Event.HarnessSwapped e -> "harness " + e.to() + " thinks from now on, not " + e.from() + " any more";
            case Event.ContinuationQueued e -> "the agent is to go on after its limit of steps";
            case Event.FeedOpened e -> "reader " + e.feed() + " opens (" + e.surface() + ")";
            case Event.MessagesTaken e -> messages(e.messages()) + " taken by reader " + e.feed();
            case Event.MessagesReturned e -> messages(e.messages()) + " given back" + because(e.why());
            case Event.MessagesReleased e ->
                "addresses released, with " + e.messages().size() + " unread";
            case Event.MessagesRestored e -> messages(e.messages()) + " put back in front";
            case Event.FeedEnded e ->
                "reader " + e.feed() + " is over: " + e.cause().name().toLowerCase(Locale.ROOT);
            default -> ofProcess(event);
        };
    }

    private static String ofProcess(Event event) {
        return switch (event) {
            case Event.AgentBound e ->
                e.differences().isEmpty()
                        ? "the session has its agent"
                        : "the next process is bound otherwise" + because(String.join("; ", e.differences()));
            case Event.IncarnationPlanned e -> "process " + e.incarnation() + " is wanted";
            case Event.IncarnationStarted e -> "process " + e.incarnation() + " runs (pid " + e.pid() + ")";
            case Event.IncarnationVerified e ->
                "process " + e.incarnation() + " is ready, version " + e.version() + ", "
                        + (e.resumed() ? "its session resumed" : "with a session of its own")
                        + (e.covers() > 0 ? "; it remembers turns 1 to " + e.covers() : "");
            case Event.IncarnationEnded e ->
                "process " + e.incarnation() + " is over (" + e.cause().name().toLowerCase(Locale.ROOT) + ")"
                        + because(e.why());
            case Event.NativeSessionReplaced e -> "the agent has a new session of its own" + because(e.why());
            case Event.CatchUpPlanned e ->
                "the agent is told turns " + e.from() + " to " + e.through() + " again, it had forgotten them";
            case Event.RestartScheduled e -> "it is started again at " + Times.ofDay(e.at());
            case Event.DeadlineMoved e -> "turn " + e.turn() + " goes on and has until " + Times.ofDay(e.deadline());
            case Event.AgentTurnSeen e -> "the agent spoke unasked: " + TerminalText.line(e.text(), WORDS);
            case Event.Noticed e -> e.what() + because(e.detail());
            default -> event.getClass().getSimpleName();
        };
    }

    /** What a person who waits for an answer should hear of; absent for what is as usual. */
    static Optional<String> notice(long seq, Event event) {
        return switch (event) {
            case Event.IncarnationEnded e
            when e.cause() == Event.EndCause.CRASHED
                    || e.cause() == Event.EndCause.START_FAILED
                    || e.cause() == Event.EndCause.HOST_LOST ->
                Optional.of(
                        e.cause() == Event.EndCause.HOST_LOST
                                ? "the last host was killed; its session is taken up"
                                : "the agent's process ended" + because(e.why()));
            case Event.AgentBound e when !e.differences().isEmpty() -> Optional.of(of(e));
            case Event.HarnessSwapped e -> Optional.of(of(e));
            case Event.RestartScheduled e -> Optional.of(of(e));
            case Event.ContinuationOpened e -> Optional.of(of(e));
            case Event.TurnReturned e -> Optional.of(of(e));
            case Event.CatchUpPlanned e -> Optional.of(of(e));
            case Event.CallStarted e -> Optional.of(of(e));
            case Event.CallEnded e when e.outcome() == CallOutcome.DENIED -> Optional.of(of(e));
            case Event.QuestionAsked e ->
                Optional.of(of(e) + (e.call().isPresent() ? "; answer with: holdfast approve NAME yes, or no" : ""));
            case Event.QuestionWithdrawn e -> Optional.of(of(e));
            case Event.InterruptAsked e ->
                Optional.of(e.number() > 0 ? "interrupting" : "interrupting" + because(e.why()));
            case Event.AgentTurnSeen e -> Optional.of(of(e));
            case Event.PhaseChanged e
            when e.trigger() == Phase.Trigger.PAUSE || e.trigger() == Phase.Trigger.DRAINED -> Optional.of(of(e));
            default -> Optional.empty();
        };
    }

    static String word(Outcome outcome) {
        return switch (outcome) {
            case ANSWERED -> "answered";
            case FAILED -> "failed";
            case CANCELLED -> "interrupted";
            case TURN_LIMIT -> "stopped at the agent's limit of steps";
            case WITHDRAWN -> "withdrawn";
            case DEAD_LETTER -> "set aside";
            case CLOSED -> "not done, the session was closed";
        };
    }

    /** How a message ended and why; a wish of the user needs no reason. */
    static String ending(Outcome outcome, String detail) {
        return word(outcome) + (detail.equals("cancelled") ? "" : because(detail));
    }

    private static String phase(Event.PhaseChanged e) {
        return switch (e.trigger()) {
            case PARK -> "the session is parked" + because(e.reason());
            case RESUME -> "the session is resumed" + because(e.reason());
            case CLOSE -> "the session is closed" + because(e.reason());
            case PAUSE -> "the session is paused" + because(e.reason());
            case DRAIN -> "the session is being drained";
            case DRAINED -> "the session is paused" + because(e.reason());
        };
    }

    private static String messages(List<Taken> messages) {
        return (messages.size() == 1 ? "message " : "messages ")
                + messages.stream().map(m -> Long.toString(m.number())).collect(Collectors.joining(", "));
    }

    static String because(String why) {
        return why.isEmpty() ? "" : ": " + TerminalText.line(why, WORDS);
    }

    /** Whether the event parks the session. */
    static boolean parks(Event event) {
        return event instanceof Event.PhaseChanged e && e.trigger() == Phase.Trigger.PARK;
    }
}
