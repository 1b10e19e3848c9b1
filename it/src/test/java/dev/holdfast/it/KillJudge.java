package dev.holdfast.it;

import dev.holdfast.Arrival;
import dev.holdfast.Journal;
import dev.holdfast.JournalReader;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Session;
import dev.holdfast.StoredEvent;
import dev.holdfast.core.Event;
import dev.holdfast.it.KillLedger.Promise;
import dev.holdfast.runtime.EventCodec;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** Compares a store with what the killed processes had said of it, and reads it to the end. */
final class KillJudge {
    private static final int PAGE = 1_000;
    /** So many old keys and ends of each session are asked for again. */
    private static final int ASKED = 40;

    private final Journal journal;
    private final KillLedger ledger;
    private final EventCodec codec = new EventCodec();

    private KillJudge(Journal journal, KillLedger ledger) {
        this.journal = journal;
        this.ledger = ledger;
    }

    /** After the last kill. Every breach is put down in the ledger; a store with one is not read on from. */
    static void judge(String store, Path home, KillLedger ledger) {
        try (var journal = KillLoopMain.journal(store)) {
            var judge = new KillJudge(journal, ledger);
            var histories = new ArrayList<History>();
            for (int session = 0; session < KillLoopMain.SESSIONS; session++) {
                if (Station.now(journal.session(KillLoopMain.name(session))).isPresent()) {
                    histories.add(judge.history(session));
                }
            }
            if (ledger.breaches().isEmpty()) {
                try (var host = Holdfast.open(journal, Options.standard().home(home))) {
                    histories.forEach(history -> judge.readOn(host, history));
                }
            }
        } catch (RuntimeException | AssertionError e) {
            ledger.breach(Promise.STALLED, "the store cannot be read to its end: " + e);
        }
    }

    private History history(int session) {
        var history = new History(session, arrivals(session).size());
        history.read();
        var missing = new TreeSet<>(ledger.desk(session).ends.keySet());
        missing.removeAll(history.ends.keySet());
        ledger.check(
                missing.isEmpty(),
                Promise.LOST,
                "settlements of " + missing + " in session " + session + " were acknowledged and are not recorded");
        return history;
    }

    /** What did not end comes out in order, and every message gets its one end. */
    private void readOn(Holdfast host, History history) {
        int session = history.session;
        try (var inbox = Station.now(host.inbox(KillLoopMain.name(session)))) {
            var left = Station.now(inbox.takeAll());
            var numbers = left.stream().map(Received::number).toList();
            var expected = history.notEnded();
            ledger.check(
                    numbers.equals(expected),
                    numbers.containsAll(expected) ? Promise.ORDER : Promise.LOST,
                    "left to read in session " + session + " are " + numbers + "; not ended are " + expected);
            for (var one : left) {
                ledger.check(
                        Station.now(inbox.settle(one, "last-" + one.number())),
                        Promise.LOST,
                        "message " + one.number() + " of session " + session + " cannot be ended");
            }
            askAgain(inbox.session(), session);
        }
        history.read();
        ledger.check(
                history.ends.size() == history.arrivals,
                Promise.LOST,
                "session " + session + " has " + history.arrivals + " messages and " + history.ends.size() + " ends");
    }

    /** Whoever asks again is told the same, for ever (IN-12, P2). */
    private void askAgain(Session session, int number) {
        var desk = ledger.desk(number);
        desk.numbers.entrySet().stream().limit(ASKED).forEach(e -> {
            var receipt = session.send(Message.of(KillLoopMain.text(e.getKey())).key(e.getKey()));
            ledger.check(
                    receipt instanceof Receipt.Duplicate d && d.number() == e.getValue(),
                    Promise.TWICE,
                    "key " + e.getKey() + " of message " + e.getValue() + " is answered by " + receipt);
        });
        desk.ends.entrySet().stream().limit(ASKED).forEach(e -> {
            var text = Station.now(session.reply(e.getKey())).text();
            ledger.check(
                    text.equals(e.getValue()),
                    Promise.LOST,
                    "the sender of " + e.getKey() + " reads " + text + "; its reader answered " + e.getValue());
        });
    }

