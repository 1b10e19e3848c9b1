package dev.holdfast.it;

import dev.holdfast.HoldfastException;
import dev.holdfast.Inbox;
import dev.holdfast.Journal;
import dev.holdfast.Mailbox;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Session;
import dev.holdfast.SessionLimits;
import dev.holdfast.SessionName;
import dev.holdfast.journal.PostgresJournal;
import dev.holdfast.journal.PostgresOptions;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletionStage;

/**
 * One life of the kill loop, in a JVM of its own: several sessions on a real store, each with senders that send one message
 * after the other under keys, and with a reader that takes and settles. It never ends by itself. Arguments: the store (a
 * directory, or a {@code postgresql://} address), a private directory, and the {@linkplain KillMistake mistake} in it.
 *
 * <p>It says {@code up} and waits for one line, {@code go LIFE SEED NEXT…} with the number of each sender's next message;
 * {@code train} in place of {@code go} is for a life that ends in order when its input does.
 * From then on each thing it says has happened before, durably:
 *
 * <pre>
 * sent SESSION SENDER INDEX NUMBER FRESH   a receipt; FRESH is false when the key was used before
 * open SESSION                             a reader begins, and what an older one held comes again
 * took SESSION NUMBER KEY                  the reader was given a message
 * ended SESSION NUMBER ANSWER              the reader was told that it ended the message
 * kept SESSION NUMBER                      the reader was told that it did not end it
 * fell SESSION WHY                         the reader has no session any more and opens it again
 * failed WHAT                              something that may not be
 * </pre>
 */
final class KillLoopMain {
    static final int SESSIONS = 3;
    static final int SENDERS = 2;

    /** The lease of a node that was killed is over about when its successor has started. */
    private static final PostgresOptions SERVER =
            PostgresOptions.standard().withLease(Duration.ofMillis(900), Duration.ofMillis(600));

    /** The session whose reader has a mailbox; the others have an inbox. */
    private static final int MAILBOX = SESSIONS - 1;

    /** So many unsettled messages make the senders of a session wait. */
    private static final int BACKLOG = 24;

    private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

    private final int life;
    private final long seed;
    private final KillMistake mistake;
    private final Holdfast host;

    private KillLoopMain(int life, long seed, KillMistake mistake, Holdfast host) {
        this.life = life;
        this.seed = seed;
        this.mistake = mistake;
        this.host = host;
    }

    public static void main(String[] arguments) throws IOException {
        var orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("up");
        var order = Optional.ofNullable(orders.readLine()).orElse("").split(" ", -1);
        if (order.length > 3) {
            var next = Arrays.stream(order).skip(3).mapToLong(Long::parseLong).toArray();
            live(arguments, Integer.parseInt(order[1]), Long.parseLong(order[2]), next);
            var unused = orders.read(); // until whoever kills is gone himself
        }
        if (order[0].equals("train")) {
            System.exit(0); // in order, so that the JVM writes what it has learned
        }
        Runtime.getRuntime().halt(1);
    }

    private static void live(String[] arguments, int life, long seed, long[] next) {
        var mistake = KillMistake.named(arguments[2]);
        var standard = Options.standard().home(Path.of(arguments[1]));
        var journal = journal(arguments[0]);
        var host = Holdfast.open(journal, standard.core(mistake.plant(standard.core())));
        var main = new KillLoopMain(life, seed, mistake, host);
        for (int s = 0; s < SESSIONS; s++) {
            int session = s;
            Station.now(journal.open(name(s), SessionLimits.standard()));
            var desk = main.new Desk(s);
            thread("reader-" + s, desk::read);
            for (int i = 0; i < SENDERS; i++) {
                int sender = i;
                thread("sender-" + s + "-" + i, () -> desk.send(sender, next[session * SENDERS + sender]));
            }
        }
    }

    /** The store of that address, opened or created. */
    static Journal journal(String store) {
        return store.startsWith("postgresql://") ? PostgresJournal.at(store, SERVER) : SqliteJournal.at(Path.of(store));
    }

    static SessionName name(int session) {
        return new SessionName("desk-" + session);
    }

    /** The text of a message: its key, and more words for some than for others. */
    static String text(String key) {
        int more = Math.floorMod(key.hashCode(), 97);
        return key + " " + "word ".repeat(more == 0 ? 4_000 : more);
    }

    /** The key that a text begins with. */
    static String key(String text) {
        return text.split(" ", 2)[0];
    }

    static String key(int session, int sender, long index) {
        return session + "-" + sender + "-" + index;
    }

