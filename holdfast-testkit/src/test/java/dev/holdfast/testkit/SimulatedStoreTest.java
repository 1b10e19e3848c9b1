package dev.holdfast.testkit;

import dev.holdfast.Journal;
import java.time.InstantSource;
import java.util.Random;

/** The simulated store does what every store must, so that a simulation proves something about the real ones. */
final class SimulatedStoreTest extends JournalConformance {
    private final VirtualTime world = new VirtualTime(new Random(1));
    private final VirtualTime.Group clock = world.new Group();
    private final SimulatedStore store = new SimulatedStore();
    private VirtualTime.Group host = world.new Group();

    @Override
    protected Journal openStore(InstantSource ignored) {
        host = world.new Group();
        return store.open(host);
    }

    /** Brings the virtual clock to the time of the test, then does all there is to do. */
    @Override
    protected void advance() {
        host.pause();
        clock.at(time, () -> {});
        while (world.step(time)) {
            // until the alarm above has rung
        }
        host.resume();
        while (world.step(time)) {
            // until nothing is left to do
        }
    }
}
