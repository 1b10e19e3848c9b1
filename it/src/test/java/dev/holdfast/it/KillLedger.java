package dev.holdfast.it;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** What the lives of a {@link KillLoop} said, line by line, and what of it breaks a promise. Safe for several threads. */
final class KillLedger {
    private static final int KEPT = 40;

    private final Desk[] desks = new Desk[KillLoopMain.SESSIONS];
    private final Map<Promise, Integer> counts = new HashMap<>();
    private final List<String> breaches = new ArrayList<>();
    private long sent;
    private long repeated;
    private long settled;
    private long fallen;
    private long lines;
    private int life;

    /** What was broken. */
    enum Promise {
        /** Something acknowledged is not there, or not as it was acknowledged. */
        LOST,
        /** Something is there twice, or was given again after its end. */
        TWICE,
        /** Something is not in its place. */
        ORDER,
        /** Nothing happens, or something failed. */
        STALLED
    }

    /** One session. */
    static final class Desk {
        /** Keys by number, and numbers by key: what senders were told. */
        final Map<Long, String> keys = new HashMap<>();

        final Map<String, Long> numbers = new HashMap<>();
        /** Answers by number: the ends that the reader was told of. */
        final Map<Long, String> ends = new HashMap<>();
        /** The message after the last acknowledged one of each sender. */
        final long[] next = new long[KillLoopMain.SENDERS];
        /** What the reader of now was given. */
        private final Set<Long> hand = new HashSet<>();

        private long newest;
    }

    KillLedger() {
        for (int i = 0; i < desks.length; i++) {
            desks[i] = new Desk();
        }
    }

    synchronized void begin(int number) {
        life = number;
        lines = 0;
        for (var desk : desks) {
            desk.hand.clear();
            desk.newest = Long.MAX_VALUE; // until a reader says that it begins
        }
    }

    /** The words of the order that begins a life. */
    synchronized String order() {
        var text = new StringBuilder();
        for (var desk : desks) {
            for (long next : desk.next) {
                text.append(' ').append(next);
            }
        }
        return text.toString();
    }

    synchronized void breach(Promise promise, String what) {
        counts.merge(promise, 1, Integer::sum);
        if (breaches.size() < KEPT) {
            breaches.add(promise + ": " + what + " (life " + life + ")");
        }
    }

    void check(boolean holds, Promise promise, String what) {
        if (!holds) {
            breach(promise, what);
        }
    }

    synchronized void heard(String line) {
        lines++;
        var words = line.split(" ", -1);
        switch (words[0]) {
            case "sent" -> sent(words);
            case "took" -> took(desk(words), Long.parseLong(words[2]), words[3], line);
            case "ended" -> ended(desk(words), Long.parseLong(words[2]), words[3], line);
            case "open" -> {
                var desk = desk(words);
                desk.hand.clear();
                desk.newest = 0;
            }
            case "fell" -> fallen++;
            case "kept" ->
                check(
                        desk(words).hand.remove(Long.parseLong(words[2])),
                        Promise.TWICE,
                        "not taken and not ended: " + line);
            default -> breach(Promise.STALLED, line);
        }
    }

    private Desk desk(String[] words) {
        return desks[Integer.parseInt(words[1])];
    }

    private void sent(String[] words) {
        var desk = desk(words);
        int sender = Integer.parseInt(words[2]);
        long index = Long.parseLong(words[3]);
        long number = Long.parseLong(words[4]);
        boolean fresh = Boolean.parseBoolean(words[5]);
        var key = KillLoopMain.key(Integer.parseInt(words[1]), sender, index);
        var before = Optional.ofNullable(desk.numbers.putIfAbsent(key, number));
        if (before.isPresent()) {
            repeated++;
            boolean same = before.get() == number;
            check(!fresh || !same, Promise.LOST, key + " was acknowledged as " + number + " and is accepted anew");
            check(!fresh || same, Promise.TWICE, key + " is accepted as " + number + " and was as " + before.get());
            check(fresh || same, Promise.LOST, key + " is " + number + " and was " + before.get());
        } else {
            sent++;
            desk.next[sender] = Math.max(desk.next[sender], index + 1);
            var other = desk.keys.put(number, key);
            check(other == null, Promise.LOST, key + " has number " + number + " of " + other);
        }
    }

    private void took(Desk desk, long number, String key, String line) {
        check(!desk.ends.containsKey(number), Promise.TWICE, "settled and given again: " + line);
        check(number > desk.newest, Promise.ORDER, "given after " + desk.newest + ": " + line);
        check(desk.keys.getOrDefault(number, key).equals(key), Promise.LOST, desk.keys.get(number) + " is now " + line);
        desk.newest = number;
        desk.hand.add(number);
    }

    private void ended(Desk desk, long number, String answer, String line) {
        check(desk.hand.remove(number), Promise.TWICE, "settled and not in hand: " + line);
        var before = desk.ends.putIfAbsent(number, answer);
        check(before == null, Promise.TWICE, "settled before as " + before + ": " + line);
        settled++;
    }

    Desk desk(int session) {
        return desks[session];
    }

    /** What the life of now has said so far. */
    synchronized long lines() {
        return lines;
    }

    /** Sends that were acknowledged, each once. */
    synchronized long sent() {
        return sent;
    }

    /** Receipts of keys that had one already. */
    synchronized long repeated() {
        return repeated;
    }

    synchronized long settled() {
        return settled;
    }

    /** How often a reader lost its session, which only a lease that ran out explains. */
    synchronized long fallen() {
        return fallen;
    }

    synchronized int count(Promise promise) {
        return counts.getOrDefault(promise, 0);
    }

    /** The first ones; empty when every promise was kept. */
    synchronized List<String> breaches() {
        return List.copyOf(breaches);
    }
}
