package dev.holdfast.server;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A connection to a door that says what a test wants, byte for byte. */
final class Caller implements AutoCloseable {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private final SocketChannel channel;

    Caller(Path socket) throws IOException {
        channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
    }

    /** What came back. */
    @SuppressWarnings("ArrayRecordComponent") // handed over, never compared
    record Heard(int status, Map<String, String> headers, byte[] body) {
        JsonNode json() {
            return JSON.readTree(body);
        }

        String detail() {
            return json().path("detail").asString();
        }
    }

    void say(String bytes) throws IOException {
        say(bytes.getBytes(StandardCharsets.UTF_8));
    }

    void say(byte[] bytes) throws IOException {
        var buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    Heard get(String target) throws IOException {
        say("GET " + target + " HTTP/1.1\r\nHost: holdfast\r\n\r\n");
        return hear();
    }

    Heard post(String target, String json, String... headers) throws IOException {
        return post(target, "application/json", json.getBytes(StandardCharsets.UTF_8), headers);
    }

    Heard post(String target, String type, byte[] body, String... headers) throws IOException {
        var more = new StringBuilder();
        for (String header : headers) {
            more.append(header).append("\r\n");
        }
        say("POST " + target + " HTTP/1.1\r\nHost: holdfast\r\nContent-Type: " + type + "\r\nContent-Length: "
                + body.length + "\r\n" + more + "\r\n");
        say(body);
        return hear();
    }

    /** The next answer. */
    Heard hear() throws IOException {
        var in = Channels.newInputStream(channel);
        String first = line();
        if (first.isEmpty()) {
            throw new IOException("closed without an answer");
        }
        var headers = new TreeMap<String, String>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        byte[] body = in.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
        return new Heard(Integer.parseInt(first.substring(9, 12)), headers, body);
    }

    private String line() throws IOException {
        var line = new StringBuilder();
        var one = ByteBuffer.allocate(1);
        while (channel.read(one.clear()) == 1) {
            char c = (char) one.get(0);
            if (c == '\n') {
                return line.toString().stripTrailing();
            }
            line.append(c);
        }
        return "";
    }

    /** Whether the other side has closed; waits for that or for bytes. */
    boolean closed() {
        try {
            return channel.read(ByteBuffer.allocate(1)) < 0;
        } catch (IOException reset) {
            return true;
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
