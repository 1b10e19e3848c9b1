package dev.holdfast.cli;

import dev.holdfast.AgentTool;
import dev.holdfast.Describe;
import java.util.concurrent.atomic.AtomicInteger;

/** The host's side of the demo: a Java object whose method the agent calls as a tool. */
public final class OrderDesk {
    /** Sees each call and its answer. */
    @FunctionalInterface
    interface Watcher {
        void called(String arguments, String answer);
    }

    private final Watcher watcher;
    private final AtomicInteger calls = new AtomicInteger();

    OrderDesk(Watcher watcher) {
        this.watcher = watcher;
    }

    /** An order, as the desk knows it. */
    public record Order(int id, String item, String state, String arrives) {}

    /** Looks an order up. */
    @AgentTool(name = "find_order", value = "Looks up an order by its number.")
    public Order findOrder(@Describe("the order's number") int id) {
        calls.incrementAndGet();
        var order = new Order(id, "a brass anchor", "shipped on Monday", "Thursday");
        watcher.called("{\"id\": " + id + "}", order.item() + ", " + order.state() + ", arrives on " + order.arrives());
        return order;
    }

    int calls() {
        return calls.get();
    }
}
