package dev.holdfast.testkit;

import dev.holdfast.Journal;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The simulated store does what every store must, so that a simulation proves something about the real ones. */
final class SimulatedStoreTest extends JournalConformance {
    private final VirtualTime world = new VirtualTime(new Random(1));
    private final VirtualTime.Group clock = world.new Group();
    private final SimulatedStore store = new SimulatedStore();
    private final List<VirtualTime.Group> hosts = new ArrayList<>();

    private Journal open(SimulatedStore opened) {
        hosts.add(world.new Group());
        return opened.open(hosts.getLast());
    }

    @Override
    protected Journal openStore(InstantSource ignored) {
        return open(store);
    }

    @Override
    protected Journal openTarget(InstantSource ignored) {
        return open(new SimulatedStore());
    }

    /** Brings the virtual clock to the time of the test, then does all there is to do. */
    @Override
    protected void advance() {
        hosts.forEach(VirtualTime.Group::pause);
        clock.at(time, () -> {});
        workOff();
        hosts.forEach(VirtualTime.Group::resume);
        workOff();
    }

    private void workOff() {
        boolean more = true;
        while (more) {
            more = world.step(time);
        }
    }
}
