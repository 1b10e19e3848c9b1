package dev.holdfast.cli;

import dev.holdfast.AuditRow;
import dev.holdfast.runtime.AuditRows;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ParentCommand;

/** {@code holdfast audit}: every call of a tool, once, in order (TL-08). */
@Command(
        name = "audit",
        sortOptions = false,
        description = "Lists what became of a session's calls of tools, also while another process runs it. With --json"
                + " one row a line.")
final class AuditCommand implements Callable<Integer> {
    private static final int PAGE = 500;
    private static final int DIGEST_SHOWN = 8;

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private Main main;

    @Parameters(paramLabel = "NAME", description = "The session.")
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private String session;

    @Option(names = "--after", paramLabel = "SEQ", description = "Only rows after this sequence number.")
    private long after;

    @Override
    public Integer call() {
        var globals = main.globals();
        GlobalOptions.logNowhere();
        var screen = globals.screen();
        var name = GlobalOptions.name(session);
        if (after < 0) {
            throw new CommandFailed(Exit.USAGE, "usage", "--after " + after + " is negative; 0 lists all rows");
        }
        try (var store = globals.store().read()) {
            ShowCommand.known(name, store);
            long seen = after;
            while (true) {
                var page = Waiting.on(AuditRows.read(store, name, seen, PAGE));
                for (AuditRow row : page) {
                    if (screen.json()) {
                        screen.object(AuditRows.members(row));
                    } else {
                        screen.line(line(row, screen));
                    }
                    seen = row.seq();
                }
                if (page.size() < PAGE) {
                    return Exit.OK;
                }
            }
        }
    }

    private static String line(AuditRow row, Screen screen) {
        var style = switch (row.outcome()) {
            case OK -> Screen.Style.GREEN;
            case ERROR, LOST, CANCELLED -> Screen.Style.YELLOW;
            case DENIED, ABANDONED -> Screen.Style.RED;
        };
        String seq = Screen.number(row.seq());
        return screen.styled(Screen.Style.DIM, seq + "  " + Times.full(row.at()) + "  ")
                + screen.styled(style, Screen.padded(word(row.outcome()), 10))
                + TerminalText.safe(" " + row.tool() + " ("
                        + (row.inputDigest().isEmpty() ? "?" : row.inputDigest().substring(0, DIGEST_SHOWN)) + ")"
                        + (row.turn() > 0 ? " in turn " + row.turn() : "")
                        + (row.author().isEmpty() ? "" : " for " + row.author())
                        + ": " + word(row.ruling()) + (row.rule().isEmpty() ? "" : " by rule " + row.rule())
                        + row.took().map(t -> ", " + t.toMillis() + " ms").orElse(""));
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}
