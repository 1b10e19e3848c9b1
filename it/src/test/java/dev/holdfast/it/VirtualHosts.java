package dev.holdfast.it;

import dev.holdfast.HoldfastException;
import dev.holdfast.Journal;
import dev.holdfast.Limits;
import dev.holdfast.core.Core;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.SeededBug;
import dev.holdfast.testkit.SimulatedStore;
import dev.holdfast.testkit.VirtualTime;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;

/** Hosts on one simulated store, on one thread and in virtual time: days pass in moments, and nothing may block. */
final class VirtualHosts {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final VirtualTime time;
    private final SimulatedStore store;
    private final Optional<SeededBug> mistake;
    private Limits limits = Limits.standard();

    VirtualHosts(long seed) {
        this(new Random(seed), Optional.empty());
    }

    /**
     * @param order draws which of the tasks that are ready runs next
     * @param mistake one that the store or the core makes on purpose
     */
    VirtualHosts(Random order, Optional<SeededBug> mistake) {
        time = new VirtualTime(order);
        store = mistake.map(SimulatedStore::new).orElseGet(SimulatedStore::new);
        this.mistake = mistake;
    }

    /** One host, which can be killed between any two steps. */
    static final class Host {
        private final VirtualTime.Group group;
        private final Holdfast holdfast;

        private Host(VirtualTime.Group group, Holdfast holdfast) {
            this.group = group;
            this.holdfast = holdfast;
        }

        Holdfast holdfast() {
            return holdfast;
        }

        /** Where its tasks run. */
        Executor executor() {
            return group.executor();
        }

        /** kill -9. */
        void kill() {
            group.kill();
        }
    }

    VirtualHosts limits(Limits next) {
        limits = next;
        return this;
    }

    Host host() {
        return host(journal -> journal);
    }

    /** @param around what the host sees of the store */
    Host host(UnaryOperator<Journal> around) {
        var group = time.new Group();
        var sound = Options.standard().limits(limits).surroundings(group);
        var options =
                mistake.map(m -> sound.core(m.plant(Core.standard(limits)))).orElse(sound);
        return new Host(group, Holdfast.open(around.apply(store.open(group)), options));
    }

    VirtualTime time() {
        return time;
    }

    /** Lets the stage complete, within a minute of virtual time. */
    <T> T run(CompletionStage<T> stage) {
        var future = stage.toCompletableFuture();
        var until = time.now().plus(PATIENCE);
        while (!future.isDone()) {
            if (!time.step(until)) {
                throw new AssertionError("it hangs for " + PATIENCE + ": " + stage);
            }
        }
        return future.join();
    }

    HoldfastException failure(CompletionStage<?> stage) {
        try {
            throw new AssertionError("it did not fail, and gave " + run(stage));
        } catch (CompletionException e) {
            if (e.getCause() instanceof HoldfastException failure) {
                return failure;
            }
            throw new AssertionError("it failed in another way", e);
        }
    }

    /** Lets time pass. */
    void pass(Duration duration) {
        var until = time.now().plus(duration);
        var passed = new CompletableFuture<Void>();
        time.new Group().at(until, () -> passed.complete(null));
        while (!passed.isDone() && time.step(until)) {
            // each step is one task, or a jump to the next alarm
        }
    }
}
