package dev.holdfast.process;

import java.nio.file.Path;

/** A JVM that reaps once and tells what it found. Argument: the run directory. */
final class TestReaper {

    private TestReaper() {}

    public static void main(String[] arguments) {
        Reaped reaped = new Reaper(Path.of(arguments[0])).reap(marker -> marker.equals(Kit.MARKER), Kit.QUICK);
        System.out.println("found " + reaped.swept().found().size());
        System.out.println("survivors " + reaped.swept().survivors().size());
        System.out.println("all dead " + reaped.allDead());
    }
}
