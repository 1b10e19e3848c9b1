package dev.holdfast.claude;

import dev.holdfast.DeliveryId;
import dev.holdfast.Launch;
import dev.holdfast.Report;
import dev.holdfast.StartPlan;
import dev.holdfast.claude.AgentProcess.Exit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One process of an incarnation and what is known of it: its pipes, the turns read out of them, and what is asked and owed.
 * Belongs to its attachment, which uses it under its lock; what the process's own threads tell enters that by
 * {@link Owner#heard}.
 */
final class AgentLife implements AgentProcess.Listener {
    /** The attachment. All but {@link #heard} is called under its lock. */
    interface Owner {
        /** Runs these in order under the lock, as long as this process is the attachment's. */
        void heard(AgentLife from, List<Runnable> all);

        void frame(Frame frame);

        void report(Report report);

        void outputEnded(AgentLife ended);

        void gone(Exit exit);
    }

    /** What an attachment has for each of its processes. */
    record Parts(
            ClaudeCodeAgent agent,
            Launch launch,
            StreamJson codec,
            Background background,
            Watcher watcher,
            Outbox outbox,
            ReentrantLock lock,
            MemoryLook memory) {}

    final Conversation conversation;
    final Connection connection;
    final Interrupts interrupts;
    final ToolWatch toolWatch;
    final ToolCheck check;
    private final Parts parts;
    private final Owner owner;
    /** What was read in one go; of the thread that reads. */
    private final List<Runnable> unheard = new ArrayList<>();

    boolean adopted;
    boolean over;
    private @Nullable DeliveryId told;
    private long toldUpTo;

    AgentLife(Parts parts, HookBook hooks, Optional<StartPlan.CatchUp> retelling, Owner owner) {
        this.parts = parts;
        this.owner = owner;
        ClaudeCodeAgent agent = parts.agent();
        Background background = parts.background();
        this.conversation = new Conversation(
                agent.deadlines(), !agent.builtinTools().isEmpty(), this::landed, background::nanoTime);
        this.connection = new Connection(
                parts.codec(),
                parts.launch().tools(),
                new LinkedHashSet<>(agent.builtinTools()),
                writer -> desk(hooks, writer),
                parts.launch().guarded() ? Optional.of(background::nanoTime) : Optional.empty(),
                owner::frame,
                owner::report);
        this.interrupts = new Interrupts(
                connection.control(),
                conversation,
                agent.deadlines().interrupt(),
                owner::report,
                receipt -> parts.outbox().put(() -> parts.watcher().receipt(receipt)),
                background::nanoTime);
        this.toolWatch = new ToolWatch(
                parts.codec(),
                parts.launch().guarded() ? new LinkedHashSet<>(agent.builtinTools()) : Set.of(),
                owner::report);
        this.check = new ToolCheck(
                retelling.map(StartPlan.CatchUp::id).orElseGet(this::newId),
                retelling.map(StartPlan.CatchUp::text),
                this::newId);
    }

    private DeliveryId newId() {
        return new DeliveryId(parts.background().newId());
    }

    private UserDesk desk(HookBook hooks, Consumer<String> urgentWriter) {
        var threads = new UserAnswers.Threads(
                parts.background(), "holdfast-claude-asked-" + parts.launch().session(), this::heard);
        var watcher = parts.watcher();
        var hearing = new UserDesk.Hearing(
                watcher::asker,
                event -> parts.outbox().put(() -> watcher.event(event)),
                owner::report,
                (prompt, why) -> conversation.keptBack(prompt, why));
        return new UserDesk(parts.codec(), hooks, threads, conversation.vigil(), hearing, urgentWriter);
    }

    /** Behind the lock: writing may be the caller's own work, and this must be free to end the process meanwhile. */
    void write(DeliveryId id, String line) {
        AgentProcess running = connection.process();
        if (running == null) {
            connection.send(line, false);
            return;
        }
        long before = connection.written();
        connection.count(line);
        told = id;
        toldUpTo = connection.written();
        long bytes = toldUpTo - before;
        parts.outbox().put(() -> running.sendToReader(line, unreadBut(bytes)));
    }

    /** What the agent may not have read by now, less a line that is about to be written. */
    private long unreadBut(long bytes) {
        parts.lock().lock();
        try {
            return connection.unread() - bytes;
        } finally {
            parts.lock().unlock();
        }
    }

    /** An agent that acknowledges a line has read everything before it; one that rests is weighed. */
    private void landed(Report report) {
        AgentProcess resting = report instanceof Report.Idle ? connection.process() : null;
        if (resting != null) {
            parts.memory().look(resting.pid()).ifPresent(bytes -> owner.report(new Report.Memory(bytes)));
        }
        if (report instanceof Report.Landed landed && landed.id().equals(told)) {
            connection.read(toldUpTo);
        }
        owner.report(report);
    }

    void expire(long now) {
        connection.control().expire(now);
        interrupts.expire(now);
        connection.users().answers().expire(now);
        conversation.vigil().breached(now).ifPresent(name -> owner.report(new Report.Breached(name)));
    }

    OptionalLong dueNanos() {
        OptionalLong asked = Alarm.nearer(connection.control().dueNanos(), interrupts.dueNanos());
        OptionalLong owed = Alarm.nearer(asked, connection.users().answers().dueNanos());
        return Alarm.nearer(owed, conversation.vigil().dueNanos());
    }

    private void heard(Runnable what) {
        owner.heard(this, List.of(what));
    }

    @Override
    public void line(String text) {
        var frame = parts.codec().read(text); // before the lock: the longest part, and nothing waits for it
        unheard.add(() -> connection.received(text, frame));
    }

    @Override
    public void skipped(long bytes, String why) {
        unheard.add(() -> {
            owner.report(new Report.Noticed("line_skipped", bytes + " bytes: " + why));
            conversation.lineSkipped();
        });
    }

    @Override
    public void caughtUp() {
        if (unheard.isEmpty()) {
            return;
        }
        List<Runnable> all = List.copyOf(unheard);
        unheard.clear();
        owner.heard(this, all);
    }

    @Override
    public void lineLost(String why) {
        heard(() -> owner.report(new Report.Noticed("write_failed", why)));
    }

    @Override
    public void endOfOutput() {
        heard(() -> owner.outputEnded(this));
    }

    @Override
    public void step(String what, String detail) {
        heard(() -> owner.report(new Report.Noticed(what, detail)));
    }

    @Override
    public void gone(Exit exit) {
        heard(() -> {
            over = true;
            owner.gone(exit);
        });
    }
}
