package dev.holdfast.it;

import dev.holdfast.Agent;
import dev.holdfast.Attachment;
import dev.holdfast.Harness;
import dev.holdfast.Launch;
import dev.holdfast.Line;
import dev.holdfast.Report;
import dev.holdfast.ReportSink;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/**
 * An agent whose reports a test can wait at: in the trap something happens at the very moment, before
 * or right after the session is told. Also tells, whenever a process has started, which older ones of the same session still live (there
 * must be none).
 */
final class TappedAgent implements Agent {
    /** Takes the fields of a line. */
    interface Teller {
        void tell(String... fields);
    }

    private record Trap(String report, Runnable before, boolean keptBack, Runnable after) {}

    private final Agent agent;
    private final Teller teller;
    private final AtomicReference<Optional<Trap>> trap = new AtomicReference<>(Optional.empty());
    private volatile long pid;

    TappedAgent(Agent agent, Teller teller) {
        this.agent = agent;
        this.teller = teller;
    }

    /**
     * What to do before and after the next report of this name is handed on; told as {@code trapped} in between.
     *
     * @param keptBack the report is never handed on: the host is going to be killed
     */
    void trap(String report, Runnable before, boolean keptBack, Runnable after) {
        trap.set(Optional.of(new Trap(report, before, keptBack, after)));
    }

    void killAgent() {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    @Override
    public List<Object> tools() {
        return agent.tools();
    }

    @Override
    public Harness harness() {
        var inner = agent.harness();
        return new Harness() {
            @Override
            public String name() {
                return inner.name();
            }

            @Override
            public Attachment attach(Launch launch, ReportSink sink) {
                return tapped(inner.attach(launch, report -> meet(report, launch, sink)));
            }

            @Override
            public void release(Path home) {
                inner.release(home);
            }
        };
    }

    /** Tells when a steer was written; everything else passes. */
    private Attachment tapped(Attachment inner) {
        return (Attachment) Proxy.newProxyInstance(
                Attachment.class.getClassLoader(), new Class<?>[] {Attachment.class}, (proxy, method, given) -> {
                    try {
                        Object result = method.invoke(inner, given);
                        if (given != null && given[0] instanceof Line line && line.steer()) {
                            teller.tell("told", "steer");
                        }
                        return result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private void meet(Report report, Launch launch, ReportSink sink) {
        if (report instanceof Report.Started started) {
            pid = started.pid();
            String own = "/" + launch.epoch() + "/" + launch.incarnation();
            teller.tell("started", Long.toString(started.pid()), older(launch.store(), own));
        }
        String name = report.getClass().getSimpleName();
        var armed = trap.get().filter(t -> t.report().equals(name));
        armed.ifPresent(t -> {
            trap.set(Optional.empty());
            t.before().run();
            teller.tell("trapped", name);
            if (t.keptBack()) {
                stay();
            }
        });
        sink.report(report);
        armed.ifPresent(t -> t.after().run());
    }

    /** The process is killed here. */
    private static void stay() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String older(String store, String own) {
        return String.join(
                " ", marked(store).stream().filter(line -> !line.endsWith(own)).toList());
    }

    /** {@code PID=MARKER} of every living process that carries a marker of the store; zombies have none. */
    static List<String> marked(String store) {
        String wanted = "HOLDFAST_MARKER=" + store + "/";
        try (var processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            var found = new java.util.ArrayList<String>();
            for (Path process : processes) {
                for (String variable : environment(process)) {
                    if (variable.startsWith(wanted)) {
                        found.add(process.getFileName() + "=" + variable.substring("HOLDFAST_MARKER=".length()));
                    }
                }
            }
            return found;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static List<String> environment(Path process) {
        try {
            var text = new String(Files.readAllBytes(process.resolve("environ")), StandardCharsets.ISO_8859_1);
            return List.of(text.split("\0"));
        } catch (IOException gone) {
            return List.of();
        }
    }
}
