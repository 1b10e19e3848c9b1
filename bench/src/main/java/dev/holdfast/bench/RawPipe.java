package dev.holdfast.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The least there can be: writes a line into the agent's pipe, reads until the result and the idle frame. */
final class RawPipe implements Lane {
    private final Process agent;
    private final Writer in;
    private final BufferedReader out;

    /** @param agent already started, and closed with this */
    RawPipe(Process agent) {
        this.agent = agent;
        in = agent.outputWriter();
        out = agent.inputReader();
    }

    @Override
    public String name() {
        return "raw pipe";
    }

    @Override
    public void turn(int i) throws IOException {
        in.write("{\"type\":\"user\",\"uuid\":\"" + UUID.randomUUID() + "\",\"message\":{\"role\":\"user\",\"content\":"
                + "[{\"type\":\"text\",\"text\":\"" + TurnBench.text(i)
                + "\"},{\"type\":\"text\",\"text\":\"(host)\"}]}}\n");
        in.flush();
        boolean result = false;
        while (true) {
            String line = out.readLine();
            if (line == null) {
                throw new IOException("the agent has ended in the middle of a turn, see its stderr");
            }
            result |= line.startsWith("{\"type\":\"result\"");
            if (result && line.contains("\"session_state_changed\"") && line.contains("\"idle\"")) {
                return;
            }
        }
    }

    @Override
    public void close() throws IOException {
        in.close();
        try {
            agent.onExit().get(5, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException late) {
            agent.destroyForcibly();
        }
    }
}
