package dev.holdfast.cli;

import dev.holdfast.SessionName;
import dev.holdfast.core.Event;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** How the demo looks: for a person, or as JSON lines with a {@code step} each. Thread-safe. */
final class DemoStage {
    private final Screen screen;
    private Optional<LiveAnswer> live = Optional.empty();

    DemoStage(Screen screen) {
        this.screen = screen;
    }

    /** Through which all is printed while answers are written. */
    void attach(LiveAnswer answers) {
        live = Optional.of(answers);
    }

    private void print(String ready) {
        live.ifPresentOrElse(l -> l.aside(ready), () -> screen.line(ready));
    }

    private void object(Object... namesAndValues) {
        var members = new LinkedHashMap<String, Object>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            members.put((String) namesAndValues[i], namesAndValues[i + 1]);
        }
        screen.object(members);
    }

    void opening(Path data, SessionName name) {
        if (screen.json()) {
            object("step", "opening", "data", data.toString(), "session", name.value());
            return;
        }
        print(screen.styled(Screen.Style.BOLD, "Holdfast demo")
                + ": a scripted agent (a real child process), a durable session, one kill -9.");
        print(screen.styled(Screen.Style.DIM, "Session '" + name + "' in " + data));
    }

    void heading(String number, String words) {
        if (screen.json()) {
            object("step", "heading", "number", number, "words", words);
            return;
        }
        print("");
        print(screen.styled(Screen.Style.BOLD, number + "  " + words));
    }

    void said(String words) {
        if (screen.json()) {
            object("step", "said", "who", "you", "text", words);
            return;
        }
        print(screen.styled(Screen.Style.BOLD, "you    ") + TerminalText.safe(words));
    }

    void tool(String arguments, String answer) {
        if (screen.json()) {
            object("step", "tool", "tool", "find_order", "input", arguments, "answer", answer);
            return;
        }
        print(screen.styled(Screen.Style.CYAN, "agent  ") + "calls "
                + screen.styled(Screen.Style.BOLD, "find_order " + arguments)
                + screen.styled(Screen.Style.DIM, "  (a Java method in this process)"));
        print(screen.styled(Screen.Style.BLUE, "tool   ") + TerminalText.safe(answer));
    }

    void killed(long pid) {
        if (screen.json()) {
            object("step", "killed", "pid", pid);
            return;
        }
        print(screen.styled(Screen.Style.RED, "  ✗    agent killed: kill -9 " + pid));
    }

    /** The notice of an event; absent when it was printed as JSON. */
    Optional<String> journal(long seq, Event event) {
        if (screen.json()) {
            var members = new LinkedHashMap<String, Object>();
            members.put("step", event instanceof Event.TurnSettled ? "answered" : "recovery");
            members.put("event", seq);
            members.put("type", event.getClass().getSimpleName());
            members.put("words", EventWords.of(event));
            if (event instanceof Event.TurnSettled e) {
                members.put("outcome", e.outcome().name());
                members.put("text", e.text());
            }
            screen.object(members);
            return Optional.empty();
        }
        return Optional.of("journal #" + seq + "  " + EventWords.of(event));
    }

    void promise(boolean kept, String words) {
        if (screen.json()) {
            object("step", "promise", "kept", kept, "words", words);
            return;
        }
        print((kept ? screen.styled(Screen.Style.GREEN, "  ✓    ") : screen.styled(Screen.Style.RED, "  ✗    "))
                + TerminalText.safe(words));
    }

    /**
     * @param held whether every promise was
     * @param kept whether the store stays
     */
    void closing(Path data, SessionName name, boolean held, boolean kept) {
        Map<String, String> next = kept ? DemoCommand.next(data, name) : Map.of();
        if (screen.json()) {
            object(
                    "step",
                    "closing",
                    "kept",
                    held,
                    "journal",
                    kept ? data.resolve("journal.db").toString() : "",
                    "next",
                    next);
            return;
        }
        print("");
        print(screen.styled(Screen.Style.BOLD, held ? "All promises held." : "A promise was BROKEN; keep the data."));
        if (!kept) {
            print("Its store is removed. Keep one to look at, and to go on talking, with:");
            print("  " + screen.styled(Screen.Style.CYAN, DemoCommand.again()));
            return;
        }
        print("The journal is " + data.resolve("journal.db") + ". Look at it, or go on talking:");
        for (String command : new String[] {"show", "events", "chat"}) {
            print("  " + screen.styled(Screen.Style.CYAN, next.getOrDefault(command, "")));
        }
    }
}
