package dev.holdfast.it;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Batch;
import dev.holdfast.Claim;
import dev.holdfast.Delivery;
import dev.holdfast.EventListener;
import dev.holdfast.Journal;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.Session;
import dev.holdfast.SessionEvent;
import dev.holdfast.SessionName;
import dev.holdfast.it.EveryOrder.Bounds;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.testkit.SeededBug;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.TestReporter;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One host on one simulated store, and several who do something to it at once: their order, and that of everything that
 * follows from it, is one of {@link EveryOrder}. No time passes in a race, so what is not done by itself, without a sweep
 * or a second try, was missed.
 */
final class Race {
    static final SessionName NAME = new SessionName("race");
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int STEPS_MAX = 5_000;
    /** Everyone begins late, at every moment; every task runs ahead once. */
    static final List<Bounds> ONE = List.of(new Bounds(1, 0, 1), new Bounds(0, 1, 1));
    /** Every two begin late, each at every moment; every task runs ahead once. */
    static final List<Bounds> TWO = List.of(new Bounds(2, 0, 2), new Bounds(0, 1, 1));
    /** Everything twice, and one of each. */
    static final List<Bounds> MIXED = List.of(new Bounds(2, 2, 2));

    private final EveryOrder.Order order;
    private final VirtualHosts hosts;
    private final UnaryOperator<Journal> around;
    private VirtualHosts.Host host;
    /** What the store has done, as soon as anybody can know. */
    private final List<Stored> stored = new ArrayList<>();

    private final List<Runnable> actors = new ArrayList<>();

    /** One thing the store has done. */
    sealed interface Stored {
        record Accepted(long number, ArrivalKind kind) implements Stored {}

        /** One event. */
        record Recorded(String type, JsonNode body) implements Stored {
            boolean is(String kind) {
                return type.equals(kind);
            }

            long turn() {
                return body.path("turn").asLong(0);
            }
        }
    }

    /** What a method does instead. */
    @FunctionalInterface
    interface Turned {
        Object answer(String method, List<Object> arguments, Callable<Object> itself) throws Exception;
    }

