package dev.holdfast.cli;

import dev.holdfast.Attachment;
import dev.holdfast.KnowledgeQuestion;
import dev.holdfast.Launch;
import dev.holdfast.Report;
import dev.holdfast.SessionName;
import dev.holdfast.StartPlan;
import dev.holdfast.StopMode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Starts the agent as a session would, up to the point where a message could be told: the program, its version, whether
 * it is logged in (it says so when it is greeted), and whether it has exactly the tools it is given. No model is called.
 */
final class DoctorOfAgent {
    /** Longer than every deadline of a start together. */
    private static final long PATIENCE_SECONDS = 150;

    private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+).*");

    /** The oldest and the newest version that everything is tried with. */
    private static final int[] OLDEST = {2, 1, 197};

    private static final int[] NEWEST = {2, 1, 332};

    private final AgentOptions.Candidate candidate;
    private final Path home;
    private final Consumer<Finding> found;

    private DoctorOfAgent(AgentOptions.Candidate candidate, Path home, Consumer<Finding> found) {
        this.candidate = candidate;
        this.home = home;
        this.found = found;
    }

    static void examine(AgentOptions options, Shell shell, Path home, ToolTry tools, Consumer<Finding> found) {
        AgentOptions.Candidate candidate;
        try {
            candidate = options.candidate(shell, home);
        } catch (CommandFailed e) {
            found.accept(Finding.failed("agent", String.valueOf(e.getMessage()).replace(" Nothing was sent.", ""), ""));
            return;
        }
        var doctor = new DoctorOfAgent(candidate, home, found);
        var version = tools.run(shell.environment(), candidate.program().toString(), "--version");
        found.accept(doctor.version(version));
        if (version.worked()) {
            doctor.start();
        }
    }

    private Finding version(ToolTry.Outcome tried) {
        String program = candidate.program() + ": ";
        String words = TerminalText.line(tried.words(), 200);
        if (!tried.worked()) {
            return Finding.failed(
                    "agent", program + "it does not say its version: " + words, "Install Claude Code again.");
        }
        var version = VERSION.matcher(words);
        if (!version.matches()) {
            return Finding.note("agent", program + words, "That is no version that is known here.");
        }
        if (compared(version, OLDEST) < 0) {
            return Finding.note(
                    "agent", program + words, "Older than what is tried here (2.1.197): update Claude Code.");
        }
        return compared(version, NEWEST) > 0
                ? Finding.note("agent", program + words, "Newer than what is tried here (2.1.332); it may well work.")
                : Finding.ok("agent", program + words);
    }

    private static int compared(java.util.regex.Matcher version, int[] with) {
        for (int i = 0; i < with.length; i++) {
            int each = Integer.compare(Integer.parseInt(version.group(i + 1)), with[i]);
            if (each != 0) {
                return each;
            }
        }
        return 0;
    }

    private void start() {
        BlockingQueue<Report> reports = new LinkedBlockingQueue<>();
        var store = String.valueOf(home.getFileName());
        var harness = candidate.agent().harness();
        Attachment attachment =
                harness.attach(new Launch(store, new SessionName("doctor"), 1, 1, home, List.of()), reports::add);
        try {
            attachment.know(new KnowledgeQuestion(Optional.empty(), List.of(), List.of()));
            Report known = next(reports);
            if (known instanceof Report.Known) {
                String session = UUID.nameUUIDFromBytes(store.getBytes(StandardCharsets.UTF_8))
                        .toString();
                attachment.start(new StartPlan(session, false, Optional.empty()));
                tell(next(reports));
            } else {
                tell(known);
            }
        } finally {
            attachment.stop(StopMode.IDLE);
            harness.release(home);
        }
    }

    /** The next report that decides something; the end when none comes. */
    private static Report next(BlockingQueue<Report> reports) {
        try {
            Report report = reports.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            while (report instanceof Report.Noticed
                    || report instanceof Report.Started
                    || report instanceof Report.Mismatch
                    || report instanceof Report.Breached) {
                report = reports.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            }
            return report == null ? new Report.Ended("it says nothing", "", "") : report;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Report.Ended("the command was interrupted", "", "");
        }
    }

    private void tell(Report report) {
        if (report instanceof Report.Verified verified) {
            found.accept(loggedIn());
            found.accept(Finding.ok(
                    "start",
                    "version " + verified.version() + " starts, with the given tools and nothing of the user's"));
            return;
        }
        var ended = report instanceof Report.Ended end ? end : new Report.Ended("unexpected: " + report, "", "");
        if (ended.fatal().equals("not_logged_in")) {
            found.accept(Finding.failed(
                    "login",
                    "Claude Code is not logged in",
                    "Run 'claude' once and log in, or give" + " --inference-url with --inference-key-file."));
        } else {
            found.accept(Finding.failed("start", TerminalText.line(ended.why(), 500), ""));
        }
    }

    private Finding loggedIn() {
        if (!candidate.url().isEmpty()) {
            return Finding.note(
                    "login",
                    "the model is at the URL that was given, with a key that was not tried: that would call the model",
                    "");
        }
        return Finding.ok(
                "login",
                candidate.needsLogin() ? "the agent says that it is logged in" : "the scripted agent needs none");
    }
}
