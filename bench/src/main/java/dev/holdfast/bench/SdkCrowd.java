package dev.holdfast.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The official TypeScript SDK, streaming input, in a process of Node of its own. */
final class SdkCrowd extends Crowd {
    static final String NAME = "TypeScript SDK";

    private static final String PACKAGE = "@anthropic-ai/claude-agent-sdk";
    private static final String VERSION = "0.3.332";
    private static final int INSTALL_S = 180;

    private final Process node;
    private final Writer in;
    private final BufferedReader out;
    private final Path errors;

    private SdkCrowd(int size, Process node, Path errors) {
        super(NAME, size);
        this.node = node;
        this.in = node.outputWriter();
        this.out = node.inputReader();
        this.errors = errors;
    }

    /**
     * Starts Node with the script.
     *
     * @param module where {@link #install} has put the SDK
     */
    static SdkCrowd open(Path program, Path module, Path directory, int size) throws IOException {
        Path errors = directory.resolve("sdk-" + size + ".log");
        var script = StubAgent.resource("sdk-lane.mjs", directory);
        var builder = new ProcessBuilder(
                        "node", script.toString(), module.toString(), program.toString(), directory.toString())
                .directory(directory.toFile())
                .redirectError(errors.toFile());
        String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
        builder.environment().clear();
        builder.environment().putAll(Map.of("HOME", directory.toString(), "PATH", path));
        return new SdkCrowd(size, builder.start(), errors);
    }

    /**
     * Installs the SDK under the figures' directory, unless it is there.
     *
     * @return its module
     * @throws IOException when node or npm is missing, or its registry is out of reach
     */
    static Path install(Path figures) throws IOException, InterruptedException {
        Path home = Files.createDirectories(figures.resolve("sdk-" + VERSION));
        Path module = home.resolve("node_modules").resolve(PACKAGE).resolve("sdk.mjs");
        if (Files.exists(module)) {
            return module;
        }
        Path log = home.resolve("npm.log");
        Process npm = new ProcessBuilder(List.of(
                        "npm",
                        "install",
                        "--ignore-scripts",
                        "--omit=optional",
                        "--no-audit",
                        "--no-fund",
                        "--no-package-lock",
                        "--loglevel=error",
                        "--prefix",
                        home.toString(),
                        PACKAGE + "@" + VERSION))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        if (!npm.waitFor(INSTALL_S, TimeUnit.SECONDS) || npm.exitValue() != 0) {
            npm.destroyForcibly();
            throw new IOException("npm could not install " + PACKAGE + ", see " + log);
        }
        return module;
    }

    @Override
    void round(int perSession, Latencies into) throws IOException {
        in.write(size() + " " + perSession + "\n");
        in.flush();
        String line = out.readLine();
        if (line == null) {
            throw new IOException("the SDK's process has ended: " + Files.readString(errors));
        }
        JsonNode round = JsonMapper.shared().readTree(line);
        round.path("nanos").forEach(each -> into.add(each.longValue()));
        into.elapsed(round.path("elapsed").longValue());
        ran(perSession, round.path("cpu").longValue());
    }

    @Override
    public void close() throws IOException {
        in.close();
        try {
            node.onExit().get(5, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException late) {
            node.destroyForcibly();
        }
    }
}