    /** All arrivals: numbers without a gap, each acknowledged one at its place, no key twice. */
    private List<Arrival> arrivals(int session) {
        var desk = ledger.desk(session);
        var all = new ArrayList<Arrival>();
        var keys = new HashMap<String, Long>();
        for (var page = page(session, 0);
                !page.isEmpty();
                page = page(session, all.getLast().number())) {
            for (var arrival : page) {
                ledger.check(
                        arrival.number() == all.size() + 1,
                        Promise.ORDER,
                        "arrival " + arrival.number() + " of session " + session + " follows " + all.size());
                all.add(arrival);
                var text = new String(arrival.body(), StandardCharsets.UTF_8);
                var key = KillLoopMain.key(text);
                var twin = keys.putIfAbsent(key, arrival.number());
                ledger.check(twin == null, Promise.TWICE, key + " is arrival " + twin + " and " + arrival.number());
                ledger.check(
                        text.equals(KillLoopMain.text(key)), Promise.LOST, key + " has other words than were sent");
            }
        }
        desk.numbers.forEach((key, number) -> ledger.check(
                number.equals(keys.get(key)),
                Promise.LOST,
                key + " was acknowledged as " + number + " and is " + keys.get(key)));
        return all;
    }

    private List<Arrival> page(int session, long after) {
        return Station.now(
                journal.arrivals(KillLoopMain.name(session), after, PAGE, JournalReader.Selection.WITH_BODIES));
    }

    /** The events of a session, followed by the rules for messages that readers take. */
    private final class History {
        private final int session;
        private final long arrivals;
        private final TreeSet<Long> waiting = new TreeSet<>();
        private final Set<Long> hand = new HashSet<>();
        private final Map<Long, String> ends = new HashMap<>();
        private long seq;
        private long epoch;

        History(int session, long arrivals) {
            this.session = session;
            this.arrivals = arrivals;
            for (long number = 1; number <= arrivals; number++) {
                waiting.add(number);
            }
        }

        /** What comes after what was read before. */
        void read() {
            for (var page = page(); !page.isEmpty(); page = page()) {
                for (var stored : page) {
                    check(stored.seq() == ++seq, Promise.ORDER, "event " + stored.seq() + " stands at " + seq);
                    check(stored.epoch() >= epoch, Promise.ORDER, "event " + seq + " is of a former owner");
                    epoch = stored.epoch();
                    follow(codec.decode(stored));
                }
            }
        }

        private List<StoredEvent> page() {
            return Station.now(journal.events(KillLoopMain.name(session), seq, PAGE));
        }

        private void check(boolean holds, Promise promise, String what) {
            ledger.check(holds, promise, what + " in session " + session);
        }

        private void follow(Event event) {
            switch (event) {
                case Event.MessagesTaken e -> e.messages().forEach(m -> taken(m.number()));
                case Event.MessagesReturned e -> e.messages().forEach(m -> returned(m.number()));
                case Event.MessageEnded e -> ended(e.message().number(), e.text());
                case Event.FeedOpened e ->
                    check(hand.isEmpty(), Promise.LOST, "feed " + e.feed() + " leaves " + hand + " with an older one");
                case Event.SessionOpened e -> check(seq == 1, Promise.TWICE, "opened again by event " + seq);
                case Event.FeedEnded e -> {}
                default -> check(false, Promise.STALLED, "nobody asked for " + event);
            }
        }

        private void taken(long number) {
            boolean again = !waiting.contains(number);
            check(!again, Promise.TWICE, "event " + seq + " takes " + number + ", which is held or ended,");
            check(
                    again || waiting.first() == number,
                    Promise.ORDER,
                    "event " + seq + " takes " + number + " before " + (waiting.isEmpty() ? 0 : waiting.first()));
            waiting.remove(number);
            hand.add(number);
        }

        private void returned(long number) {
            check(hand.remove(number), Promise.TWICE, "event " + seq + " returns " + number + ", which is not held,");
            waiting.add(number);
        }

        private void ended(long number, String answer) {
            check(hand.remove(number), Promise.TWICE, "event " + seq + " ends " + number + ", which is not held,");
            var before = ends.putIfAbsent(number, answer);
            check(before == null, Promise.TWICE, number + " ended as " + before + " and as " + answer);
            var told = ledger.desk(session).ends.getOrDefault(number, answer);
            check(told.equals(answer), Promise.LOST, number + " was acknowledged as " + told + " and is " + answer);
        }

        /** In the order in which they are to be read. */
        List<Long> notEnded() {
            var all = new TreeSet<>(waiting);
            all.addAll(hand);
            return List.copyOf(all);
        }
    }
}
