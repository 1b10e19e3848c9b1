package dev.holdfast.testkit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A Messages API on loopback for the real command line: answers by script and keeps every request, so that a test can
 * see what the model was shown. No account, no model, no network.
 *
 * <p>Without a script of its own it obeys the directives in the newest message, like the {@link ScriptedAgent}: see
 * {@link ModelReply} for those it knows. The default answer is {@code echo: MESSAGE (TOOL RESULTS)}; a summary repeats
 * everything the user said.
 *
 * <p>Safe for use by several threads. Close it: it holds a port and threads.
 */
public final class ScriptedMessagesApi implements AutoCloseable {
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final Function<ModelRequest, Optional<ModelReply>> script;
    private final List<ModelRequest> requests = new CopyOnWriteArrayList<>();
    private final Map<String, Gate.Local> gates = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> failures = new ConcurrentHashMap<>();
    private final Set<String> done = ConcurrentHashMap.newKeySet();
    private final AtomicInteger answers = new AtomicInteger();
    private final CountDownLatch closed = new CountDownLatch(1);

    private ScriptedMessagesApi(HttpServer server, Function<ModelRequest, Optional<ModelReply>> script) {
        this.server = server;
        this.script = script;
    }

    /**
     * Starts one that obeys directives.
     *
     * @return it, listening
     */
    public static ScriptedMessagesApi start() {
        return start(request -> Optional.empty());
    }

    /**
     * Starts one with a script.
     *
     * @param script asked for every request that belongs to a conversation, from several threads; empty means that
     *     the directives decide
     * @return it, listening
     */
    public static ScriptedMessagesApi start(Function<ModelRequest, Optional<ModelReply>> script) {
        try {
            HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            ScriptedMessagesApi api = new ScriptedMessagesApi(server, script);
            server.createContext("/", api::serve);
            server.setExecutor(api.threads);
            server.start();
            return api;
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot listen on loopback", e);
        }
    }

    /**
     * What to give the command line as {@code ANTHROPIC_BASE_URL}.
     *
     * @return an address on loopback
     */
    public URI url() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /**
     * The requests that are steps of turns, oldest first.
     *
     * @return a copy
     */
    public List<ModelRequest> requests() {
        List<ModelRequest> main = new ArrayList<>();
        for (ModelRequest request : requests) {
            if (request.kind() == ModelRequest.Kind.MAIN) {
                main.add(request);
            }
        }
        return main;
    }

    /**
     * Every request with a body, side requests included.
     *
     * @return a copy
     */
    public List<ModelRequest> allRequests() {
        return List.copyOf(requests);
    }

    /**
     * What the model was shown last.
     *
     * @return empty when no turn came this far
     */
    public Optional<Conversation> lastConversation() {
        List<ModelRequest> main = requests();
        return main.isEmpty() ? Optional.empty() : Optional.of(main.getLast().conversation());
    }

    /**
     * The gate of some name, for {@code [[gate NAME]]}: before the first {@code say} it holds the answer back
     * altogether, behind one it holds it in the middle.
     *
     * @param name one word
     * @return always the same gate for one name
     */
    public Gate gate(String name) {
        return local(name);
    }

    private Gate.Local local(String name) {
        return gates.computeIfAbsent(name, unseen -> new Gate.Local());
    }

    /** Stops listening; whoever waits at a gate or in a hang goes on and finds the connection gone. */
    @Override
    public void close() {
        closed.countDown();
        gates.values().forEach(Gate::open);
        server.stop(0);
        threads.shutdownNow();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try {
            String path = exchange.getRequestURI().toString();
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            if (!exchange.getRequestMethod().equals("POST") || !path.startsWith("/v1/messages")) {
                boolean head = exchange.getRequestMethod().equals("HEAD");
                exchange.sendResponseHeaders(head ? 200 : 404, -1);
                return;
            }
            answer(exchange, path, ModelRequest.of(path, body));
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        } finally {
            exchange.close();
        }
    }

    private void answer(HttpExchange exchange, String path, ModelRequest request)
            throws IOException, InterruptedException {
        requests.add(request);
        if (path.contains("count_tokens")) {
            AnswerStream.body(exchange, 200, Json.object().with("input_tokens", 10));
            return;
        }
        int number = answers.incrementAndGet();
        AnswerStream answer = new AnswerStream(exchange, request.streamed(), request.model(), "msg_" + number);
        ScriptedModel.Plan plan = plan(request);
        for (Directive step : plan.steps()) {
            if (step.is("break") || step.is("crash")) {
                answer.willBreak();
            }
        }
        int calls = 0;
        for (Directive step : plan.steps()) {
            if (ScriptedModel.isTool(step)) {
                String input = step.afterWord().isEmpty() ? "{}" : step.afterWord();
                answer.call("toolu_" + number + "_" + calls++, step.word(), input);
            } else if (perform(exchange, answer, request, step)) {
                return;
            }
        }
        if (!plan.answer().isEmpty()) {
            int half = plan.answer().length() / 2;
            answer.say(plan.answer().substring(0, half));
            answer.say(plan.answer().substring(half));
        }
        answer.finish();
    }

    private ScriptedModel.Plan plan(ModelRequest request) {
        if (request.kind() == ModelRequest.Kind.SIDE) {
            return new ScriptedModel.Plan(List.of(), "ok");
        }
        Optional<ModelReply> reply = script.apply(request);
        if (reply.isPresent()) {
            return reply.get().plan();
        }
        if (request.kind() == ModelRequest.Kind.SUMMARY) {
            return new ScriptedModel.Plan(List.of(), summary(request.conversation()));
        }
        return ScriptedModel.next(request.conversation(), List.of());
    }

    private static String summary(Conversation conversation) {
        List<String> words = conversation.userTexts();
        StringBuilder summary = new StringBuilder("The user said:");
        for (String text : words.subList(0, words.size() - 1)) {
            summary.append("\n- ").append(Directive.textWithout(text));
        }
        return summary.toString();
    }

    /** True when the answer is over. */
    private boolean perform(HttpExchange exchange, AnswerStream answer, ModelRequest request, Directive step)
            throws IOException, InterruptedException {
        switch (step.name()) {
            case "say" -> answer.say(step.rest());
            case "sleep" -> closed.await(step.number(0), TimeUnit.MILLISECONDS);
            case "gate" -> local(step.word()).pass();
            case "hang" -> closed.await();
            case "once" -> {
                if (done.add(step.word())) {
                    return perform(exchange, answer, request, step.inner());
                }
            }
            case "break", "crash" -> {
                exchange.close();
                return true;
            }
            case "error" -> {
                if (stillFails(request, step)) {
                    answer.fail((int) step.number(500));
                    return true;
                }
            }
            default -> {}
        }
        return false;
    }

    private boolean stillFails(ModelRequest request, Directive step) {
        if (step.afterWord().isEmpty()) {
            return true;
        }
        String key = request.sessionId() + step.rest() + ScriptedModel.deciding(request.conversation());
        int failed =
                failures.computeIfAbsent(key, unseen -> new AtomicInteger()).getAndIncrement();
        return failed < Integer.parseInt(step.afterWord());
    }
}
