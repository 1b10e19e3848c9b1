package dev.holdfast.testkit;

import dev.holdfast.Arrival;
import dev.holdfast.Delivery;
import dev.holdfast.Limits;
import dev.holdfast.Line;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Reply;
import dev.holdfast.SessionName;
import dev.holdfast.StoredEvent;
import dev.holdfast.ToolCall;
import dev.holdfast.core.Phase;
import dev.holdfast.runtime.EventCodec;
import dev.holdfast.testkit.MessageLedger.Entry;
import dev.holdfast.testkit.MessageLedger.Place;
import dev.holdfast.testkit.SimulatedSession.Happening;
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
import java.util.function.Supplier;
import java.util.regex.Pattern;

/**
 * Judges a run by what is on the disk, what the model was shown, and what callers were told (P1 to P4). It knows nothing of
 * how the system works inside. A marker {@code <<key>>} in a message's text makes it recognisable in the conversation.
 */
final class InvariantChecker implements SimulatedAgents.Watcher {
    /** Begins what the host asks for itself. */
    static final String INTERNAL = "{{internal-";

    /** In a message that must not be told to an agent that was told another. */
    static final String BORDER = "[border]";

    private static final Pattern MARKER = Pattern.compile("<<([a-z0-9-]+)>>");

    private final SessionName session;
    private final SimulatedStore store;
    private final Optional<Consumer<String>> tracer;
    private final Supplier<Instant> clock;
    private final long bound;
    private final boolean read;
    private final boolean borders;
    private final EventCodec codec = new EventCodec();

    private final MessageLedger ledger;
    private final CancelRules cancels;
    private final EventRules events;
    private int historyRead;
    private long newestEpoch;
    private final Map<String, Long> numbers = new HashMap<>();
    private final Map<String, Long> receipts = new HashMap<>();
    private final Map<String, Boolean> addresses = new HashMap<>();
    private final Map<String, Long> internals = new HashMap<>();
    private final Set<Long> spokenTo = new HashSet<>();
    private final Set<Long> announced = new HashSet<>();
    private Optional<Violation> first = Optional.empty();

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

    /**
     * What kind of session is judged.
     *
     * @param read whether a reading surface takes the mail
     * @param combines whether messages may share a turn
     * @param borders whether the boundary is asked
     * @param bound how many messages may lie unread
     */
    record Judged(SessionName name, boolean read, boolean combines, boolean borders, long bound, Limits limits) {}

    InvariantChecker(Judged judged, SimulatedStore store, Supplier<Instant> clock, Optional<Consumer<String>> tracer) {
        this.session = judged.name();
        this.store = store;
        this.clock = clock;
        this.tracer = tracer;
        this.bound = judged.bound();
        this.read = judged.read();
        this.borders = judged.borders();
        ledger = new MessageLedger(this::check);
        cancels = new CancelRules(ledger, this::check);
        events = new EventRules(ledger, this::check, cancels, judged.read(), judged.combines(), judged.limits());
    }

    int messages() {
        return numbers.size();
    }

    MessageLedger ledger() {
        return ledger;
    }

    Phase phase() {
        return events.phase();
    }

    long newestTurn() {
        return events.newestTurn();
    }

    long openTurn() {
        return events.openTurn();
    }

    long epoch() {
        return newestEpoch;
    }

