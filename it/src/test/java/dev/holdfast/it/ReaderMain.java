package dev.holdfast.it;

import dev.holdfast.Inbox;
import dev.holdfast.Message;
import dev.holdfast.Outcome;
import dev.holdfast.Receipt;
import dev.holdfast.Received;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A host that reads a session, in a JVM of its own so that it can be killed at any moment. One word and its text a line on
 * stdin; each is answered with one line on stdout once it is durable.
 *
 * <pre>
 * send TEXT | key KEY TEXT | take | settle NUMBER | withdraw NUMBER | claim TOKEN | release | ask ID | pause | finish | run COUNT
 * </pre>
 *
 * {@code run} sends, takes and settles that many messages one after the other, telling each receipt and each end.
 */
final class ReaderMain {
    private final Map<Long, Received> taken = new HashMap<>();
    private final Inbox inbox;

    private ReaderMain(Inbox inbox) {
        this.inbox = inbox;
    }

    public static void main(String[] arguments) throws Exception {
        try (var host = Holdfast.open(SqliteJournal.at(Path.of(arguments[0])))) {
            new ReaderMain(Station.now(host.inbox(Station.NAME))).obeyAll();
        }
    }

    private void obeyAll() throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("ready");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            var words = line.split(" ", 2);
            say(obey(words[0], words.length > 1 ? words[1] : ""));
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private String obey(String word, String rest) throws Exception {
        return switch (word) {
            case "send" -> number(inbox.session().send(Message.of(rest)));
            case "key" ->
                number(inbox.session().send(Message.of(rest.split(" ", 2)[1]).key(rest.split(" ", 2)[0])));
            case "take" -> {
                var received = Station.now(inbox.next()).orElseThrow();
                taken.put(received.number(), received);
                yield received.number() + " " + Station.text(received);
            }
            case "settle" -> "" + Station.now(inbox.settle(taken.get(Long.parseLong(rest)), Outcome.ANSWERED, "done"));
            case "withdraw" -> "" + Station.now(inbox.session().withdraw(Long.parseLong(rest)));
            case "claim" -> Station.now(inbox.session().addresses().claim(rest)).token();
            case "release" ->
                "" + Station.now(inbox.session().addresses().release()).size();
            case "ask" -> ask(rest);
            case "pause" -> number(Station.now(inbox.session().pause(rest)));
            case "finish" -> number(Station.now(inbox.session().finish(rest)));
            case "run" -> run(Integer.parseInt(rest));
            default -> "unknown";
        };
    }

    private static String number(Receipt receipt) {
        return Long.toString(Station.stored(receipt).number());
    }

    private String ask(String id) {
        var unused = inbox.session().question(id, "Shall it?", Duration.ofHours(1));
        Station.events(inbox.session()).await("QuestionAsked", id);
        return id;
    }

    private String run(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            long number = Station.stored(inbox.session().send(Message.of("m"))).number();
            say("sent " + number);
            var received = Station.now(inbox.next()).orElseThrow();
            boolean done = Station.now(inbox.settle(
                    received, Outcome.ANSWERED, "by " + ProcessHandle.current().pid()));
            say((done ? "ended " : "lost ") + received.number());
        }
        return "ran";
    }

    /** One that runs. */
    static final class Child implements AutoCloseable {
        private final Process process;
        private final BufferedReader out;

        Child(Path data) throws IOException {
            var builder = new ProcessBuilder(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-Dlogback.configurationFile=" + System.getProperty("logback.configurationFile", ""),
                    "-cp",
                    System.getProperty("java.class.path"),
                    ReaderMain.class.getName(),
                    data.toString()));
            builder.redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().clear();
            builder.environment().putAll(Map.of("PATH", "/usr/bin:/bin", "LANG", "C.UTF-8"));
            process = builder.start();
            out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            var first = out.readLine();
            if (!"ready".equals(first)) {
                throw new IOException("the reader does not start; it said " + first);
            }
        }

        /** Says it and waits for the answer. */
        String say(String line) throws IOException {
            tell(line);
            return Optional.ofNullable(out.readLine()).orElse("gone");
        }

        void tell(String line) throws IOException {
            process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        }

        /** The next line it says; empty once it is gone. */
        Optional<String> line() throws IOException {
            return Optional.ofNullable(out.readLine());
        }

        /** kill -9; returns when it is gone. */
        void kill() {
            process.toHandle().destroyForcibly(); // which leaves its output readable
            try {
                if (!process.waitFor(30, TimeUnit.SECONDS)) {
                    throw new AssertionError("the reader does not die");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("interrupted", e);
            }
        }

        @Override
        public void close() {
            kill();
        }
    }
}
