package dev.holdfast.it;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Runs a race in virtual time once for every order in which its tasks can run, in a depth-first search without remembered
 * states: each run makes the choices of the one before, up to its last that can be made otherwise. Two things are chosen:
 * how many steps after the others somebody begins, and which of the tasks that are ready runs next. {@link Bounds} say how
 * far a run may be from the plain one; within them no order is left out.
 */
final class EveryOrder {
    private EveryOrder() {}

    /**
     * How far an order may be from the plain one, in which all begin at once and the oldest task is always next.
     *
     * @param late how many of those who race may begin later, each at any step
     * @param ahead how often a task may run ahead of an older one
     * @param both how much of the two together
     */
    record Bounds(int late, int ahead, int both) {
        private boolean allow(List<Choice> before, boolean late) {
            long lates = before.stream().filter(c -> c.late && c.taken > 0).count();
            long aheads = before.stream().filter(c -> !c.late && c.taken > 0).count();
            return lates + aheads < both && (late ? lates < this.late : aheads < ahead);
        }

        @Override
        public String toString() {
            return "up to " + late + " begin late, " + ahead + " run ahead, " + both + " of both";
        }
    }

    /**
     * What was seen.
     *
     * @param orders how many orders were run, each another one
     * @param choices how often a run had to choose, at most
     * @param failure of the first order that failed, which ended the search
     */
    record Explored(long orders, int choices, Optional<AssertionError> failure) {}

    /** One choice; 0 is the plain one. */
    private static final class Choice {
        private final boolean late;
        private final int taken;
        private int among;

        Choice(boolean late, int taken, int among) {
            this.late = late;
            this.taken = taken;
            this.among = among;
        }
    }

    /** Somebody who takes part, and how many steps he waits. */
    private record Actor(Runnable act, Choice late) {}

    /** The choices of one run. Its virtual time has them for its randomness. */
    static final class Order implements RandomGenerator {
        private final RandomGenerator bytes = new Random(1);
        private final List<Integer> given;
        private final List<Choice> made = new ArrayList<>();
        /** When each of the ready tasks became ready, in the places where virtual time keeps them. */
        private final List<Integer> ready = new ArrayList<>();

        private int tasks;
        private boolean chooses;

        private Order(List<Integer> given) {
            this.given = given;
        }

        /**
         * Runs a race until nothing is left to do.
         *
         * @param begins those who take part
         * @param step runs one ready task; false when there is none
         */
        void race(List<Runnable> begins, BooleanSupplier step) {
            chooses = true;
            var actors = new ArrayList<Actor>();
            begins.forEach(act -> actors.add(new Actor(act, choose(true, Integer.MAX_VALUE))));
            int steps = 0;
            do {
                int now = steps++;
                actors.removeIf(actor -> {
                    boolean due = actor.late().taken <= now;
                    if (due) {
                        actor.act().run();
                    }
                    return due;
                });
            } while (step.getAsBoolean() || hurries(actors));
            chooses = false;
        }

        /** Nothing is ready: whoever is next begins now, and it makes no difference how much later he would. */
        private static boolean hurries(List<Actor> actors) {
            if (actors.isEmpty()) {
                return false;
            }
            var next = actors.stream()
                    .min(Comparator.comparingInt(a -> a.late().taken))
                    .orElseThrow();
            actors.remove(next);
            next.late().among = next.late().taken + 1;
            next.act().run();
            return true;
        }

        Random random() {
            return Random.from(this);
        }

        @Override
        public long nextLong() {
            return bytes.nextLong();
        }

        @Override
        public int nextInt(int bound) {
            while (ready.size() < bound) {
                ready.add(tasks++);
            }
            int skipped = chooses && bound > 1 ? choose(false, bound).taken : 0;
            int place = ready.indexOf(
                    ready.stream().sorted().skip(skipped).findFirst().orElseThrow());
            int last = ready.removeLast();
            if (place < ready.size()) {
                ready.set(place, last); // as virtual time does
            }
            return place;
        }

        private Choice choose(boolean late, int among) {
            int at = made.size();
            int taken = at < given.size() ? given.get(at) : 0;
            if (taken >= among) {
                throw new IllegalStateException("choice " + at + " is " + taken + " among " + among
                        + ": the scenario does not do the same each time");
            }
            var choice = new Choice(late, taken, among);
            made.add(choice);
            return choice;
        }

        private List<Integer> choices() {
            return made.stream().map(c -> c.taken).toList();
        }

        /** Without the plain ones at the end. */
        @Override
        public String toString() {
            int end = made.size();
            while (end > 0 && made.get(end - 1).taken == 0) {
                end--;
            }
            return choices().subList(0, end).toString();
        }
    }

    /**
     * All orders within the bounds, up to the first that fails.
     *
     * @param scenario is given a new order each time, and throws {@link AssertionError} when it sees a promise broken
     */
    static Explored explore(Bounds bounds, Consumer<Order> scenario) {
        var next = Optional.of(List.<Integer>of());
        long orders = 0;
        int choices = 0;
        while (next.isPresent()) {
            var order = new Order(next.get());
            orders++;
            try {
                scenario.accept(order);
            } catch (RuntimeException | AssertionError e) {
                var failure = new AssertionError("in order " + order + ", the " + orders + ". tried: " + e, e);
                return new Explored(orders, choices, Optional.of(failure));
            }
            choices = Math.max(choices, order.made.size());
            next = after(order, bounds);
        }
        return new Explored(orders, choices, Optional.empty());
    }

    /** That one order again, to look at it. */
    static void replay(List<Integer> choices, Consumer<Order> scenario) {
        scenario.accept(new Order(choices));
    }

    private static Optional<List<Integer>> after(Order order, Bounds bounds) {
        var choices = order.choices();
        for (int at = choices.size() - 1; at >= 0; at--) {
            var choice = order.made.get(at);
            if (choice.taken + 1 < choice.among && bounds.allow(order.made.subList(0, at), choice.late)) {
                var next = new ArrayList<>(choices.subList(0, at));
                next.add(choice.taken + 1);
                return Optional.of(next);
            }
        }
        return Optional.empty();
    }
}
