package dev.holdfast.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Sessions of this JVM, each with a calling thread of its own. */
abstract class ThreadCrowd extends Crowd {
    ThreadCrowd(String name, int size) {
        super(name, size);
    }

    /** Runs one turn of one session to its end. */
    abstract void turn(int session, int number) throws Exception;

    @Override
    final void round(int perSession, Latencies into) throws Exception {
        long cpu = ProcessorTime.nanos();
        long began = System.nanoTime();
        List<long[]> durations = new ArrayList<>();
        if (size() == 1) {
            durations.add(turns(0, perSession));
        } else {
            durations.addAll(together(perSession));
        }
        into.elapsed(System.nanoTime() - began);
        ran(perSession, ProcessorTime.nanos() - cpu);
        durations.forEach(each -> {
            for (long duration : each) {
                into.add(duration);
            }
        });
    }

    private List<long[]> together(int perSession) throws InterruptedException {
        var go = new CountDownLatch(1);
        var found = new long[size()][];
        var failures = new ArrayList<Exception>();
        var threads = new ArrayList<Thread>();
        for (int i = 0; i < size(); i++) {
            int session = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    go.await();
                    found[session] = turns(session, perSession);
                } catch (Exception e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            }));
        }
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new IllegalStateException("a turn of " + name() + " failed", failures.getFirst());
        }
        return List.of(found);
    }

    private long[] turns(int session, int count) throws Exception {
        var durations = new long[count];
        for (int i = 0; i < count; i++) {
            long began = System.nanoTime();
            turn(session, i);
            durations[i] = System.nanoTime() - began;
        }
        return durations;
    }
}
