package dev.holdfast.server;

import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A process of another user that tries a door. Needs nothing but the JDK. Says what it got. */
final class Stranger {
    private Stranger() {}

    public static void main(String[] arguments) throws Exception {
        String got = "nothing";
        try (var channel = SocketChannel.open(UnixDomainSocketAddress.of(Path.of(arguments[0])))) {
            System.out.println("connected");
            channel.write(StandardCharsets.US_ASCII.encode("GET /v1/host HTTP/1.1\r\nHost: h\r\n\r\n"));
            var buffer = ByteBuffer.allocate(1000);
            if (channel.read(buffer) > 0) {
                got = new String(buffer.array(), 0, buffer.position(), StandardCharsets.UTF_8);
            }
        } catch (java.io.IOException turnedAway) {
            got = "nothing, " + turnedAway.getMessage();
        }
        System.out.println(got);
    }
}
