package dev.holdfast.journal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Stands between a journal and its server, and loses what the network can lose. */
final class CuttingProxy implements AutoCloseable {
    private static final byte[] COMMITTED = "COMMIT\0".getBytes(StandardCharsets.US_ASCII);

    private final ServerSocket listener;
    private final int server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private volatile boolean refusing;
    private volatile boolean silent;
    private volatile boolean cutting;

    CuttingProxy(int server) {
        this.server = server;
        try {
            this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** The next commit is done by the server, and its answer is lost with the connection. */
    void loseTheNextCommitsAnswer() {
        cutting = true;
    }

    /** Whether a commit's answer is still to be lost. */
    boolean cutting() {
        return cutting;
    }

    /** Ends every connection and takes no new one. */
    void cut() {
        refusing = true;
        open.forEach(CuttingProxy::close);
    }

    /** Passes nothing on any more, in either direction, and says nothing. */
    void fallSilent() {
        silent = true;
    }

    void mend() {
        refusing = false;
        silent = false;
        open.forEach(CuttingProxy::close);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                if (refusing) {
                    client.close();
                    continue;
                }
                Socket upstream = new Socket(InetAddress.getLoopbackAddress(), server);
                open.add(client);
                open.add(upstream);
                Thread.ofPlatform().daemon().start(() -> pump(client, upstream, false));
                Thread.ofPlatform().daemon().start(() -> pump(upstream, client, true));
            } catch (IOException e) {
                // Closed, or the server takes nobody: the client finds out.
            }
        }
    }

    private void pump(Socket from, Socket to, boolean answers) {
        byte[] buffer = new byte[64 << 10];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (answers && cutting && holds(buffer, n)) {
                    cutting = false;
                    return;
                }
                if (!silent) {
                    out.write(buffer, 0, n);
                    out.flush();
                }
            }
        } catch (IOException e) {
            // One side is gone; so is the other, by closing both.
        } finally {
            open.remove(from);
            open.remove(to);
        }
    }

    private static boolean holds(byte[] buffer, int length) {
        for (int i = 0; i + COMMITTED.length <= length; i++) {
            if (java.util.Arrays.equals(buffer, i, i + COMMITTED.length, COMMITTED, 0, COMMITTED.length)) {
                return true;
            }
        }
        return false;
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        open.forEach(CuttingProxy::close);
    }
}
