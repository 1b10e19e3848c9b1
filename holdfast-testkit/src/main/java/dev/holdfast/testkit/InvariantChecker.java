package dev.holdfast.testkit;

import dev.holdfast.Arrival;
import dev.holdfast.ArrivalKind;
import dev.holdfast.MessageId;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.ToolCall;
import dev.holdfast.core.Event;
import dev.holdfast.core.Taken;
import dev.holdfast.runtime.EventCodec;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Judges a run by what is on the disk, what the model was shown, and what callers were told (P1 to P4). It knows nothing of
 * how the system works inside. A marker {@code <<key>>} in a message's text makes it recognisable in the conversation.
 */
final class InvariantChecker implements SimulatedAgents.Watcher {
    private static final Pattern MARKER = Pattern.compile("<<([a-z0-9-]+)>>");

    private final SessionName session;
    private final SimulatedStore store;
    private final EventCodec codec = new EventCodec();

    private final Consumer<String> trace;
    private int eventsRead;
    private int arrivalsRead;
    private long newestEpoch;
    private final Map<Long, Arrival> arrivals = new HashMap<>();
    private final Map<String, Long> numbers = new HashMap<>();
    private final Map<Long, Outcome> ended = new HashMap<>();
    private final Map<Long, Long> turnOf = new HashMap<>();
    private final Set<Long> named = new HashSet<>();
    private final Set<Long> steered = new HashSet<>();
    private final Set<String> startedKeys = new HashSet<>();
    private final List<Long> settledOrder = new ArrayList<>();
    private final Map<String, Receipt> receipts = new HashMap<>();
    private Optional<Violation> first = Optional.empty();
    private long openTurn;
    private long lastOpened;

    /** A promise that was not kept. */
    static final class Violation extends RuntimeException {
        private static final long serialVersionUID = 1;
        private final String what;

        Violation(String what) {
            super(what);
            this.what = what;
        }

        String what() {
            return what;
        }
    }

    InvariantChecker(SessionName session, SimulatedStore store, Consumer<String> trace) {
        this.trace = trace;
        this.session = session;
        this.store = store;
    }

    int messages() {
        return numbers.size();
    }

    private void check(boolean holds, String what) {
        if (!holds) {
            violation(what);
        }
    }

    /** Remembered as well as thrown, since whoever is called back may catch it. */
    @Override
    public void violation(String what) {
        var violation = new Violation(what);
        first = first.or(() -> Optional.of(violation));
        throw violation;
    }

    // ---- what is on the disk --------------------------------------------------------------------------------------

    void afterStep() {
        if (first.isPresent()) {
            throw first.get();
        }
        var contents = store.contents(session);
        for (; arrivalsRead < contents.arrivals.size(); arrivalsRead++) {
            var arrival = contents.arrivals.get(arrivalsRead);
            arrivals.put(arrival.number(), arrival);
            trace.accept("arrival " + arrival.number() + " " + arrival.kind() + " " + key(arrival));
            if (!arrival.kind().urgent()) {
                var key = key(arrival);
                check(numbers.put(key, arrival.number()) == null, "Q4: the key " + key + " was accepted twice");
            }
        }
        for (; eventsRead < contents.events.size(); eventsRead++) {
            event(contents.events.get(eventsRead));
        }
    }

    private static String key(Arrival arrival) {
        var matcher = MARKER.matcher(new String(arrival.body(), StandardCharsets.UTF_8));
        return matcher.find() ? matcher.group(1) : "";
    }

    @Override
    public void trace(String what) {
        trace.accept(what);
    }

    private void event(StoredEvent stored) {
        trace.accept("event " + stored.seq() + " epoch " + stored.epoch() + " " + codec.decode(stored));
        check(
                stored.epoch() >= newestEpoch,
                "O2: event " + stored.seq() + " of epoch " + stored.epoch() + " follows one of epoch " + newestEpoch);
        newestEpoch = stored.epoch();
        switch (codec.decode(stored)) {
            case Event.TurnOpened e -> opened(e);
            case Event.SteerLanded e -> {
                steered.add(e.message().number());
                name(e.message().number());
                turnOf.put(e.message().number(), e.turn());
            }
            case Event.SteerReturned e -> steered.add(e.message().number());
            case Event.TurnSettled e -> {
                check(openTurn == e.turn(), "Q1: turn " + e.turn() + " is settled while " + openTurn + " is open");
                openTurn = 0;
                e.messages().forEach(m -> end(m, e.outcome()));
            }
            case Event.MessageEnded e -> {
                name(e.message().number());
                end(e.message(), e.outcome());
            }
            case Event.ArrivalDone e -> name(e.number());
            case Event.InterruptAsked e -> {
                if (e.number() > 0) {
                    name(e.number());
                }
            }
            case Event.CallStarted e -> startedKeys.add(e.key());
            default -> {}
        }
    }

