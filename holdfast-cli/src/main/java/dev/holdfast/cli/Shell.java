package dev.holdfast.cli;

import java.io.Console;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * What surrounds one command: its environment, where it writes, and whether a person sees it. Output is UTF-8.
 *
 * @param bytes standard output, for what is no text
 * @param terminal whether standard input and output are a terminal
 */
record Shell(
        Map<String, String> environment,
        InputStream in,
        PrintWriter out,
        PrintWriter err,
        OutputStream bytes,
        boolean terminal) {
    @SuppressWarnings("SystemConsoleNull") // JDK 25 gives none when one of the two is no terminal
    static Shell ofProcess() {
        Console console = System.console();
        return new Shell(
                System.getenv(),
                System.in,
                writer(FileDescriptor.out),
                writer(FileDescriptor.err),
                new FileOutputStream(FileDescriptor.out),
                console != null && console.isTerminal());
    }

    private static PrintWriter writer(FileDescriptor descriptor) {
        return new PrintWriter(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
    }

    /** Writes bytes as they are to standard output. */
    void write(byte[] content) {
        try {
            out.flush();
            bytes.write(content);
            bytes.flush();
        } catch (IOException e) {
            throw new CommandFailed(Exit.USAGE, "usage", "standard output cannot be written: " + e.getMessage());
        }
    }

    /** The variable, or the empty text. */
    String variable(String name) {
        return environment.getOrDefault(name, "");
    }

    /** Colour is for terminals that have some, and for people who did not decline it. */
    boolean colour() {
        return terminal && variable("NO_COLOR").isEmpty() && !variable("TERM").equals("dumb");
    }
}
