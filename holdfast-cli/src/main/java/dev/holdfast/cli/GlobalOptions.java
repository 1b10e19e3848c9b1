package dev.holdfast.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.FileAppender;
import dev.holdfast.SessionName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** What every subcommand takes and shares: options, the data directory, the screen, the log. */
final class GlobalOptions {
    private final Shell shell;
    private Optional<Path> log = Optional.empty();

    @Option(
            names = "--data",
            paramLabel = "DIR",
            scope = ScopeType.INHERIT,
            description = "Where sessions are kept. Default: HOLDFAST_DATA, else $XDG_STATE_HOME/holdfast or"
                    + " ~/.local/state/holdfast.")
    private Optional<Path> data = Optional.empty();

    @Option(
            names = "--store",
            paramLabel = "URL",
            scope = ScopeType.INHERIT,
            description = "A database that keeps the sessions instead: postgresql://USER@HOST/DATABASE. The data"
                    + " directory then holds only what belongs to this host. Default: HOLDFAST_STORE, which is the"
                    + " place for an address with a password: others can read command lines.")
    private Optional<String> store = Optional.empty();

    @Option(names = "--json", scope = ScopeType.INHERIT, description = "For programs: one JSON object a line.")
    private boolean json;

    GlobalOptions(Shell shell) {
        this.shell = shell;
    }

    Shell shell() {
        return shell;
    }

    boolean json() {
        return json;
    }

    Screen screen() {
        return new Screen(shell.out(), shell.colour(), json);
    }

    Optional<Path> namedData() {
        return data;
    }

    /** The data directory; one that is there and is no directory is refused before anything is tried with it. */
    Path data() {
        Path chosen = chosenData();
        if (Files.exists(chosen) && !Files.isDirectory(chosen)) {
            throw new CommandFailed(
                    Exit.STORE,
                    "not_found",
                    "the data directory " + chosen + " is a file: name a directory with --data");
        }
        return chosen;
    }

    private Path chosenData() {
        if (data.isPresent()) {
            return data.get().toAbsolutePath().normalize();
        }
        if (!shell.variable("HOLDFAST_DATA").isEmpty()) {
            return Path.of(shell.variable("HOLDFAST_DATA")).toAbsolutePath().normalize();
        }
        String state = shell.variable("XDG_STATE_HOME");
        if (!state.isEmpty() && Path.of(state).isAbsolute()) {
            return Path.of(state, "holdfast");
        }
        String home = shell.environment().getOrDefault("HOME", System.getProperty("user.home", "."));
        return Path.of(home, ".local", "state", "holdfast").toAbsolutePath();
    }

    /** The store that was named; absent for the one in the data directory. */
    Optional<String> namedStore() {
        return store.or(() -> Optional.of(shell.variable("HOLDFAST_STORE"))).filter(named -> !named.isEmpty());
    }

    Store store() {
        return Store.of(namedStore(), data());
    }

    /** The data directory, made for its user alone when there is none. */
    static Path makePrivate(Path chosen) {
        try {
            return Files.createDirectories(
                    chosen, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (IOException e) {
            throw new CommandFailed(
                    Exit.STORE, "failed", "the data directory " + chosen + " cannot be made (" + e + "): name another");
        }
    }

    static SessionName name(String given) {
        try {
            return new SessionName(given);
        } catch (IllegalArgumentException e) {
            throw new CommandFailed(Exit.USAGE, "usage", String.valueOf(e.getMessage()));
        }
    }

    /** The log, once there is one. */
    Optional<Path> log() {
        return log;
    }

    /** Warnings and errors go to {@code holdfast.log} in the data directory, which exists. */
    void logInto(Path directory) {
        Path file = directory.resolve("holdfast.log");
        logging(Optional.of(file));
        log = Optional.of(file);
    }

    /** Commands that only read log nowhere. */
    static void logNowhere() {
        logging(Optional.empty());
    }

    private static void logging(Optional<Path> file) {
        if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
            return;
        }
        context.reset();
        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        if (file.isEmpty()) {
            root.setLevel(Level.OFF);
            return;
        }
        var encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%d{yyyy-MM-dd'T'HH:mm:ss.SSSXXX} %-5level [%thread] %logger{0}: %msg%n");
        encoder.start();
        var appender = new FileAppender<ILoggingEvent>();
        appender.setContext(context);
        appender.setFile(file.get().toString());
        appender.setEncoder(encoder);
        appender.start();
        root.setLevel(Level.WARN);
        root.addAppender(appender);
    }
}
