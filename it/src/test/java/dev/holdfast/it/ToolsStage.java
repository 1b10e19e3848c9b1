package dev.holdfast.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.AgentTool;
import dev.holdfast.Author;
import dev.holdfast.EventListener;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Reply;
import dev.holdfast.Session;
import dev.holdfast.SessionEvent;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import dev.holdfast.ToolEffects;
import dev.holdfast.ToolProgress;
import dev.holdfast.ToolRelay;
import dev.holdfast.claude.ClaudeCode;
import dev.holdfast.journal.SqliteJournal;
import dev.holdfast.runtime.Holdfast;
import dev.holdfast.runtime.Options;
import dev.holdfast.testkit.Conversation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/** A session whose agent has the tools of a {@link Desk}, in this JVM. */
final class ToolsStage {
    static final Duration PATIENCE = Duration.ofSeconds(60);
    static final String PIXEL = // a PNG of one pixel
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    static final String MUCH = "ä€\ud83d\ude80-".repeat(5_000_000 / 10); // ten bytes each

    private final Contender contender;
    private final Path directory;

    private final Optional<ToolRelay> relay;

    ToolsStage(Contender contender, Path directory) {
        this(contender, directory, Optional.empty());
    }

    /** @param relay brings the tools to the agent over HTTP */
    ToolsStage(Contender contender, Path directory, Optional<ToolRelay> relay) {
        this.contender = contender;
        this.directory = directory;
        this.relay = relay;
    }

    final Desk desk = new Desk();
    final List<ToolProgress> progress = new CopyOnWriteArrayList<>();

    public record Line(String article, int count) {}

    public record Weather(String place, int degrees) {}

    /** The tools. */
    public final class Desk {
        final CountDownLatch second = new CountDownLatch(1);
        final CountDownLatch stuck = new CountDownLatch(1);
        final CountDownLatch interrupted = new CountDownLatch(1);
        final List<Author> authors = new CopyOnWriteArrayList<>();
        final List<String> order = new CopyOnWriteArrayList<>();

        @AgentTool(value = "Shows a picture.", effects = ToolEffects.READ)
        public ToolAnswer picture() {
            return ToolAnswer.of(new ToolAnswer.Text("one pixel"), new ToolAnswer.Image("image/png", PIXEL));
        }

        @AgentTool(value = "Tells the weather.", effects = ToolEffects.READ)
        public Weather weather(String place, ToolCall call) {
            call.author().ifPresent(authors::add);
            return new Weather(place + " \u2603 \ud83d\ude80", -3);
        }

        @AgentTool(value = "Tells much.", effects = ToolEffects.READ)
        public String much() {
            return MUCH;
        }

        @AgentTool("Takes an order.")
        public String order(List<Line> lines) {
            return "ordered " + lines.size();
        }

        @AgentTool(value = "Answers second.", effects = ToolEffects.READ)
        public String first() throws InterruptedException {
            boolean both = second.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            order.add("first");
            return "answer of first " + both;
        }

        @AgentTool(value = "Answers first.", effects = ToolEffects.READ)
        public String second() {
            order.add("second");
            second.countDown();
            return "answer of second";
        }

        @AgentTool("Never ends.")
        public String hang(ToolCall call) throws InterruptedException {
            stuck.countDown();
            try {
                new CountDownLatch(1).await();
                return "never";
            } catch (InterruptedException e) {
                if (call.cancelled().isCancelled()) {
                    interrupted.countDown();
                }
                throw e;
            }
        }

        @AgentTool(value = "Takes longer than it may.", deadlineSeconds = 1)
        public String slow(ToolCall call) throws InterruptedException {
            return hang(call);
        }

        @AgentTool(value = "Has a name that the agent has for a tool of its own.", name = "Bash")
        public String bash(String command) {
            return "not run: " + command;
        }

        @AgentTool("Says how far it is.")
        public String steps(ToolCall call) {
            for (int i = 1; i <= 3; i++) {
                call.progress(i, OptionalDouble.of(3), "step " + i);
                int now = i;
                Awaitility.await()
                        .atMost(PATIENCE)
                        .until(() -> progress.stream().anyMatch(p -> p.done() == now));
            }
            return "three steps";
        }
    }

    /** What the session tells. */
    private final class Told implements EventListener {
        @Override
        public void onEvent(SessionEvent event) {}

        @Override
        public void onProgress(long turn, ToolProgress step) {
            progress.add(step);
        }
    }

    @FunctionalInterface
    interface Course {
        void run(Session session, Contender.Mind mind) throws Exception;
    }

    static String call(String tool, String input) {
        return "[[tool mcp__host__" + tool + " " + input + "]]";
    }

    void with(ModelScript script, Course course) throws Exception {
        try (var mind = contender.mind(directory, script)) {
            var agent = ClaudeCode.agent()
                    .binary(mind.program())
                    .model("claude-sonnet-4-5")
                    .inference(mind.url(), "sk-fake")
                    .environment(
                            "HOME",
                            Files.createDirectory(directory.resolve("home")).toString())
                    .tools(desk);
            try (var journal = SqliteJournal.at(directory.resolve("data"));
                    var host = Holdfast.open(journal, Options.standard())) {
                var session = host.session("tools", relay.isPresent() ? agent.toolsOverHttp(relay.get()) : agent);
                var told = session.events(0, new Told());
                course.run(session, mind);
                told.close();
            }
        }
    }

    static Reply ask(Session session, String text) throws Exception {
        var receipt = session.send(Message.of(text).author(new Author("ada", "test")));
        long number = ((Receipt.Accepted) receipt).number();
        return session.reply(number).toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    static List<Conversation.Block.ToolResult> results(Contender.Mind mind) {
        return mind.conversations().getLast().toolResults();
    }

    /** The result of each call names the tool that was called. */
    static void eachAnswersItsCaller(Contender.Mind mind, int calls) {
        var shown = mind.conversations().getLast();
        assertThat(shown.toolResults()).hasSize(calls);
        for (Conversation.Spoken message : shown.messages()) {
            for (Conversation.Block block : message.blocks()) {
                if (block instanceof Conversation.Block.ToolUse use) {
                    assertThat(shown.toolResults())
                            .filteredOn(result -> result.toolUseId().equals(use.id()))
                            .singleElement()
                            .satisfies(result -> assertThat(result.texts().getFirst())
                                    .contains("answer of " + use.tool().substring("mcp__host__".length())));
                }
            }
        }
    }
}
