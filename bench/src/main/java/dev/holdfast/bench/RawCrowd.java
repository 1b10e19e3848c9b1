package dev.holdfast.bench;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Raw pipe loops, a thread for each. */
final class RawCrowd extends ThreadCrowd {
    private final List<RawPipe> pipes = new ArrayList<>();

    RawCrowd(Path program, int size) throws IOException {
        super("raw pipe", size);
        for (int i = 0; i < size; i++) {
            var builder = new ProcessBuilder(program.toString(), "--replay-user-messages")
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            builder.environment().clear();
            builder.environment().put("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1");
            pipes.add(new RawPipe(builder.start()));
        }
    }

    @Override
    void turn(int session, int number) throws IOException {
        pipes.get(session).turn(number);
    }

    @Override
    public void close() throws IOException {
        for (RawPipe pipe : pipes) {
            pipe.close();
        }
    }
}
