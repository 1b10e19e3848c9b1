package dev.holdfast.model;

import dev.holdfast.Agent;
import dev.holdfast.Binding;
import dev.holdfast.Harness;
import dev.holdfast.TurnSettings;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * An agent that is a loop over a model's Messages API, in this process: it sends the conversation, runs the tools the model
 * calls, and sends their results, until the model answers. It has no process, no files and no memory but our transcript.
 *
 * <pre>{@code
 * var agent = ModelLoop.agent().apiKey(key).model("claude-sonnet-4-5").tools(new OrderTools());
 * var session = holdfast.session("support-42", agent);
 * }</pre>
 *
 * Immutable; every method gives a changed copy.
 */
public final class ModelLoop implements Agent {
    private final Setup setup;
    private final List<Object> tools;
    private final TurnSettings settings;
    private final ModelHarness harness;

    /**
     * What binds when the agent is made (HN-06).
     *
     * @param apiKey never shown or logged
     * @param maxTokens of one answer of the model
     * @param maxSteps how often the model is asked in a turn, unless the turn says less
     * @param retries of a request that may succeed when it is sent again, before any of its answer came
     */
    record Setup(
            URI baseUrl,
            Optional<String> apiKey,
            String model,
            Optional<Effort> effort,
            int maxTokens,
            int maxSteps,
            int retries,
            Duration firstWait) {
        Setup {
            if (!apiKey.orElse("x").matches("[!-~]+")) {
                throw new IllegalArgumentException(
                        "the API key is empty, or has a blank, a line end or another character"
                                + " that no header can carry; it is not shown here. Strip what it was read from");
            }
            if (baseUrl.getScheme() == null || !baseUrl.getScheme().matches("https?") || baseUrl.getHost() == null) {
                throw new IllegalArgumentException("the base URL of a Messages API begins with http:// or https:// and"
                        + " names a host; got '" + baseUrl + "'");
            }
            if (maxTokens < 1 || maxSteps < 1 || retries < 0) {
                throw new IllegalArgumentException(
                        "maxTokens and maxSteps are at least 1 and retries not negative; got " + maxTokens + ", "
                                + maxSteps + " and " + retries);
            }
        }

        @Override
        public String toString() {
            return "model " + model + " at " + baseUrl;
        }
    }

    /** How hard the model thinks; unset is the model's own default. */
    public enum Effort {
        LOW,
        MEDIUM,
        HIGH
    }

    private ModelLoop(Setup setup, List<Object> tools, TurnSettings settings) {
        this.setup = setup;
        this.tools = List.copyOf(tools);
        this.settings = settings;
        this.harness = new ModelHarness(setup);
    }

    /** At the public endpoint, without a key; 8,192 tokens an answer, 50 steps a turn, 4 retries. */
    public static ModelLoop agent() {
        var setup = new Setup(
                URI.create("https://api.anthropic.com"),
                Optional.empty(),
                "claude-sonnet-4-5",
                Optional.empty(),
                8_192,
                50,
                4,
                Duration.ofMillis(500));
        return new ModelLoop(setup, List.of(), TurnSettings.standard());
    }

    /** Where the API is, without the path. */
    public ModelLoop baseUrl(String url) {
        return with(draft -> draft.baseUrl = URI.create(url));
    }

    /** The key of the API. Nothing is taken from the environment. */
    public ModelLoop apiKey(String key) {
        return with(draft -> draft.apiKey = Optional.of(key));
    }

    public ModelLoop model(String model) {
        return with(draft -> draft.model = model);
    }

    public ModelLoop effort(Effort effort) {
        return with(draft -> draft.effort = Optional.of(effort));
    }

    /** How many tokens one answer of the model may have; at least 1. */
    public ModelLoop maxTokens(int tokens) {
        return with(draft -> draft.maxTokens = tokens);
    }

    /** How often the model may be asked in a turn before it ends as one at its limit (MB-15); at least 1. */
    public ModelLoop maxSteps(int steps) {
        return with(draft -> draft.maxSteps = steps);
    }

    /**
     * How often a request is sent again that failed with 429, 5xx or without an answer.
     *
     * @param firstWait before the first time, unless the API says how long; doubled each time, at most a minute
     */
    public ModelLoop retries(int retries, Duration firstWait) {
        return with(draft -> {
            draft.retries = retries;
            draft.firstWait = firstWait;
        });
    }

    /** Tools of the host: {@link dev.holdfast.Tool} objects, or objects with {@link dev.holdfast.AgentTool} methods. */
    public ModelLoop tools(Object... bound) {
        return new ModelLoop(setup, List.of(bound), settings);
    }

    /** The developer's words to the model. */
    public ModelLoop systemPrompt(String prompt) {
        return settings(settings.brief(prompt));
    }

    /** What each turn is given besides. */
    public ModelLoop settings(TurnSettings next) {
        return new ModelLoop(setup, tools, next);
    }

    private ModelLoop with(Consumer<Draft> change) {
        var draft = new Draft(setup);
        change.accept(draft);
        return new ModelLoop(draft.made(), tools, settings);
    }

    /** What a changed setup is made of. */
    private static final class Draft {
        private URI baseUrl;
        private Optional<String> apiKey;
        private String model;
        private Optional<Effort> effort;
        private int maxTokens;
        private int maxSteps;
        private int retries;
        private Duration firstWait;

        Draft(Setup from) {
            baseUrl = from.baseUrl();
            apiKey = from.apiKey();
            model = from.model();
            effort = from.effort();
            maxTokens = from.maxTokens();
            maxSteps = from.maxSteps();
            retries = from.retries();
            firstWait = from.firstWait();
        }

        Setup made() {
            return new Setup(baseUrl, apiKey, model, effort, maxTokens, maxSteps, retries, firstWait);
        }
    }

    @Override
    public Harness harness() {
        return harness;
    }

    @Override
    public List<Object> tools() {
        return tools;
    }

    @Override
    public TurnSettings turnSettings() {
        return settings;
    }

    @Override
    public Binding binding() {
        return settings.binding()
                .shown("base URL", setup.baseUrl())
                .secret("API key", setup.apiKey())
                .shown("model", setup.model())
                .shown("effort", setup.effort())
                .shown("tokens of an answer", setup.maxTokens())
                .shown("steps of a turn", setup.maxSteps())
                .shown("retries", setup.retries() + " from " + setup.firstWait());
    }

    @Override
    public String toString() {
        return setup.toString();
    }
}
