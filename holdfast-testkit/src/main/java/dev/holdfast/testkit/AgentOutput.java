package dev.holdfast.testkit;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The agent's standard output: whole lines under one lock, from any of its threads. A reader that is gone ends the
 * process, as it ends the real one.
 */
final class AgentOutput {
    private final AgentMachine machine;
    private final OutputStream out;
    private boolean closed;

    AgentOutput(AgentMachine machine) {
        this.machine = machine;
        this.out = machine.stdout();
    }

    void frame(Json frame) {
        raw((frame.write() + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Bytes that need not be a frame, nor a line. */
    synchronized void raw(byte[] bytes) {
        if (closed) {
            return;
        }
        try {
            out.write(bytes);
            out.flush();
        } catch (IOException readerGone) {
            machine.end(1);
        }
    }

    /** One frame of an unknown type that is so many bytes long; built piece by piece. */
    synchronized void longLine(long bytes) {
        byte[] piece = "x".repeat(4096).getBytes(StandardCharsets.US_ASCII);
        raw("{\"type\":\"long\",\"text\":\"".getBytes(StandardCharsets.US_ASCII));
        for (long left = bytes; left > 0; left -= piece.length) {
            byte[] next = left >= piece.length ? piece : java.util.Arrays.copyOf(piece, (int) left);
            raw(next);
        }
        raw("\"}\n".getBytes(StandardCharsets.US_ASCII));
    }

    synchronized void close() {
        closed = true;
        try {
            out.close();
        } catch (IOException readerGone) {
            machine.end(1);
        }
    }
}
