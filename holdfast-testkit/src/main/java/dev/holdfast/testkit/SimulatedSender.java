package dev.holdfast.testkit;

import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** Sends its letters one after the other, each until it has an answer, with one key. */
final class SimulatedSender {
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final Simulation world;
    private final String name;
    private int left;
    private int sent;
    private boolean waiting;

    /** What is sent: the same in each attempt. */
    private record Letter(String key, Form form, Author author) {
        Message message(String suffix) {
            var policy = switch (form) {
                case AFTER_IDLE -> DeliveryPolicy.AFTER_IDLE;
                case REPLACE -> DeliveryPolicy.REPLACE;
                case ONLY_IDLE -> DeliveryPolicy.REFUSE_IF_BUSY;
                case STEER -> DeliveryPolicy.STEER;
                default -> DeliveryPolicy.NEXT;
            };
            return Message.of(text(suffix)).key(key + suffix).author(author).policy(policy);
        }

        String text(String suffix) {
            return "<<" + key + suffix + ">>"
                    + switch (form) {
                        case BORDER -> " " + InvariantChecker.BORDER;
                        case POISON -> " " + SimulatedAgents.POISON;
                        default -> "";
                    };
        }
    }

    private enum Form {
        NEXT,
        BORDER,
        POISON,
        STEER,
        AFTER_IDLE,
        REPLACE,
        ONLY_IDLE,
        BATCH,
        ADDRESS,
        CALLBACK
    }

    SimulatedSender(Simulation world, String name, int count) {
        this.world = world;
        this.name = name;
        this.left = count;
    }

    boolean done() {
        return left == 0;
    }

    void next() {
        if (left > 0) {
            sent++;
            waiting = true;
            attempt(new Letter(name + "-" + sent, form(), new Author(author(), "test", authority())));
        }
    }

    /** Some senders share a name, and not what they may do. */
    private String author() {
        return world.random.nextInt(3) == 0 ? "crowd" : name;
    }

    private String authority() {
        return world.random.nextInt(3) == 0 ? "guest" : "sender";
    }

    private Form form() {
        if (!world.faulty()) {
            return Form.NEXT;
        }
        return switch (world.random.nextInt(20)) {
            case 0, 1, 2 -> Form.STEER;
            case 3, 4 -> Form.AFTER_IDLE;
            case 5, 6 -> Form.REPLACE;
            case 7 -> Form.ONLY_IDLE;
            case 8, 9 -> Form.BATCH;
            case 10, 11 -> Form.ADDRESS;
            case 12 -> Form.CALLBACK;
            case 13 -> Form.BORDER;
            case 14 -> world.random.nextInt(4) == 0 ? Form.POISON : Form.NEXT;
            default -> Form.NEXT;
        };
    }

    private boolean open(Letter letter) {
        return waiting && letter.key().equals(name + "-" + sent);
    }

    private void attempt(Letter letter) {
        if (!open(letter)) {
            return;
        }
        world.machine.after(PATIENCE, () -> attempt(letter));
        var host = world.anyHost();
        if (host.isEmpty()) {
            return;
        }
        var session = host.get().session().orElseThrow();
        switch (letter.form()) {
            case BATCH -> batch(letter, host.get(), session);
            case ADDRESS, CALLBACK -> deliver(letter, host.get(), session);
            default -> one(letter, host.get(), session);
        }
        if (world.faulty() && world.random.nextInt(8) == 0) {
            var unused = session.interruptAsync();
        }
    }

    private void one(Letter letter, SimulatedHost host, Session session) {
        if (letter.form() == Form.STEER && world.random.nextBoolean()) {
            var unused = world.promised(host, "steer " + letter.key(), session.steerAsync(letter.message("")))
                    .thenAccept(answer -> received(letter));
            return;
        }
        received(letter, host, session, session.sendAsync(letter.message("")));
    }

    private void deliver(Letter letter, SimulatedHost host, Session session) {
        boolean callback = letter.form() == Form.CALLBACK;
        var token = callback ? SimulatedOperator.CALLBACK : SimulatedOperator.ADDRESS;
        Payload payload = callback
                ? new Payload.ToolRun("call-1", letter.text(""))
                : new Payload.Words(letter.text(""), DeliveryPolicy.NEXT);
        var receipt = host.holdfast().orElseThrow().deliver(token, payload, letter.author(), Optional.of(letter.key()));
        received(letter, host, session, receipt);
    }

    private void received(Letter letter, SimulatedHost host, Session session, CompletionStage<Receipt> answer) {
        var unused = world.promised(host, "send " + letter.key(), answer).thenAccept(receipt -> {
            if (letter.form() != Form.ADDRESS && letter.form() != Form.CALLBACK) {
                judge(letter.key(), receipt);
            } else if (receipt instanceof Receipt.Stored stored && world.checker.owns(letter.key(), stored)) {
                judge(letter.key(), receipt);
            }
            received(letter);
            if (receipt instanceof Receipt.Stored stored) {
                watch(session, stored);
                sendOtherWords(letter, host, session);
            }
        });
    }

    private void judge(String key, Receipt receipt) {
        switch (receipt) {
            case Receipt.Stored s -> world.checker.acknowledged(key, s);
            case Receipt.Refusal r -> world.checker.turnedAway(key, r);
        }
    }

    /** A caller is told an end only once, and the one that is on the disk. */
    private void watch(Session session, Receipt.Stored receipt) {
        if (world.random.nextInt(3) == 0 && session.name().equals(Simulation.SESSION)) {
            long number = receipt.number();
            session.reply(number).whenComplete((reply, failure) -> {
                if (failure == null) {
                    world.checker.told(reply);
                }
            });
        }
    }

    /** IN-12: under a key that was used, other words are refused. */
    private void sendOtherWords(Letter letter, SimulatedHost host, Session session) {
        if (letter.form() == Form.NEXT && world.random.nextInt(8) == 0) {
            var other = Message.of("other words").key(letter.key()).author(letter.author());
            var unused = world.promised(host, "send other words as " + letter.key(), session.sendAsync(other))
                    .thenAccept(receipt -> world.checker.repeated(letter.key(), receipt));
        }
    }

    private void batch(Letter letter, SimulatedHost host, Session session) {
        var letters = List.of("a", "b", "c").stream().map(letter::message).toList();
        var keys = letters.stream().map(m -> m.key().orElseThrow()).toList();
        var unused = world.promised(host, "send batch " + letter.key(), session.sendAll(letters))
                .thenAccept(receipts -> {
                    world.checker.batch(keys);
                    var first = new ArrayList<>(receipts).getFirst();
                    if (first instanceof Receipt.Stored) {
                        for (int i = 0; i < keys.size(); i++) {
                            judge(keys.get(i), receipts.get(i));
                        }
                    }
                    received(letter);
                });
    }

    private void received(Letter letter) {
        world.machine.executor().execute(() -> {
            if (open(letter)) {
                waiting = false;
                left--;
                world.machine.after(Duration.ofMillis(world.random.nextInt(5_000)), this::next);
            }
        });
    }

    @Override
    public String toString() {
        return name + "-" + sent;
    }
}
