package dev.holdfast.testkit;

import dev.holdfast.ChatMessages;
import dev.holdfast.Inbox;
import dev.holdfast.Mailbox;
import dev.holdfast.Mailbox.FeedOptions;
import dev.holdfast.Outcome;
import dev.holdfast.Payload;
import dev.holdfast.Received;
import dev.holdfast.core.Phase;
import dev.holdfast.runtime.Holdfast;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Whoever reads a session on one host: takes, settles soon, late or never, lets go and begins again, is fenced by a feed of
 * its own, gives up waiting. Not thread-safe.
 */
final class SimulatedReader {
    private final Simulation world;
    private final SimulatedHost host;
    private final Holdfast holdfast;
    private Optional<Hand> hand = Optional.empty();
    private Optional<Mailbox> mailbox = Optional.empty();
    private boolean opening;
    private boolean stopped;

    SimulatedReader(Simulation world, SimulatedHost host, Holdfast holdfast) {
        this.world = world;
        this.host = host;
        this.holdfast = holdfast;
    }

    /** Something that is read from: a surface, or one feed of a mailbox. */
    private final class Hand {
        private final CompletionStageOf<Optional<Received>> next;
        private final Settling settling;
        private final Runnable leave;
        private final Set<Long> given = new HashSet<>();
        private boolean fenced;
        private boolean drained;
        private boolean left;
        private long last;

        Hand(CompletionStageOf<Optional<Received>> next, Settling settling, Runnable leave) {
            this.next = next;
            this.settling = settling;
            this.leave = leave;
        }

        /** What a newer one of this host has taken the place of gets nothing any more (MB-03). */
        void fence() {
            fenced = true;
        }

        void leave() {
            left = true;
            leave.run();
        }

        boolean current() {
            return !left && !fenced && !stopped && hand.filter(h -> h == this).isPresent();
        }
    }

    private interface CompletionStageOf<T> {
        CompletionStage<T> get();
    }

    private interface Settling {
        CompletionStage<Boolean> settle(Received message, Outcome outcome, String answer);
    }

    private int below(int bound) {
        return world.random.nextInt(bound);
    }

    private void later(int millis, Runnable step) {
        world.machine.after(Duration.ofMillis(below(millis)), () -> {
            if (host.runs()) {
                step.run();
            }
        });
    }

    /** Begins to read, unless it does already. */
    void open() {
        if (opening || stopped || hand.isPresent() || !host.runs()) {
            return;
        }
        if (world.checker.phase() == Phase.CLOSED) {
            host.reach();
            return;
        }
        opening = true;
        var opened = switch (world.kind.taker()) {
            case INBOX -> holdfast.inbox(Simulation.SESSION).thenAccept(this::read);
            case CHAT -> holdfast.chat(Simulation.SESSION).thenAccept(this::read);
            default ->
                mailbox.isPresent()
                        ? newFeed(mailbox.get())
                        : holdfast.mailbox(Simulation.SESSION).thenCompose(m -> {
                            host.reached(m.session());
                            mailbox = Optional.of(m);
                            return newFeed(m);
                        });
        };
        world.promised(host, "open a reader", opened).whenComplete((done, failure) -> {
            opening = false;
            if (failure != null) {
                mailbox.ifPresent(Mailbox::close);
                mailbox = Optional.empty();
                later(2_000, this::open);
            }
        });
    }

    private void read(Inbox inbox) {
        host.reached(inbox.session());
        begin(new Hand(inbox::next, inbox::settle, inbox::close));
        if (below(3) == 0) {
            later(3_000, () -> takeAll(inbox));
        }
    }

    private void read(ChatMessages chat) {
        host.reached(chat.session());
        begin(new Hand(() -> waiting(chat), chat::settle, chat::close));
        hand.ifPresent(this::take); // two wait at once
        chatEnd = Optional.of(chat);
    }

    private Optional<ChatMessages> chatEnd = Optional.empty();

    private CompletionStage<Optional<Received>> waiting(ChatMessages chat) {
        if (below(4) == 0) {
            return chat.takeQueued();
        }
        var cancel = new CompletableFuture<Object>();
        if (below(3) == 0) {
            later(2_000, () -> cancel.complete("enough"));
        }
        if (below(8) == 0) {
            cancel.complete("enough");
        }
        return chat.next(cancel);
    }

    private CompletionStage<Void> newFeed(Mailbox box) {
        var options = FeedOptions.none();
        if (below(3) == 0) {
            options = options.idleExit(Duration.ofMillis(1 + below(5_000)));
        }
        if (below(3) == 0) {
            options = options.stopBefore(text -> text.contains(InvariantChecker.BORDER));
        }
        var older = hand;
        return box.feed(options).thenAccept(feed -> {
            older.ifPresent(Hand::fence);
            begin(new Hand(feed::next, feed::settle, () -> {}));
        });
    }

    private void begin(Hand begun) {
        hand = Optional.of(begun);
        world.checker.trace(() -> host + " reads");
        take(begun);
    }