    /** The same, with some methods that do something else. */
    static <T> T around(Class<T> type, T inner, Turned turned) {
        InvocationHandler handler = (proxy, method, arguments) ->
                turned.answer(method.getName(), arguments == null ? List.of() : List.of(arguments), () -> {
                    try {
                        return method.invoke(inner, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause() instanceof RuntimeException cause ? cause : e;
                    }
                });
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
    }

    /** A store that never says that something came in. */
    static Journal mute(Journal journal) {
        return around(
                Journal.class,
                journal,
                (method, arguments, itself) -> method.equals("onAccepted") ? null : itself.call());
    }

    /** A store that gives the first event of a page a second time, when the page was asked for before. */
    static Journal repeats(Journal journal) {
        var asked = new HashSet<Long>();
        return around(Journal.class, journal, (method, arguments, itself) -> {
            boolean again =
                    method.equals("events") && !asked.add((long) arguments.get(1)) && (long) arguments.get(1) > 0;
            return again
                    ? journal.events(
                            (SessionName) arguments.get(0), (long) arguments.get(1) - 1, (int) arguments.get(2))
                    : itself.call();
        });
    }

    /** What is tried in every order. */
    @FunctionalInterface
    interface Scenario {
        void run(Race race);
    }

    /** One order, to look at it: {@code EveryOrder.replay(choices, order -> scenario.run(Race.of(order)))}. */
    static Race of(EveryOrder.Order order) {
        return new Race(order, Optional.empty(), journal -> journal);
    }

    private Race(EveryOrder.Order order, Optional<SeededBug> mistake, UnaryOperator<Journal> around) {
        this.order = order;
        hosts = new VirtualHosts(order.random(), mistake);
        this.around = around;
        host = open();
    }

    private VirtualHosts.Host open() {
        return hosts.host(inner -> watched(around.apply(inner)));
    }

    /** Another host on the same store, after a kill. */
    void restart() {
        host.kill();
        host = open();
    }

    // ---- all orders -----------------------------------------------------------------------------------------------

    /** No order breaks a promise. */
    static void keeps(List<Bounds> searches, TestReporter reporter, Scenario scenario) {
        long orders = 0;
        int choices = 0;
        for (var bounds : searches) {
            var explored = explored(bounds, Optional.empty(), journal -> journal, scenario);
            explored.failure().ifPresent(failure -> {
                throw failure;
            });
            orders += explored.orders();
            choices = Math.max(choices, explored.choices());
        }
        reporter.publishEntry(
                "interleavings", orders + ": every one with " + searches + ", of at most " + choices + " choices");
    }

    /** Some order shows the mistake. */
    static void catches(SeededBug mistake, List<Bounds> searches, TestReporter reporter, Scenario scenario) {
        caught(mistake.option(), searches, Optional.of(mistake), journal -> journal, reporter, scenario);
    }

    /** As above, of one that is between the host and the store. */
    static void catches(
            String mistake,
            UnaryOperator<Journal> around,
            List<Bounds> searches,
            TestReporter reporter,
            Scenario scenario) {
        caught(mistake, searches, Optional.empty(), around, reporter, scenario);
    }

    private static void caught(
            String name,
            List<Bounds> searches,
            Optional<SeededBug> mistake,
            UnaryOperator<Journal> around,
            TestReporter reporter,
            Scenario scenario) {
        long orders = 0;
        for (var bounds : searches) {
            var explored = explored(bounds, mistake, around, scenario);
            orders += explored.orders();
            if (explored.failure().isPresent()) {
                reporter.publishEntry(name, "noticed in interleaving " + orders);
                return;
            }
        }
        throw new AssertionError(name + " is not noticed in " + orders + " interleavings");
    }

    static EveryOrder.Explored explored(
            Bounds bounds, Optional<SeededBug> mistake, UnaryOperator<Journal> around, Scenario scenario) {
        return EveryOrder.explore(bounds, order -> scenario.run(new Race(order, mistake, around)));
    }

    // ---- one of them ----------------------------------------------------------------------------------------------

    Holdfast holdfast() {
        return host.holdfast();
    }

    /** Where the host's tasks run. */
    Executor executor() {
        return host.executor();
    }

    /** What the store has accepted and recorded so far, in the order in which it did; told before anybody else is. */
    List<Stored> stored() {
        return stored;
    }

    private Journal watched(Journal journal) {
        return around(Journal.class, journal, (method, arguments, itself) -> switch (method) {
            case "accept" ->
                ((CompletionStage<?>) itself.call()).thenApply(receipt -> {
                    if (receipt instanceof Receipt.Accepted accepted) {
                        stored.add(new Stored.Accepted(accepted.number(), ((Delivery) arguments.getFirst()).kind()));
                    }
                    return receipt;
                });
            case "claim" -> ((CompletionStage<?>) itself.call()).thenApply(claim -> watched((Claim) claim));
            default -> itself.call();
        });
    }

    private Claim watched(Claim claim) {
        return around(Claim.class, claim, (method, arguments, itself) -> switch (method) {
            case "append" ->
                ((CompletionStage<?>) itself.call()).thenApply(appended -> {
                    if (appended instanceof Claim.Appended.Committed) {
                        ((Batch) arguments.getFirst())
                                .events()
                                .forEach(e -> stored.add(new Stored.Recorded(e.type(), JSON.readTree(e.body()))));
                    }
                    return appended;
                });
            default -> itself.call();
        });
    }

    /** Before the race or after it. */
    <T> T now(CompletionStage<T> stage) {
        return hosts.run(stage);
    }

    /** Somebody does this at some moment of the race. */
    <T> CompletableFuture<T> atOnce(Supplier<CompletionStage<T>> act) {
        var done = new CompletableFuture<T>();
        actors.add(() -> host.executor()
                .execute(() -> act.get().whenComplete((value, failure) -> {
                    if (failure == null) {
                        done.complete(value);
                    } else {
                        done.completeExceptionally(failure);
                    }
                })));
        return done;
    }

    /** Everything happens that can happen while no time passes. */
    void go() {
        order.race(actors, step());
        actors.clear();
    }

    /** As {@link #go}, in the plain order. */
    void rest() {
        actors.forEach(Runnable::run);
        actors.clear();
        var step = step();
        while (step.getAsBoolean()) {
            // each is one task
        }
    }

    private BooleanSupplier step() {
        var now = hosts.time().now();
        var steps = new AtomicInteger();
        return () -> {
            if (steps.incrementAndGet() > STEPS_MAX) {
                throw new AssertionError("it does not come to rest within " + STEPS_MAX + " steps");
            }
            return hosts.time().step(now);
        };
    }
    /** What was done by the end of the race. */
    static <T> T done(String what, CompletableFuture<T> future) {
        if (!future.isDone()) {
            throw new AssertionError(what + " was missed: it hangs until time passes");
        }
        return future.join();
    }

    /** One message after the other. */
    CompletableFuture<List<Receipt>> sends(Session session, String... texts) {
        return atOnce(() -> {
            var receipts = CompletableFuture.completedStage(List.<Receipt>of());
            for (String text : texts) {
                receipts = receipts.thenCompose(
                        before -> session.sendAsync(Message.of(text)).thenApply(receipt -> {
                            var all = new ArrayList<>(before);
                            all.add(receipt);
                            return all;
                        }));
            }
            return receipts;
        });
    }

    /** Everything that was committed, in order. */
    @SuppressWarnings("try") // the subscription is closed with its block
    List<Stored.Recorded> record(Session session) {
        var events = new ArrayList<Stored.Recorded>();
        try (var unused = session.events(0, new EventListener() {
            @Override
            public void onEvent(SessionEvent event) {
                events.add(new Stored.Recorded(event.type(), JSON.readTree(event.body())));
            }
        })) {
            rest();
        }
        return events;
    }

    /** The messages' numbers in an event, in order. */
    static List<Long> numbers(Stored.Recorded event) {
        var all = new ArrayList<Long>();
        Consumer<JsonNode> add = m -> all.add(m.path("number").asLong());
        event.body().path("messages").forEach(add);
        if (event.body().path("message").isObject()) {
            add.accept(event.body().path("message"));
        }
        return all;
    }

    static String text(Received received) {
        return received.payload() instanceof Payload.Words words ? words.text() : received.toString();
    }

    static String texts(List<Received> all) {
        return all.stream().map(Race::text).collect(Collectors.joining(" "));
    }
}
