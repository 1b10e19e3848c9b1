package dev.holdfast.cli;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The {@code holdfast} command; without a subcommand it prints its usage. */
@Command(
        name = "holdfast",
        description = "Keeps coding agents on the line.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.BuiltVersion.class)
final class Main implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private CommandSpec spec;

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getOut());
        return CommandLine.ExitCode.USAGE;
    }

    /** The version this jar was built as. */
    static final class BuiltVersion implements IVersionProvider {
        @Override
        public String[] getVersion() {
            var properties = new Properties();
            try (var in = new InputStreamReader(
                    Objects.requireNonNull(
                            Main.class.getResourceAsStream("build.properties"), "build.properties is not in the jar"),
                    StandardCharsets.UTF_8)) {
                properties.load(in);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot read build.properties in the jar", e);
            }
            return new String[] {
                "holdfast " + properties.getProperty("version"),
                "Java " + Runtime.version() + " (" + System.getProperty("java.vendor", "unknown vendor") + ")"
            };
        }
    }
}