    private void take(Hand from) {
        if (!from.current() || !host.runs()) {
            return;
        }
        CompletionStage<Optional<Received>> next;
        try {
            next = from.next.get();
        } catch (IllegalStateException e) { // it takes everything just now, and has one consumer at a time (IN-04)
            later(500, () -> take(from));
            return;
        }
        next.whenComplete((message, failure) -> {
            if (failure != null) {
                world.checker.violation("P4: taking fails with " + failure);
            } else if (message.isPresent()) {
                given(from, message.get());
                later(1_000, () -> take(from));
            } else if (from.current()) {
                later(2_000, () -> nothing(from));
            }
        });
    }

    /** The surface gave nothing: it has ended, or the wait was given up. */
    private void nothing(Hand from) {
        if (!from.current()) {
            return;
        }
        if (world.kind.taker() == Simulation.Taker.CHAT && below(3) > 0 && world.checker.phase() == Phase.OPEN) {
            take(from);
            return;
        }
        from.leave();
        hand = Optional.empty();
        later(1_000, this::open);
    }

    private void takeAll(Inbox inbox) {
        if (hand.isEmpty() || !hand.get().current()) {
            return;
        }
        var from = hand.get();
        try {
            inbox.takeAll().thenAccept(all -> all.forEach(m -> given(from, m)));
        } catch (IllegalStateException e) {
            world.checker.trace(() -> "one consumer at a time"); // IN-04
        }
    }

    private void given(Hand from, Received message) {
        world.checker.afterStep();
        world.checker.trace(() -> host + " is given " + message.number());
        if (from.drained) {
            world.checker.violation("MB-09: message " + message.number() + " is given to a reader that was drained");
        }
        if (from.fenced) {
            world.checker.violation("MB-03: message " + message.number() + " is given to a reader that was fenced");
        }
        boolean returned = world.checker.given(message.number());
        if (!from.given.add(message.number()) && !returned && world.kind.taker() != Simulation.Taker.CHAT) {
            world.checker.violation("P2: message " + message.number() + " is given twice by one feed");
        }
        boolean words = message.payload() instanceof Payload.Words;
        if (words && message.number() < from.last && !returned && world.kind.taker() != Simulation.Taker.CHAT) {
            world.checker.violation("MB-01: message " + message.number() + " is given after " + from.last);
        }
        from.last = message.number();
        if (words || message.payload() instanceof Payload.ToolRun) {
            int patience = world.faulty() && below(4) == 0 ? 12_000 : 1_500;
            if (!world.faulty() || below(10) > 0) {
                later(patience, () -> settle(from, message));
            }
        }
    }

    private void settle(Hand from, Received message) {
        var answer = "read answer " + world.nextAnswer() + " by " + host;
        boolean fenced = from.fenced;
        var outcome = below(4) == 0 ? Outcome.FAILED : Outcome.ANSWERED;
        world.promised(host, "settle " + message.number(), from.settling.settle(message, outcome, answer))
                .thenAccept(done -> {
                    if (done && fenced) {
                        world.checker.violation("MB-03: a fenced reader ends message " + message.number());
                    }
                    world.checker.settled(message.number(), outcome, answer, done);
                });
    }

    /** The reader's own code dies and begins again, or a new incarnation is fed before the old one has let go. */
    void disturb() {
        if (hand.isEmpty() || opening) {
            return;
        }
        var now = hand.get();
        world.checker.trace(() -> host + " lets go of its reader");
        if (mailbox.isPresent()) {
            disturb(mailbox.get());
            return;
        }
        now.leave();
        hand = Optional.empty();
        later(500, this::open);
    }

    /** Whatever it holds goes back, and it begins again. */
    void restart() {
        hand.ifPresent(Hand::leave);
        hand = Optional.empty();
        mailbox.ifPresent(Mailbox::close);
        mailbox = Optional.empty();
        later(500, this::open);
    }

    private void disturb(Mailbox box) {
        switch (below(3)) {
            case 0 -> restart();
            case 1 -> {
                var drained = hand.orElseThrow();
                world.promised(host, "drain the feed", box.drainFeed()).thenAccept(unread -> {
                    drained.drained = true;
                    world.checker.notInHand(unread.stream()
                            .filter(m -> drained.given.contains(m.number()))
                            .toList());
                    later(500, () -> feedAgain(box));
                });
            }
            default -> feedAgain(box);
        }
    }

    @SuppressWarnings("ReferenceEquality") // that very object
    private void feedAgain(Mailbox box) {
        if (stopped || opening || mailbox.filter(m -> m == box).isEmpty()) {
            return;
        }
        opening = true;
        newFeed(box).whenComplete((done, failure) -> {
            opening = false;
            if (failure != null) {
                mailbox = Optional.empty();
                hand = Optional.empty();
                later(1_000, this::open);
            }
        });
    }

    /** Ends the session from within the chat: what was unread comes back (CH-03). */
    void close(String reason) {
        chatEnd.ifPresent(chat -> world.promised(host, "close the chat", chat.close(reason))
                .thenAccept(unread -> world.checker.returnedToCloser(unread)));
    }

    /** The session goes to another host. */
    void stop() {
        stopped = true;
    }
}
