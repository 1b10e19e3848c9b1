package dev.holdfast.cli;

import dev.holdfast.server.Answer;
import dev.holdfast.server.Call;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;

/**
 * A connection to the door of a running host: HTTP/1.1 on its unix socket, one call at a time, every wait with a limit.
 * Understands what a door sends, which always names its length. Not thread-safe; an interrupt of its thread ends a wait.
 */
final class DoorClient implements AutoCloseable {
    private static final int HEAD_MAX = 64 * 1024;
    private static final long BODY_MAX = 1L << 30;
    private static final int BUFFER = 64 * 1024;

    private final SocketChannel channel;
    private final Selector selector;
    private final ByteBuffer in = ByteBuffer.allocate(BUFFER).flip();
    private Duration patience = Duration.ZERO;

    private DoorClient(SocketChannel channel, Selector selector) {
        this.channel = channel;
        this.selector = selector;
    }

    /** The host did not answer, or not in a way that is understood. */
    static final class NoAnswer extends RuntimeException {
        private static final long serialVersionUID = 1;

        NoAnswer(String why) {
            super(why);
        }
    }

    /** A connection, when a host listens there. */
    static Optional<DoorClient> connect(Path socket) {
        try {
            var channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
            channel.configureBlocking(false);
            var selector = Selector.open();
            channel.register(selector, 0);
            return Optional.of(new DoorClient(channel, selector));
        } catch (ConnectException | NoSuchFileException nobody) {
            return Optional.empty();
        } catch (IOException e) {
            if (String.valueOf(e.getMessage()).contains("No such file")) {
                return Optional.empty();
            }
            throw new NoAnswer("the door " + socket + " of the running host cannot be reached: " + e.getMessage());
        }
    }

    /** @param wait how long nothing at all may come back */
    Answer ask(Call call, Duration wait) {
        patience = wait;
        try {
            write(head(call));
            write(call.body());
            return answer();
        } catch (ClosedChannelException e) {
            throw closed();
        } catch (IOException e) {
            throw new NoAnswer("the connection to the running host broke (" + e.getMessage()
                    + "): what it accepted is kept; look with 'holdfast show' before you try again");
        }
    }

    private static byte[] head(Call call) {
        var head = new StringBuilder(call.method() + " " + call.target() + " HTTP/1.1\r\nHost: holdfast\r\n");
        if (call.body().length > 0) {
            head.append("Content-Type: ").append(call.carries()).append("\r\n");
        }
        if (call.body().length > 0 || !call.method().equals("GET")) {
            head.append("Content-Length: ").append(call.body().length).append("\r\n");
        }
        call.key().ifPresent(key -> head.append("Idempotency-Key: ").append(key).append("\r\n"));
        return head.append("\r\n").toString().getBytes(StandardCharsets.UTF_8);
    }

    private void write(byte[] bytes) throws IOException {
        var buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            if (channel.write(buffer) == 0) {
                await(SelectionKey.OP_WRITE);
            }
        }
    }

    private Answer answer() throws IOException {
        String[] head = readHead().split("\r\n", -1);
        int status = status(head[0]);
        long length = -1;
        String type = "";
        for (String line : head) {
            String lower = line.toLowerCase(Locale.ROOT);
            if (lower.startsWith("content-length:")) {
                length = Long.parseLong(
                        line.substring("content-length:".length()).strip());
            } else if (lower.startsWith("content-type:")) {
                type = line.substring("content-type:".length()).strip();
            }
        }
        if (length < 0 || length > BODY_MAX) {
            throw notUnderstood();
        }
        return new Answer(status, type, readBody((int) length));
    }

    private static int status(String line) {
        if (!line.matches("HTTP/1\\.1 [1-9][0-9][0-9].*")) {
            throw notUnderstood();
        }
        return Integer.parseInt(line.substring(9, 12));
    }

    private String readHead() throws IOException {
        var head = new StringBuilder();
        while (head.length() < 4 || head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
            if (head.length() >= HEAD_MAX) {
                throw notUnderstood();
            }
            fill();
            head.append((char) (in.get() & 0xff));
        }
        return head.toString();
    }

    private byte[] readBody(int length) throws IOException {
        var body = new ByteArrayOutputStream(Math.min(length, BUFFER));
        while (body.size() < length) {
            fill();
            int count = Math.min(in.remaining(), length - body.size());
            body.write(in.array(), in.position(), count);
            in.position(in.position() + count);
        }
        return body.toByteArray();
    }

    private void fill() throws IOException {
        while (!in.hasRemaining()) {
            in.clear();
            int read = channel.read(in);
            in.flip();
            if (read < 0) {
                throw closed();
            }
            if (read == 0) {
                await(SelectionKey.OP_READ);
            }
        }
    }

    private void await(int operation) throws IOException {
        for (SelectionKey key : selector.keys()) {
            key.interestOps(operation);
        }
        int ready = selector.select(patience.toMillis());
        selector.selectedKeys().clear();
        if (Thread.currentThread().isInterrupted()) {
            throw new NoAnswer("interrupted while waiting for the running host; what it accepted is kept");
        }
        if (ready == 0) {
            throw new NoAnswer("the running host did not answer within " + patience.toSeconds()
                    + " s: what it accepted is kept; look with 'holdfast show' before you try again");
        }
    }

    private static NoAnswer closed() {
        return new NoAnswer("the running host closed the connection without an answer: it stops, or it is another"
                + " user's; its log says which");
    }

    private static NoAnswer notUnderstood() {
        return new NoAnswer("the running host answers in a way this command does not understand: use the version of"
                + " holdfast that the host has");
    }

    @Override
    public void close() {
        try {
            selector.close();
            channel.close();
        } catch (IOException e) {
            throw new NoAnswer("the connection to the running host did not close: " + e.getMessage());
        }
    }
}
