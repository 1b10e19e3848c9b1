package dev.holdfast.process;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * A JVM that holds a child, opens files until no descriptor is left, and tells on its stdout what the module does then.
 * Argument: the run directory. Started with a small limit of descriptors.
 */
final class ExhaustedHost {

    private ExhaustedHost() {}

    public static void main(String[] arguments) throws Exception {
        Path run = Path.of(arguments[0]);
        Recorder recorder = new Recorder();
        ChildSpec spec = Kit.shell(Path.of("/"), "exec sleep 300");
        LinuxProcessTable table = new LinuxProcessTable();
        try (Spawner spawner = Spawner.open(run)) {
            Child child = spawner.spawn(spec, recorder);
            loadClasses();
            Recorder.get(
                    spawner.spawn(Kit.in("a whole life", spec), new Recorder()).stop(Ladder.urgent()));
            System.out.println("reaped: " + reap(run, marker -> false));
            List<FileInputStream> open = new ArrayList<>();
            exhaust(open);
            spawnAnother(spawner, spec);
            System.out.println("taken for dead: " + table.isDead(child.identity()));
            System.out.println("reaped: " + reap(run, marker -> true));
            for (FileInputStream file : open) {
                file.close();
            }
            spawnAnother(spawner, spec);
            System.out.println("children: " + spawner.children().size());
            spawner.close(Ladder.urgent());
            System.out.println("all dead: " + Recorder.get(child.whenGone()).allDead());
        }
    }

    /** A class that is still to be loaded from a directory needs a descriptor, too; one from an open jar does not. */
    private static void loadClasses() throws Exception {
        Path classes = Path.of(Spawner.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        try (DirectoryStream<Path> files =
                Files.newDirectoryStream(classes.resolve("dev/holdfast/process"), "*.class")) {
            for (Path file : files) {
                String name = file.getFileName().toString().replace(".class", "");
                if (!name.equals("package-info")) {
                    Class.forName("dev.holdfast.process." + name);
                }
            }
        }
    }

    private static void exhaust(List<FileInputStream> open) {
        try {
            while (true) {
                open.add(new FileInputStream("/dev/null"));
            }
        } catch (IOException e) {
            System.out.println("exhausted");
        }
    }

    private static void spawnAnother(Spawner spawner, ChildSpec spec) {
        try {
            spawner.spawn(Kit.in("another", spec), new Recorder());
            System.out.println("spawned");
        } catch (SpawnFailed e) {
            System.out.println("refused: " + e.reason());
        }
    }

    private static String reap(Path run, Predicate<Marker> which) {
        try {
            return Boolean.toString(new Reaper(run).reap(which, Kit.QUICK).allDead());
        } catch (UncheckedIOException e) {
            return "refused";
        }
    }
}
