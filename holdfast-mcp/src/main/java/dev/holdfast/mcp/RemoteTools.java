package dev.holdfast.mcp;

import dev.holdfast.HoldfastException;
import dev.holdfast.Tool;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

/**
 * The tools of a remote MCP server, as tools of this host: bound to an agent they pass the same door as all others (TL-10).
 * Which tools there are is settled when they are taken over; a tool that the server drops later answers with an error.
 *
 * <p>A connection that is lost is made anew by the next call, within bounded waits. A call that may have reached the server
 * by then is not sent again unless the tool changes nothing or may be called twice. Thread-safe.
 */
public final class RemoteTools implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RemoteTools.class);
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final int TOOLS_MAX = 1_000;
    private static final int PAGES_MAX = 100;

    private final RemoteLine line;
    private final List<Tool> tools;

    private RemoteTools(RemoteLine line, List<Tool> tools) {
        this.line = line;
        this.tools = tools;
    }

    /** As {@link #connect(RemoteServer, RemoteOptions)}, with the standard options. */
    public static RemoteTools connect(RemoteServer server) {
        return connect(server, RemoteOptions.standard());
    }

    /**
     * Reaches the server and takes its tools over.
     *
     * @throws HoldfastException when it cannot be reached, or offers what cannot be taken over: the message says which
     */
    public static RemoteTools connect(RemoteServer server, RemoteOptions options) {
        var line = new RemoteLine(server, options);
        boolean taken = false;
        try {
            var tools = new LinkedHashMap<String, Tool>();
            for (McpSchema.Tool offered : line.list(PAGES_MAX)) {
                var tool = new RemoteTool(line, offered, options, JSON);
                var other = tools.putIfAbsent(tool.spec().name(), tool);
                if (other != null) {
                    throw new HoldfastException("two tools of " + server + " would be named '"
                            + tool.spec().name() + "' here");
                }
                if (tools.size() > TOOLS_MAX) {
                    throw new HoldfastException(server + " offers more than " + TOOLS_MAX + " tools");
                }
            }
            taken = true;
            LOG.info("{} tools of {} are taken over", tools.size(), server);
            return new RemoteTools(line, List.copyOf(tools.values()));
        } finally {
            if (!taken) {
                line.close();
            }
        }
    }

    /** The tools, in the server's order; to be bound to an agent like any other. */
    public List<Tool> tools() {
        return tools;
    }

    /** Lets go of the server; calls that run are answered with an error, as are later ones. Idempotent. */
    @Override
    public void close() {
        line.close();
    }

    /** The names, for logs. */
    @Override
    public String toString() {
        var names = new ArrayList<String>();
        tools.forEach(tool -> names.add(tool.spec().name()));
        return "tools of " + line + ": " + names;
    }

    static Map<String, Object> arguments(String input) {
        return JSON.readValue(input, JSON.getTypeFactory().constructMapType(Map.class, String.class, Object.class));
    }
}
