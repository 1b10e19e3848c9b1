package dev.holdfast.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** The least there can be: each thread writes a line into its agent's pipe and reads until result and idle. */
final class RawCrowd extends ThreadCrowd {
    private record Pipe(Process agent, Writer in, BufferedReader out) {}

    private final List<Pipe> pipes = new ArrayList<>();

    RawCrowd(Path program, int size) throws IOException {
        super("raw pipe", size);
        for (int i = 0; i < size; i++) {
            var builder = new ProcessBuilder(program.toString(), "--replay-user-messages")
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            builder.environment().put("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
            Process agent = builder.start();
            pipes.add(new Pipe(agent, agent.outputWriter(), agent.inputReader()));
        }
    }

    @Override
    void turn(int session, int number) throws IOException {
        Pipe pipe = pipes.get(session);
        pipe.in()
                .write("{\"type\":\"user\",\"uuid\":\"" + UUID.randomUUID()
                        + "\",\"parent_tool_use_id\":null,\"session_id\":\"\",\"message\":{\"role\":\"user\",\"content\":"
                        + "[{\"type\":\"text\",\"text\":\"" + TurnBench.text(number)
                        + "\"},{\"type\":\"text\",\"text\":\"(host)\"}]}}\n");
        pipe.in().flush();
        boolean result = false;
        while (true) {
            String line = pipe.out().readLine();
            if (line == null) {
                throw new IOException("the agent has ended in the middle of a turn");
            }
            result |= line.startsWith("{\"type\":\"result\"");
            if (result && line.contains("\"session_state_changed\"") && line.contains("\"idle\"")) {
                return;
            }
        }
    }

    @Override
    public void close() throws IOException {
        for (Pipe pipe : pipes) {
            pipe.in().close();
        }
    }
}
