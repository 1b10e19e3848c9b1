package dev.holdfast.cli;

import dev.holdfast.server.Answer;
import dev.holdfast.server.Call;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.ParentCommand;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A command that asks something of a session, beside a running host or without one. What it prints for programs is what
 * the API answered; people get sentences: what happened, then what to do.
 */
abstract class SessionCommand implements Callable<Integer> {
    private static final JsonMapper JSON = JsonMapper.builder().build();
    private static final Set<String> USAGE = Set.of("invalid", "malformed", "too_large");
    private static final Set<String> STORE = Set.of(
            "full_disk",
            "read_only",
            "damaged",
            "newer_format",
            "in_use",
            "owned",
            "stopped",
            "failed",
            "slow",
            "stopping");
    /** Refusals whose words say what a session did with a message, and leave out which session. */
    private static final Set<String> OF_MESSAGES = Set.of("key_conflict", "full", "refused", "busy");

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    GlobalOptions globals() {
        return main.globals();
    }

    @Override
    public Integer call() {
        try (var reach = Reach.of(globals(), missing())) {
            return act(reach);
        }
    }

    /** What is done when there is no store. */
    Reach.Missing missing() {
        return Reach.Missing.IS_REFUSED;
    }

    /** Asks, prints, and gives the exit code. */
    abstract int act(Reach reach);

    /** A session's name, checked before anything is asked. */
    static String name(String given) {
        return GlobalOptions.name(given).value();
    }

    /** What was answered, with whether a host runs; a refusal ends the command with its words. */
    static ObjectNode ask(Reach reach, Call call, Duration wait) {
        var answer = reach.ask(call, wait);
        var members = read(answer);
        if (answer.refused()) {
            throw refused(members, call);
        }
        if (members instanceof ObjectNode object) {
            return object.put("hosted", reach.host().isPresent());
        }
        throw new IllegalStateException("the API answered " + call.method() + " " + call.path() + " with no object");
    }

    static ObjectNode ask(Reach reach, Call call) {
        return ask(reach, call, Reach.PATIENCE);
    }

    static JsonNode read(Answer answer) {
        return JSON.readTree(answer.body());
    }

    /** The failure a problem document stands for. */
    static CommandFailed refused(JsonNode problem, Call call) {
        String word = problem.path("problem").asString("unexpected");
        String detail = problem.path("detail").asString("the host refused the call");
        if (word.equals("unknown_session")) {
            detail += "; 'holdfast chat NAME' does, 'holdfast ps' lists those there are";
        }
        if (OF_MESSAGES.contains(word) && bringsWords(call)) {
            return new CommandFailed(Exit.SESSION, word, "the message was not taken: " + detail);
        }
        int exit = USAGE.contains(word)
                ? Exit.USAGE
                : STORE.contains(word) ? Exit.STORE : word.equals("unexpected") ? Exit.UNEXPECTED : Exit.SESSION;
        return new CommandFailed(exit, word, detail);
    }

    private static boolean bringsWords(Call call) {
        return call.path().endsWith("/messages") || call.path().startsWith("/v1/addresses/");
    }

    /** Why a file could not be read or written, in words. */
    static String why(IOException failure) {
        return switch (failure) {
            case NoSuchFileException e -> "there is none";
            case AccessDeniedException e -> "permission denied";
            default -> String.valueOf(failure.getMessage());
        };
    }

    /** Prints the answer for a program, or the sentences for a person. */
    void tell(ObjectNode answer, String... sentences) {
        var screen = globals().screen();
        if (screen.json()) {
            screen.object(answer);
            return;
        }
        for (String sentence : sentences) {
            if (!sentence.isEmpty()) {
                screen.line(Screen.Style.PLAIN, sentence);
            }
        }
    }

    /** When what was stored is acted on, if nobody does so now; else empty. */
    static String later(ObjectNode answer, String session, String what) {
        if (answer.path("held").asBoolean()) {
            return "";
        }
        return answer.path("hosted").asBoolean()
                ? "The host that runs has not taken session " + session + " up: " + what + " when one does."
                : "No host runs: " + what + " when one takes the session up, for example with: holdfast chat "
                        + session;
    }

    /** A duration in the manner of {@code 15s}, {@code 2m}, {@code 1h}; a bare number is seconds. */
    static Optional<Duration> duration(String given) {
        if (!given.matches("[0-9]{1,9}[smh]?")) {
            return Optional.empty();
        }
        char unit = given.charAt(given.length() - 1);
        long count = Long.parseLong(Character.isDigit(unit) ? given : given.substring(0, given.length() - 1));
        return Optional.of(
                switch (unit) {
                    case 'm' -> Duration.ofMinutes(count);
                    case 'h' -> Duration.ofHours(count);
                    default -> Duration.ofSeconds(count);
                });
    }
}
