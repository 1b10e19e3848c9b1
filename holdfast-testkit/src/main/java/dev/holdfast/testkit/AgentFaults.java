package dev.holdfast.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What a broken agent does, one {@link Directive} at a time, from whatever thread meets it. The directives that shape
 * the end of a turn only leave a note on it.
 */
final class AgentFaults {
    private static final byte[] BAD_UTF8 = {'{', '"', 't', '"', ':', '"', (byte) 0xC3, (byte) 0x28, '"', '}', '\n'};

    private final AgentParts parts;
    private volatile boolean deafToInterrupt;
    private volatile boolean deafToInput;
    private volatile boolean deafToEnd;
    private final List<byte[]> ballast = new ArrayList<>();

    AgentFaults(AgentParts parts) {
        this.parts = parts;
    }

    boolean ignoresInterrupt() {
        return deafToInterrupt;
    }

    boolean ignoresEnd() {
        return deafToEnd;
    }

    /** Never returns once the agent has stopped reading. */
    void readingPermitted() {
        while (deafToInput) {
            parts.machine.pause(1_000);
        }
    }

    /** Does what the directive says, when it is a fault; anything else is left alone. */
    void perform(Directive step, Turn turn) {
        switch (step.name()) {
            case "sleep" -> turn.sleep(parts.machine, step.number(0));
            case "gate" -> gate(step.word(), turn);
            case "busy" -> busy(step.number(1_000));
            case "crash" -> crash(step, turn);
            case "exit" -> parts.machine.end((int) step.number(1));
            case "no-result-exit" -> parts.machine.end((int) step.number(0));
            case "hang" -> parts.machine.pause(Long.MAX_VALUE / 2_000_000);
            case "stop" -> signalSelf("STOP");
            case "ignore-term" -> parts.machine.ignoreTerm();
            case "ignore-interrupt" -> deafToInterrupt = true;
            case "ignore-eof" -> deafToEnd = true;
            case "never-read" -> deafToInput = true;
            case "close-stdout" -> parts.output.close();
            case "grandchild" -> grandchild(false, step.number(30));
            case "escape" -> grandchild(true, step.number(30));
            case "once" -> once(step, turn);
            case "allocate" -> ballast.add(new byte[(int) step.number(1) << 20]);
            case "flush" -> parts.record().flush();
            case "duplicate-result" -> turn.duplicateResult = true;
            case "no-result" -> turn.noResult = true;
            case "result-then-hang" -> turn.hangsAfter = true;
            case "late-result" -> turn.resultDelay = step.number(300);
            case "agent-turn" -> turn.agentTurnAfter = true;
            case "full" -> turn.fillsContext = true;
            case "background" -> turn.backgroundAfter = true;
            default -> output(step);
        }
    }

    private void output(Directive step) {
        AgentOutput output = parts.output;
        switch (step.name()) {
            case "garbage" -> output.raw("[debug] this is no frame\n".getBytes(StandardCharsets.UTF_8));
            case "bad-utf8" -> output.raw(BAD_UTF8);
            case "half" -> {
                output.raw("{\"type\":\"assistant\",\"message\":{\"ro".getBytes(StandardCharsets.UTF_8));
                parts.machine.end(1);
            }
            case "line" -> output.longLine(step.number(1_000_000));
            case "unknown-frame" -> output.frame(Json.object().with("type", "brand_new"));
            case "flood" -> flood(step);
            case "trickle" -> trickle(step);
            case "stderr" -> parts.machine.complain(step.rest());
            default -> {}
        }
    }

    private void crash(Directive step, Turn turn) {
        if (step.rest().startsWith("at ")) {
            turn.crashAt = step.afterWord();
        } else {
            die(step.word());
        }
    }

    /** Ends the process if this is the point at which the turn was told to. */
    void pointReached(String point, Turn turn) {
        if (turn.crashAt.equals(point)) {
            die("");
        }
    }

    private void die(String signal) {
        if (!signal.isEmpty()) {
            signalSelf(signal);
        }
        parts.machine.end(137);
    }

    private void signalSelf(String signal) {
        try {
            parts.machine.signalSelf(signal);
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot send SIG" + signal + " to myself", e);
        }
    }

    private void gate(String name, Turn turn) {
        Gate.Shared gate = new Gate.Shared(Path.of(parts.machine.setting("GATES")), name);
        gate.reach();
        while (!gate.isOpen() && !turn.isAborted()) {
            turn.sleep(parts.machine, 2);
        }
    }

    private void busy(long millis) {
        long end = parts.machine.millis() + millis;
        long turns = 0;
        while (parts.machine.millis() < end) {
            turns++;
        }
        parts.machine.complain("busy for " + turns);
    }

    /** Does the inner step the first time only, over all processes of this configuration directory. */
    private void once(Directive step, Turn turn) {
        Path directory = AgentParts.configDirectory(parts.machine);
        Path mark = directory.resolve("once-" + SessionRecord.slug(step.word()));
        try {
            Files.createDirectories(directory);
            Files.createFile(mark);
        } catch (FileAlreadyExistsException done) {
            return;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot write " + mark, e);
        }
        perform(step.inner(), turn);
    }

    private void grandchild(boolean ownSession, long seconds) {
        try {
            long pid = parts.machine.grandchild(ownSession, seconds);
            parts.output.frame(Json.object().with("type", "grandchild").with("pid", pid));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot start a child", e);
        }
    }

    private void flood(Directive step) {
        long amount = Directive.in("[[x " + step.afterWord() + "]]").getFirst().number(1_000_000);
        if (step.word().equals("stderr")) {
            parts.machine.floodStderr(amount);
            return;
        }
        Json.Obj frame = Json.object().with("type", "flood").with("text", "x".repeat(1_000));
        for (long written = 0; written < amount; written += 1_000) {
            parts.output.frame(frame);
        }
    }

    /** One frame with characters of several bytes, each byte in a write of its own. */
    private void trickle(Directive step) {
        String text = step.rest().isEmpty() ? "héllo wörld 漢字 😀" : step.rest();
        String line = Json.object().with("type", "trickle").with("text", text).write() + "\n";
        for (byte one : line.getBytes(StandardCharsets.UTF_8)) {
            parts.output.raw(new byte[] {one});
        }
    }
}
