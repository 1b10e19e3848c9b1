package dev.holdfast.cli;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What one command did, in this process and with captured streams. */
record Ran(int exit, String out, String err) {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    static Ran command(Path data, String... arguments) {
        return with(Map.of(), data, "", false, arguments);
    }

    /** @param terminal whether the command believes to be at one */
    static Ran with(Map<String, String> environment, Path data, String input, boolean terminal, String... arguments) {
        var variables = new HashMap<>(environment);
        variables.put("HOLDFAST_DATA", data.toString());
        variables.put("HOME", data.resolve("home").toString());
        InputStream in = new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8));
        var out = new StringWriter();
        var err = new StringWriter();
        var bytes = new ByteArrayOutputStream();
        var shell = new Shell(variables, in, new PrintWriter(out), new PrintWriter(err), bytes, terminal);
        int exit = Main.run(shell, arguments);
        return new Ran(exit, out + bytes.toString(StandardCharsets.UTF_8), err.toString());
    }

    /** Its output as JSON, one object a line. */
    List<JsonNode> objects() {
        return out.lines().map(JSON::readTree).toList();
    }

    /** What it complained, as JSON. */
    JsonNode complaint() {
        return JSON.readTree(err).path("error");
    }
}
