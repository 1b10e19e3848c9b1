package dev.holdfast.mcp;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Where a remote MCP server is. */
public sealed interface RemoteServer {
    /**
     * One that is reached over Streamable HTTP. Redirects are not followed.
     *
     * @param url its endpoint, {@code http} or {@code https}
     * @param headers sent with every request, such as {@code Authorization}; their values are secrets and shown nowhere
     */
    record Http(URI url, Map<String, String> headers) implements RemoteServer {
        public Http {
            if (!("http".equals(url.getScheme()) || "https".equals(url.getScheme())) || url.getHost() == null) {
                throw new IllegalArgumentException(
                        "'" + url.getScheme() + "' is no address of an MCP server; use http:// or https:// and a host");
            }
            headers = Map.copyOf(headers);
            headers.forEach((name, value) -> {
                if (!value.matches("[\\t\\x20-\\x7e\\x80-\\xff]*")) {
                    throw new IllegalArgumentException("the value of the header '" + name
                            + "' has a character that no header may have, such as a line break; take it out");
                }
            });
        }

        @Override
        public String toString() {
            return url.getScheme() + "://" + url.getRawAuthority() + url.getRawPath();
        }
    }

    /**
     * A program that is spoken to over its standard input and output. Of our own environment it sees {@code HOME},
     * {@code LOGNAME}, {@code PATH}, {@code SHELL}, {@code TERM} and {@code USER}, and nothing else.
     *
     * @param command the program and its arguments; no shell reads them
     * @param environment what it sees besides; values may be secrets and are shown nowhere
     */
    record Program(List<String> command, Map<String, String> environment) implements RemoteServer {
        public Program {
            command = List.copyOf(command);
            environment = Map.copyOf(environment);
            if (command.isEmpty() || command.getFirst().isBlank()) {
                throw new IllegalArgumentException("the command of an MCP server is empty; name its program");
            }
        }

        @Override
        public String toString() {
            return command.getFirst() + ", with " + new TreeMap<>(environment).keySet();
        }
    }

    static RemoteServer at(URI url) {
        return new Http(url, Map.of());
    }

    static RemoteServer program(String... command) {
        return new Program(List.of(command), Map.of());
    }
}
