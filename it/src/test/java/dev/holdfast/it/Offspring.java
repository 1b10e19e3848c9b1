package dev.holdfast.it;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The living processes below this JVM, by name, so that a test that finds one too many says which. */
final class Offspring {
    private static final int SHOWN = 300;

    private Offspring() {}

    /** One line for each: pid, parent, command line. */
    static List<String> living() {
        return ProcessHandle.current()
                .descendants()
                .filter(ProcessHandle::isAlive)
                .map(process -> process.pid() + " of "
                        + process.parent().map(ProcessHandle::pid).orElse(0L) + ", begun "
                        + process.info().startInstant().map(Object::toString).orElse("?") + ": "
                        + command(process.pid()))
                .toList();
    }

    private static String command(long pid) {
        try {
            String line = Files.readString(Path.of("/proc/" + pid + "/cmdline"), StandardCharsets.ISO_8859_1)
                    .replace('\0', ' ');
            return line.substring(0, Math.min(SHOWN, line.length()));
        } catch (IOException gone) {
            return "gone";
        }
    }
}
