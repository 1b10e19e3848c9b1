package dev.holdfast.cli;

import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast show}: one session's conversation and state. */
@Command(name = "show", description = "Shows a session's conversation and state, also while another process runs it.")
final class ShowCommand implements Callable<Integer> {
    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Parameters(paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(names = "--last", paramLabel = "N", description = "How many messages, the newest. Default: 50.")
    private int last = 50;

    @Override
    public Integer call() {
        var globals = main.globals();
        GlobalOptions.logNowhere();
        var screen = globals.screen();
        var name = GlobalOptions.name(session);
        try (var store = globals.store().read()) {
            var summary = known(name, store);
            var host = HostSeen.of(globals);
            var history = History.last(Math.max(0, last), name, store);
            if (screen.json()) {
                screen.object(members(summary, history, host));
                return Exit.OK;
            }
            history.print(screen);
            if (!history.entries().isEmpty()) {
                screen.blank();
            }
            screen.line(Screen.Style.DIM, state(summary, host));
            return Exit.OK;
        }
    }

    static SessionSummary known(SessionName name, dev.holdfast.JournalReader store) {
        return Waiting.on(store.session(name))
                .orElseThrow(() -> new CommandFailed(
                        Exit.SESSION,
                        "unknown_session",
                        "there is no session '" + name + "' in this store; 'holdfast ps' lists those there are"));
    }

    private static String state(SessionSummary s, HostSeen host) {
        var words = new StringBuilder("session " + s.name() + ": " + PsCommand.state(s, host));
        if (s.unread() > 0) {
            words.append(", ").append(s.unread()).append(" in the queue");
        }
        words.append(", ").append(s.seq()).append(" events");
        s.summary()
                .costMicros()
                .ifPresent(
                        micros -> words.append(String.format(java.util.Locale.ROOT, ", $%.4f", micros / 1_000_000.0)));
        if (s.unread() > 0 || s.openTurn().isPresent()) {
            words.append(
                    host instanceof HostSeen.None ? "; no host runs, 'holdfast chat " + s.name() + "' goes on" : "");
        }
        return words.toString();
    }

    private static Map<String, Object> members(SessionSummary summary, History history, HostSeen host) {
        var members = PsCommand.members(summary, host);
        var messages = new ArrayList<Map<String, Object>>();
        for (History.Entry entry : history.entries()) {
            var message = new LinkedHashMap<String, Object>();
            message.put("number", entry.number());
            message.put("at", entry.at().toString());
            message.put("author", entry.author());
            message.put("surface", entry.surface());
            message.put("text", entry.text());
            History.only(entry.endings()).ifPresent(ending -> {
                message.put("outcome", ending.outcome().name());
                message.put("turn", ending.turn());
                message.put("answer", ending.text());
                message.put("detail", ending.detail());
                message.put("ended_at", ending.at().toString());
                message.put("event", ending.seq());
            });
            messages.add(message);
        }
        members.put("earlier_messages", history.earlier());
        members.put("conversation", messages);
        return members;
    }
}
