package dev.holdfast.mcp;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A small MCP server over standard input and output, written without the SDK. Argument: a file for what it was told. */
final class StdioServerMain {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final Path log;

    private StdioServerMain(Path log) {
        this.log = log;
    }

    public static void main(String[] arguments) throws IOException {
        new StdioServerMain(Path.of(arguments[0])).serve();
    }

    private void note(String line) throws IOException {
        Files.writeString(log, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private void serve() throws IOException {
        note("started with " + System.getenv().keySet().stream().sorted().toList());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            JsonNode message = JSON.readTree(line);
            JsonNode id = message.path("id");
            JsonNode params = message.path("params");
            switch (message.path("method").asString("")) {
                case "initialize" -> result(id, greeting(params));
                case "tools/list" -> result(id, page(params.path("cursor").asString("")));
                case "tools/call" -> call(id, params);
                case "notifications/cancelled" -> note("cancelled " + params.path("requestId"));
                default -> {}
            }
        }
    }

    private static ObjectNode greeting(JsonNode params) {
        ObjectNode result = JsonNodeFactory.instance.objectNode();
        result.put("protocolVersion", params.path("protocolVersion").asString());
        result.putObject("capabilities").putObject("tools");
        result.putObject("serverInfo").put("name", "small").put("version", "1");
        return result;
    }

    private static ObjectNode page(String cursor) {
        String first = """
                {"tools":[
                {"name":"echo","description":"says it again","annotations":{"readOnlyHint":true},
                 "inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},
                {"name":"weather.at","annotations":{"destructiveHint":false,"idempotentHint":true},"inputSchema":{"type":"object"}},
                {"name":"picture","inputSchema":{"type":"object"}}],"nextCursor":"2"}""";
        String second = """
                {"tools":[
                {"name":"fail","inputSchema":{"type":"object"}},{"name":"refuse","inputSchema":{"type":"object"}},
                {"name":"hang","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}},
                {"name":"die_reading","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}""";
        return (ObjectNode) JSON.readTree(cursor.isEmpty() ? first : second);
    }

    private void call(JsonNode id, JsonNode params) throws IOException {
        String tool = params.path("name").asString();
        JsonNode arguments = params.path("arguments");
        note("called " + tool + " " + arguments);
        switch (tool) {
            case "echo" -> content(id, "{'type':'text','text':" + arguments.path("text") + "}", "");
            case "weather.at" -> content(id, "{'type':'text','text':'cold'}", ",'structuredContent':{'degrees':-3}");
            case "picture" ->
                content(
                        id,
                        "{'type':'image','mimeType':'image/png','data':'AAAA'},"
                                + "{'type':'image','mimeType':'text/html','data':'AAAA'},"
                                + "{'type':'resource_link','uri':'file:///x','name':'x'}",
                        "");
            case "fail" -> content(id, "{'type':'text','text':'it is broken'}", ",'isError':true");
            case "refuse" ->
                send("{'jsonrpc':'2.0','id':" + id + ",'error':{'code':-32602,'message':'no such order'}}");
            case "hang" -> {
                String token = params.path("_meta").path("progressToken").toString();
                send("{'jsonrpc':'2.0','method':'notifications/progress','params':{'progressToken':" + token
                        + ",'progress':1,'total':2,'message':'half'}}");
            }
            default -> {
                boolean again = Files.readAllLines(log).stream()
                                .filter(line -> line.startsWith("called " + tool))
                                .count()
                        > 1;
                if (again) {
                    content(id, "{'type':'text','text':'alive again'}", "");
                } else {
                    Runtime.getRuntime().halt(3);
                }
            }
        }
    }

    private static void content(JsonNode id, String blocks, String more) {
        send("{'jsonrpc':'2.0','id':" + id + ",'result':{'content':[" + blocks + "]" + more + "}}");
    }

    private static void result(JsonNode id, ObjectNode result) {
        ObjectNode message = JsonNodeFactory.instance.objectNode().put("jsonrpc", "2.0");
        message.set("id", id);
        message.set("result", result);
        send(message.toString());
    }

    private static void send(String message) {
        byte[] line = (message.replace('\'', '"') + "\n").getBytes(StandardCharsets.UTF_8);
        System.out.write(line, 0, line.length);
        System.out.flush();
    }
}
