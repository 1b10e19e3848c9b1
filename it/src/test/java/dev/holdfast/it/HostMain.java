package dev.holdfast.it;

import dev.holdfast.AgentTool;
import dev.holdfast.EventListener;
import dev.holdfast.Limits;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.SessionEvent;
import dev.holdfast.ToolCall;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.GuardPolicy;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * The host under test, in a JVM of its own so that it can be killed: one session with host tools, driven by lines on stdin,
 * telling what it sees as lines on stdout. Fields are separated by tabs and escaped by {@link #escape}.
 *
 * <pre>
 * send KEY TEXT | steer KEY TEXT | interrupt | evict | release | answer QUESTION TEXT | trap REPORT WHAT | close
 * </pre>
 *
 * Arguments: data directory, the agent's program, inference URL; and, where calls are guarded, the file with the rules and
 * the names of the agent's own tools.
 */
final class HostMain {
    static final String SESSION = "conformance";

    private final CountDownLatch released = new CountDownLatch(1);

    private HostMain() {}

    public static void main(String[] arguments) throws Exception {
        var options = Options.standard();
        var builtins = new String[0];
        if (arguments.length > 3) {
            options = options.guard(GuardPolicy.read(Path.of(arguments[3])));
            builtins = List.of(arguments).subList(4, arguments.length).toArray(String[]::new);
        }
        new HostMain().run(Path.of(arguments[0]), Path.of(arguments[1]), arguments[2], options, builtins);
    }

    static String escape(String text) {
        return text.replace("\\", "\\\\")
                .replace("\t", "\\t")
                .replace("\n", "\\n")
                .replace("\r", "\\r");
    }

    /** The fields of a line. */
    static List<String> fields(String line) {
        return List.of(line.split("\t", -1)).stream()
                .map(String::translateEscapes)
                .toList();
    }

    private static synchronized void print(String... fields) {
        var line = new StringBuilder();
        for (String field : fields) {
            line.append(line.isEmpty() ? "" : "\t").append(escape(field));
        }
        PrintStream out = System.out;
        out.println(line);
        out.flush();
    }

    private void run(Path data, Path program, String url, Options options, String[] builtins) throws Exception {
        var agent = ClaudeCode.agent()
                .binary(program)
                .model("claude-sonnet-4-5")
                .inference(url, "sk-fake")
                .builtinTools(builtins)
                .tools(new Tools());
        var tapped = new TappedAgent(agent, HostMain::print);
        var limits = Limits.standard().withRestartDelays(Collections.nCopies(6, Duration.ofMillis(50)));
        try (var journal = SqliteJournal.at(data);
                var holdfast = Holdfast.open(journal, options.limits(limits))) {
            var session = holdfast.session(SESSION, tapped);
            var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            print("ready");
            var subscription = session.events(0, new Printer());
            for (String line = lines.readLine(); line != null && !line.equals("close"); line = lines.readLine()) {
                obey(fields(line), session, tapped);
            }
            subscription.close();
        }
        print("closed");
    }

    private void obey(List<String> words, Session session, TappedAgent tapped) {
        switch (words.getFirst()) {
            case "send" -> send(session, words.get(1), words.get(2));
            case "steer" ->
                session.steerAsync(Message.of(words.get(2)).key(words.get(1)))
                        .whenComplete((answer, failure) -> print("steered", words.get(1), answer + "" + failure));
            case "interrupt" -> {
                session.interrupt();
                print("interrupted");
            }
            case "evict" -> session.evict();
            case "answer" -> session.answer(words.get(1), words.get(2));
            case "release" -> released.countDown();
            case "trap" -> {
                trap(words.get(1), words.get(2), session, tapped);
                print("armed");
            }
            default -> print("unknown", words.getFirst());
        }
    }

    private static void trap(String report, String what, Session session, TappedAgent tapped) {
        Runnable nothing = () -> {};
        switch (what) {
            case "kill-agent" -> tapped.trap(report, tapped::killAgent, false, nothing);
            case "keep-back" -> tapped.trap(report, nothing, true, nothing);
            case "kill-agent-keep-back" -> tapped.trap(report, tapped::killAgent, true, nothing);
            case "interrupt-before" -> tapped.trap(report, session::interrupt, false, nothing);
            case "interrupt-after" -> tapped.trap(report, nothing, false, session::interrupt);
            default -> print("unknown", what);
        }
    }

    private static void send(Session session, String key, String text) {
        Receipt receipt = session.send(Message.of(text).key(key));
        long number = switch (receipt) {
            case Receipt.Accepted r -> r.number();
            case Receipt.Duplicate r -> r.number();
            default -> 0;
        };
        print("receipt", key, receipt.getClass().getSimpleName(), Long.toString(number));
        session.reply(number)
                .whenComplete((reply, failure) -> print(
                        "reply", key, failure == null ? reply.outcome().name() : "failed", String.valueOf(failure)));
    }

    /** Tells committed events and live text. */
    private static final class Printer implements EventListener {
        @Override
        public void onEvent(SessionEvent event) {
            print("event", event.type(), Long.toString(event.seq()), event.body());
        }

        @Override
        public void onText(long turn, String fragment) {
            print("text", fragment);
        }
    }

    /** The tools of this host. */
    public final class Tools {
        /** Arguments of one place in a list. */
        public record Order(int number, List<String> colours) {}

        @AgentTool("Where an order is")
        public String find(Order order, ToolCall call) {
            print("tool", "find", order.number() + ":" + String.join("+", order.colours()), call.idempotencyKey());
            return "order " + order.number() + " is in the harbour";
        }

        @AgentTool("Waits for the test")
        public String hold(String text, ToolCall call) throws InterruptedException {
            print("tool", "hold", text, call.idempotencyKey());
            released.await();
            return "held " + text;
        }
    }
}