    private void check(boolean holds, Supplier<String> what) {
        if (!holds) {
            violation(what.get());
        }
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

    @Override
    public void trace(Supplier<String> what) {
        tracer.ifPresent(t -> t.accept(clock.get() + " " + what.get()));
    }

    // ---- what is on the disk --------------------------------------------------------------------------------------

    void afterStep() {
        if (first.isPresent()) {
            throw first.get();
        }
        var history = store.contents(session).history;
        boolean moved = false;
        while (historyRead < history.size()) {
            switch (history.get(historyRead++)) {
                case Happening.Accepted a -> accepted(a.arrival(), a.delivery());
                case Happening.Refused r -> refused(r.delivery(), r.why());
                case Happening.Recorded r -> recorded(r.event());
                case Happening.AddressClaimed c ->
                    addresses.put(c.address().token(), c.address().terms().once());
                case Happening.AddressesReleased r -> r.tokens().forEach(addresses::remove);
            }
            moved = true;
        }
        if (moved) {
            markIsSet();
        }
    }

    /** IN-21: the mark that something waits is cleared together with "nothing is unread" and not before. */
    private void markIsSet() {
        if (store.contents(session).readyAt.isEmpty()) {
            for (Entry waits : ledger.takeable()) {
                check(
                        waits.place == Place.FRONT,
                        () -> "IN-21: " + waits + " waits in a session that is not marked as ready");
            }
        }
    }

    private static String key(String text) {
        var matcher = MARKER.matcher(text);
        return matcher.find() ? matcher.group(1) : "";
    }

    private static String text(Arrival arrival) {
        return new String(arrival.body(), StandardCharsets.UTF_8);
    }

    private void accepted(Arrival arrival, Delivery delivery) {
        var key = key(text(arrival));
        trace(() -> "arrival " + arrival.number() + " " + arrival.kind() + " " + key);
        check(events.phase() != Phase.CLOSED, "MB-07: " + arrival.kind() + " is accepted by a closed session");
        if (arrival.kind().counted()) {
            check(!events.finishing(), "MB-07: a message is accepted by a session that is finished");
            check(ledger.unread() < bound, "MB-18: a message is accepted while " + bound + " are unread");
        }
        boolean busy = events.openTurn() > 0 || ledger.unread() > 0;
        check(!delivery.onlyIdle() || !busy, "TN-09: what only an idle session takes is accepted by a busy one");
        delivery.address().ifPresent(token -> {
            check(
                    addresses.containsKey(token),
                    "IN-10: something is accepted through address " + token + ", which is not claimed");
            if (Boolean.TRUE.equals(addresses.get(token))) {
                addresses.remove(token);
            }
        });
        var entry = ledger.accepted(arrival, key);
        if (!key.isEmpty()) {
            check(numbers.put(key, arrival.number()) == null, "Q4: the key " + key + " was accepted twice");
        }
        if (!read) {
            cancels.accepted(entry, events.openTurn(), newestEpoch);
        }
    }

    private void refused(Delivery delivery, Receipt.Refusal why) {
        trace(() -> "refused " + delivery.kind() + " " + why.message());
        boolean right = switch (why) {
            case Receipt.Full f -> delivery.kind().counted() && ledger.unread() >= bound;
            case Receipt.Busy b -> delivery.onlyIdle() && (events.openTurn() > 0 || ledger.unread() > 0);
            case Receipt.Released r -> !addresses.containsKey(r.address());
            case Receipt.KeyConflict c -> numbers.containsValue(c.number());
            case Receipt.UnknownSession u -> false;
            case Receipt.Refused r -> events.finishing() || delivery.address().isPresent();
        };
        check(right, () -> "P4: " + delivery.kind() + " is refused without cause: " + why);
    }

    private void recorded(StoredEvent stored) {
        check(
                stored.epoch() >= newestEpoch,
                () -> "O2: event " + stored.seq() + " of epoch " + stored.epoch() + " follows one of epoch "
                        + newestEpoch);
        newestEpoch = stored.epoch();
        var event = codec.decode(stored);
        trace(() -> "event " + stored.seq() + " epoch " + stored.epoch() + " " + event);
        events.recorded(event, stored.at());
    }

    // ---- what callers were told -----------------------------------------------------------------------------------

    /** A sender has a receipt of something that is stored. */
    void acknowledged(String key, Receipt.Stored receipt) {
        afterStep();
        long number = receipt.number();
        var earlier = receipts.putIfAbsent(key, number);
        check(earlier == null || earlier == number, () -> "IN-12: key " + key + " has two numbers");
        check(
                ledger.find(number).filter(e -> e.key.equals(key)).isPresent(),
                () -> "D1: message " + key + " was acknowledged as number " + number + " and is not on the disk");
    }

    /** A sender was told that nothing was stored. */
    void turnedAway(String key, Receipt.Refusal why) {
        afterStep();
        check(!(why instanceof Receipt.KeyConflict), () -> "Q4: key " + key + " is said to conflict");
        check(!numbers.containsKey(key), () -> "P1: message " + key + " is on the disk and was refused: " + why);
    }

    /** The same key with other words. */
    void repeated(String key, Receipt receipt) {
        afterStep();
        check(receipt instanceof Receipt.KeyConflict, () -> "IN-12: key " + key + " with other words gets " + receipt);
    }

    /** A batch is taken whole or not at all (IN-19). */
    void batch(List<String> keys) {
        afterStep();
        long there = keys.stream().filter(numbers::containsKey).count();
        check(
                there == 0 || there == keys.size(),
                () -> "IN-19: of the batch " + keys + " " + there + " are on the disk");
        for (int i = 1; i < keys.size() && there > 0; i++) {
            long distance = numbers.getOrDefault(keys.get(i), 0L) - numbers.getOrDefault(keys.get(i - 1), 0L);
            check(distance == 1, () -> "IN-19: the batch " + keys + " is not in order");
        }
    }

    void told(Reply reply) {
        afterStep();
        var end = ledger.of(reply.number()).outcome;
        check(
                end.filter(reply.outcome()::equals).isPresent(),
                () -> "a caller is told that message " + reply.number() + " ended as " + reply.outcome()
                        + "; the journal says " + end);
        check(!reply.text().contains(INTERNAL), () -> "MB-16: a caller is told " + reply.text());
    }

    void toolRuns(ToolCall call) {
        afterStep();
        events.calls().runs(call.callId(), call.idempotencyKey(), call.input());
    }

    /** Addresses that the session says it has (IN-08). */
    void claimed(List<String> tokens) {
        afterStep();
        for (String token : tokens) {
            check(
                    addresses.containsKey(token),
                    () -> "IN-08: the session lists address " + token + ", which it has not");
        }
    }

    /** Whether the receipt is of this session: what came through an address may have gone to a neighbour. */
    boolean owns(String key, Receipt.Stored receipt) {
        afterStep();
        return ledger.find(receipt.number()).filter(e -> e.key.equals(key)).isPresent();
    }

    /** What an address's releaser was given (IN-10). */
    void releasedTo(List<Received> unread) {
        afterStep();
        long before = 0;
        for (Received r : unread) {
            var e = ledger.of(r.number());
            long last = before;
            check(e.named, () -> "IN-10: " + e + " waits still and is handed to the releaser of an address");
            check(e.returned || e.number() > last, () -> "IN-10: " + e + " is handed to a releaser behind " + last);
            before = e.returned ? last : e.number();
        }
    }

    // ---- what readers were given ----------------------------------------------------------------------------------

    /** A reader was given a message: that was committed before. True when it was given back at least once. */
    boolean given(long number) {
        afterStep();
        var e = ledger.of(number);
        check(e.named, () -> "MB-02: " + e + " is given to a reader and was not taken");
        return e.returned;
    }

    /** What a reader was told of its end of a message. */
    void settled(long number, Outcome outcome, String answer, boolean done) {
        afterStep();
        var e = ledger.of(number);
        boolean his =
                e.answer.equals(answer) && e.outcome.filter(outcome::equals).isPresent();
        check(
                his == done,
                () -> "MB-02: a reader is told " + done + " of its end of " + e + ", which is at " + e.place);
    }

    /** What is for the successor of a feed is in nobody's hand (MB-09). */
    void notInHand(List<Received> unread) {
        afterStep();
        for (Received r : unread) {
            var e = ledger.of(r.number());
            check(e.place != Place.HAND, () -> "MB-09: " + e + " is in flight and for the successor as well");
        }
    }

    /** What the closer of a chat was given (CH-03). */
    void returnedToCloser(List<Received> unread) {
        afterStep();
        for (Received r : unread) {
            var e = ledger.of(r.number());
            check(
                    e.outcome.filter(o -> o == Outcome.CLOSED).isPresent(),
                    () -> "CH-03: " + e + " is returned to the closer and ended as " + e.outcome);
        }
    }

    // ---- what the model was shown ---------------------------------------------------------------------------------

    /** The host asks for something of the incarnation that is there now (MB-16). */
    void internalAsked(String marker) {
        afterStep();
        internals.put(marker, events.incarnation());
    }

    @Override
    public void told(SessionName name, long incarnation, Line line) {
        afterStep();
        trace(() -> "agent " + incarnation + " is told " + line);
        internals.forEach((marker, asked) -> {
            if (line.hostNote().contains(marker)) {
                check(
                        asked == incarnation,
                        () -> "MB-16: " + marker + " is asked of incarnation " + incarnation + " and was for " + asked);
            }
        });
        line.texts().forEach(this::retold);
        if (!line.steer() && !line.texts().isEmpty()) {
            var words = line.texts().getLast();
            check(
                    !borders
                            || !words.contains(BORDER)
                            || words.startsWith("[holdfast]")
                            || !spokenTo.contains(incarnation),
                    () -> "MB-10: " + words + " is told to an agent that was told another message");
        }
        spokenTo.add(incarnation);
    }

    @Override
    public void retold(String text) {
        check(!text.contains(INTERNAL), () -> "MB-16: a request of the host is told again: " + text);
    }

    @Override
    public void modelCall(SessionName name, long incarnation, List<String> userTexts, boolean ownTurn) {
        afterStep();
        var shown = new ArrayList<Entry>();
        var seen = new HashSet<String>();
        for (String text : userTexts) {
            var matcher = MARKER.matcher(text);
            while (matcher.find()) {
                check(
                        seen.add(matcher.group(1)),
                        "P2: message " + matcher.group(1) + " stands twice in the conversation");
                Optional.ofNullable(numbers.get(matcher.group(1)))
                        .map(ledger::of)
                        .ifPresent(shown::add);
            }
        }
        long turn = 0;
        for (Entry e : shown) {
            check(
                    e.turn == 0 || !events.gone(e.turn) || incarnation < events.incarnation() || !events.up(),
                    () -> "IN-20: " + e + " stands in a conversation that was dropped");
            boolean taken = e.outcome
                    .filter(o -> o == Outcome.WITHDRAWN || (o == Outcome.CLOSED && e.turn == 0 && !e.steering))
                    .isPresent();
            check(!taken, () -> "MB-21: " + e + " ended as " + e.outcome + " and stands in the conversation");
            if (e.turn > 0) {
                long before = turn;
                check(e.turn >= turn, () -> "P2: " + e + " of turn " + e.turn + " stands behind turn " + before);
                turn = e.turn;
            }
        }
        if (!ownTurn) {
            everySettledIsShown(shown);
        }
    }

    /** What had a turn and is over stands in the conversation that the next turn continues. */
    private void everySettledIsShown(List<Entry> shown) {
        for (Entry e : ledger.ended()) {
            check(
                    events.gone(e.turn) || shown.contains(e),
                    () -> "P2: " + e + " had turn " + e.turn + ", ended as " + e.outcome
                            + ", and is missing in the conversation " + shown);
        }
    }

    // ---- interrupts -----------------------------------------------------------------------------------------------

    /** A host was told of an urgent arrival (IN-06). */
    void announced(long number) {
        announced.add(number);
    }

    // ---- the end --------------------------------------------------------------------------------------------------

    boolean everythingEnded() {
        return ledger.everythingEnded()
                && (!events.finishing() || phase() == Phase.CLOSED)
                && (phase() == Phase.CLOSED || ledger.at(Place.RELEASED).isEmpty());
    }

    void atTheEnd() {
        afterStep();
        receipts.forEach((key, number) -> check(
                numbers.containsKey(key), () -> "D1: message " + key + " was acknowledged and is not on the disk"));
        numbers.forEach((key, number) -> {
            var e = ledger.of(number);
            check(
                    e.outcome.isPresent() || !e.kind().speaks(),
                    () -> "L1: message " + key + " (" + number + ") has no terminal record; it is at " + e.place);
        });
        cancels.atTheEnd();
        events.atTheEnd(clock.get()).forEach(this::violation);
    }
}
