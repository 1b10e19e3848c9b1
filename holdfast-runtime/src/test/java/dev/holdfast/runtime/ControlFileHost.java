package dev.holdfast.runtime;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * A host that follows a control file, in a process of its own. Arguments: directory, step, how often it is reached before
 * the host stops there for good, and how many submissions are to be accepted before it ends by itself.
 */
final class ControlFileHost {
    static final String STORE = "accepted";

    private ControlFileHost() {}

    public static void main(String[] arguments) throws Exception {
        var directory = Path.of(arguments[0]);
        int[] left = {Integer.parseInt(arguments[2])};
        int expected = Integer.parseInt(arguments[3]);
        var session = new ControlledSession("support-42", Optional.of(directory.resolve(STORE)));
        var follower = ControlFile.follow(
                session.session(), directory.resolve("control.jsonl"), ControlFileOptions.standard(), step -> {
                    if (step.name().equals(arguments[1]) && --left[0] == 0) {
                        say("at " + step);
                        stay();
                    }
                });
        say("follows");
        follower.begin();
        while (session.taken().size() < expected || !acknowledged(follower, expected)) {
            Thread.sleep(10); // of a program that ends when it is done
        }
        follower.close();
        say("done");
        System.exit(0);
    }

    private static boolean acknowledged(ControlFile follower, int expected) throws Exception {
        try (var lines = Files.lines(follower.acknowledgements())) {
            return lines.filter(line -> line.contains("\"result\"")).count() >= expected;
        }
    }

    private static void say(String what) {
        System.out.println(what);
        System.out.flush();
    }

    private static void stay() {
        try {
            new CountDownLatch(1).await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