    private static void thread(String name, Runnable work) {
        var unused = Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                work.run();
            } catch (RuntimeException | AssertionError e) {
                say("failed " + name + ": " + e);
                e.printStackTrace();
            }
        });
    }

    /** One write, which a kill does not tear. */
    private static void say(String line) {
        try {
            OUT.write((line.lines().findFirst().orElse("") + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Random random(int... who) {
        return new Random(seed * 31 + Arrays.hashCode(who) * 1_000_003L + life);
    }

    /** One session with its senders and its reader. */
    private final class Desk {
        private final int number;
        private final Session session;
        private final Object lock = new Object();
        private final Object early = new Object();
        private long unsettled;
        /** The newest number, for {@link KillMistake#ACKNOWLEDGED_EARLY}. */
        private long last;

        Desk(int number) {
            this.number = number;
            session = host.mail(name(number));
            var status = session.status();
            unsettled = status.queued() + status.inFlight();
            last = status.queued() + status.consumed();
        }

        // ---- senders ----------------------------------------------------------------------------------------------

        /** Sends for ever, a few messages again that were acknowledged in an earlier life or in this one. */
        void send(int sender, long next) {
            var random = random(number, sender);
            // Who acknowledges early does not know whether it was there.
            boolean repeats = mistake != KillMistake.ACKNOWLEDGED_EARLY;
            for (long index = repeats ? Math.max(0, next - 1) : next; ; index++) {
                awaitRoom();
                sendOne(sender, index);
                if (repeats && random.nextInt(16) == 0) {
                    sendOne(sender, random.nextLong(index + 1));
                }
            }
        }

        private void sendOne(int sender, long index) {
            var key = key(number, sender, index);
            var message = Message.of(text(key)).key(mistake == KillMistake.KEY_FORGOTTEN ? key + "-" + life : key);
            if (mistake == KillMistake.ACKNOWLEDGED_EARLY) {
                synchronized (early) {
                    said(sender, index, ++last, true);
                    session.send(message);
                }
                return;
            }
            var receipt = session.send(message);
            if (receipt instanceof Receipt.Stored stored) {
                said(sender, index, stored.number(), receipt instanceof Receipt.Accepted);
            } else {
                say("failed " + key + ": " + receipt);
            }
        }

        private void said(int sender, long index, long place, boolean fresh) {
            say("sent " + number + " " + sender + " " + index + " " + place + " " + fresh);
            synchronized (lock) {
                unsettled += fresh ? 1 : 0;
            }
        }

        private void awaitRoom() {
            synchronized (lock) {
                while (unsettled >= BACKLOG) {
                    try {
                        lock.wait();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException("nobody interrupts it", e);
                    }
                }
            }
        }

        // ---- the reader -------------------------------------------------------------------------------------------

        /** Reads for ever, with one surface after the other. */
        void read() {
            var random = random(number, -1);
            while (true) {
                try (var source = number == MAILBOX ? feed() : inbox()) {
                    say("open " + number);
                    boolean gives = true;
                    for (int left = 1 + random.nextInt(400); gives && left > 0; left--) {
                        gives = read(source, random);
                    }
                    if (!gives) {
                        say("fell " + number + " " + source.why());
                    }
                } catch (HoldfastException e) {
                    say("fell " + number + " " + e.getMessage());
                }
            }
        }

        private Source inbox() {
            Inbox inbox = Station.now(host.inbox(name(number)));
            return new Source(inbox::next, inbox::takeAll, inbox::settle, () -> inbox.lastEnd() + "", inbox::close);
        }

        /** Gives one message at a time. */
        private Source feed() {
            Mailbox mailbox = Station.now(host.mailbox(name(number)));
            Mailbox.Feed feed = Station.now(mailbox.feed(Mailbox.FeedOptions.none()));
            return new Source(
                    feed::next,
                    () -> feed.next().thenApply(one -> one.stream().toList()),
                    feed::settle,
                    () -> feed.end() + "",
                    mailbox::close);
        }

        /** Takes one or all, and settles it, or not; false once there is nothing to be had from this source. */
        private boolean read(Source source, Random random) {
            var taken = new ArrayList<Received>();
            for (int i = random.nextInt(4) == 0 ? 3 : 1; i > 0; i--) {
                var one = waitFor(source.next().take());
                if (one.isEmpty()) {
                    return false;
                }
                took(one.get());
                taken.add(one.get());
            }
            if (random.nextInt(8) == 0) {
                var all = waitFor(source.all().take());
                all.forEach(this::took);
                taken.addAll(all);
            }
            if (random.nextInt(4) == 0) {
                Collections.shuffle(taken, random);
            }
            return settle(source, taken);
        }

        private void took(Received one) {
            say("took " + number + " " + one.number() + " " + key(Station.text(one)));
        }

        /** All at once; the journal may put them into one commit. */
        private boolean settle(Source source, List<Received> taken) {
            Map<Received, CompletionStage<Boolean>> ends = new HashMap<>();
            for (var one : taken) {
                if (mistake == KillMistake.ENDED_EARLY) {
                    ended(one);
                }
                ends.put(one, source.settle().end(one, Outcome.ANSWERED, answer(one)));
            }
            boolean gives = true;
            for (var one : taken) {
                if (waitFor(ends.get(one))) {
                    if (mistake != KillMistake.ENDED_EARLY) {
                        ended(one);
                    }
                } else {
                    say("kept " + number + " " + one.number());
                    gives = false;
                }
            }
            return gives;
        }

        private void ended(Received one) {
            say("ended " + number + " " + one.number() + " " + answer(one));
            synchronized (lock) {
                unsettled--;
                lock.notifyAll();
            }
        }

        private String answer(Received one) {
            return "life-" + life + "-" + one.number();
        }
    }

    /** However long it takes: whoever kills sees that nothing is said any more. */
    private static <T> T waitFor(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().join();
        } catch (java.util.concurrent.CompletionException e) {
            throw e.getCause() instanceof HoldfastException known ? known : e;
        }
    }

    private interface Take<T> {
        CompletionStage<T> take();
    }

    private interface Settle {
        CompletionStage<Boolean> end(Received one, Outcome outcome, String answer);
    }

    private interface Why {
        String why();
    }

    /** What a reader reads from. */
    private record Source(
            Take<Optional<Received>> next, Take<List<Received>> all, Settle settle, Why reason, Runnable end)
            implements AutoCloseable {
        String why() {
            return reason.why();
        }

        @Override
        public void close() {
            end.run();
        }
    }
}