    private void opened(Event.TurnOpened e) {
        check(openTurn == 0, "TN-01: turn " + e.turn() + " is opened while " + openTurn + " is open");
        openTurn = e.turn();
        for (Taken m : e.messages()) {
            turnOf.put(m.number(), e.turn());
            if (steered.contains(m.number())) {
                continue; // it landed once, and the agent lost it
            }
            name(m.number());
            boolean steer = !isMessage(m.number());
            check(
                    steer || m.number() > lastOpened,
                    "Q1: message " + m.number() + " gets its turn after message " + lastOpened);
            lastOpened = steer ? lastOpened : m.number();
        }
    }

    private boolean isMessage(long number) {
        var arrival = arrivals.get(number);
        return arrival != null && arrival.kind() == ArrivalKind.MESSAGE;
    }

    private void name(long number) {
        check(named.add(number) || steered.contains(number), "IN-22: arrival " + number + " is named by two events");
    }

    private void end(Taken message, Outcome outcome) {
        check(
                !ended.containsKey(message.number()),
                "Q2: message " + message.number() + " has a second terminal record");
        ended.put(message.number(), outcome);
        settledOrder.add(message.number());
    }

    // ---- what callers were told -----------------------------------------------------------------------------------

    void acknowledged(String key, Receipt receipt) {
        long number = switch (receipt) {
            case Receipt.Accepted r -> r.number();
            case Receipt.Duplicate r -> r.number();
            case Receipt.KeyConflict r -> throw new Violation("Q4: key " + key + " is said to conflict");
            case Receipt.Full r -> throw new Violation("MB-18: refused as full at " + r.unread());
            case Receipt.Refusal r -> throw new Violation("refused: " + r.message());
        };
        var first = receipts.putIfAbsent(key, new Receipt.Accepted(idOf(receipt), number, Instant.EPOCH));
        check(first == null || ((Receipt.Accepted) first).number() == number, "IN-12: key " + key + " has two numbers");
        var contents = store.contents(session);
        check(
                contents.arrivals.size() >= number
                        && key(contents.arrivals.get((int) number - 1)).equals(key),
                "D1: message " + key + " was acknowledged as number " + number + " and is not on the disk");
    }

    private static MessageId idOf(Receipt receipt) {
        return receipt instanceof Receipt.Accepted a ? a.id() : ((Receipt.Duplicate) receipt).id();
    }

    void told(Reply reply) {
        afterStep();
        check(
                ended.get(reply.number()) == reply.outcome(),
                "a caller is told that message " + reply.number() + " ended as " + reply.outcome()
                        + "; the journal says " + ended.get(reply.number()));
    }

    void toolRuns(ToolCall call) {
        afterStep();
        check(
                startedKeys.contains(call.idempotencyKey()),
                "TL-07: call " + call.callId() + " runs before its start is durable");
    }

    // ---- what the model was shown ---------------------------------------------------------------------------------

    @Override
    public void modelCall(SessionName name, List<String> userTexts, boolean ownTurn) {
        afterStep();
        var shown = new ArrayList<Long>();
        var seen = new HashSet<String>();
        for (String text : userTexts) {
            var matcher = MARKER.matcher(text);
            while (matcher.find()) {
                check(
                        seen.add(matcher.group(1)),
                        "P2: message " + matcher.group(1) + " stands twice in the conversation");
                Optional.ofNullable(numbers.get(matcher.group(1))).ifPresent(shown::add);
            }
        }
        long last = 0;
        for (long number : shown) {
            if (isMessage(number)) {
                check(
                        number > last,
                        "P2: message " + number + " stands behind message " + last + " in the conversation");
                last = number;
            }
        }
        if (!ownTurn) {
            everySettledIsShown(shown);
        }
    }

    /** What had a turn and is over stands in the conversation that the next turn continues. */
    private void everySettledIsShown(List<Long> shown) {
        for (long number : settledOrder) {
            check(
                    !turnOf.containsKey(number) || shown.contains(number),
                    "P2: message " + number + " had a turn, ended as " + ended.get(number)
                            + ", and is missing in the conversation " + shown);
        }
    }

    // ---- the end --------------------------------------------------------------------------------------------------

    boolean everythingEnded() {
        return numbers.values().stream().allMatch(ended::containsKey);
    }

    void atTheEnd() {
        afterStep();
        receipts.forEach((key, receipt) ->
                check(numbers.containsKey(key), "D1: message " + key + " was acknowledged and is not on the disk"));
        numbers.forEach((key, number) ->
                check(ended.containsKey(number), "L1: message " + key + " (" + number + ") has no terminal record"));
    }
}
