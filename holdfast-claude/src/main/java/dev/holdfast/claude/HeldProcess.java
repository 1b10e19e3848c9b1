package dev.holdfast.claude;

import dev.holdfast.Launch;
import dev.holdfast.Report;
import dev.holdfast.SessionName;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * One process of a held session and what is known of it. What it says goes to its session, one thing at a time; the fields
 * belong to that session.
 */
final class HeldProcess implements Watcher {
    private final HeldSession session;
    private final BoundAgent bound;
    private final ClaudeAttachment attachment;
    private final TurnLog log;
    private final ToolDesk desk;

    /** When it was started. */
    long begunAt;

    long pid;
    int turns;
    /** Whether the agent says that it works. */
    boolean busy;

    /** The stage at which its start hung; empty while it did not. */
    String hungAt = "";

    HeldEvent.Memory memory = HeldEvent.Memory.NEW;
    Report.@Nullable Mismatch mismatch;
    private BoundAgent hooksOf;
    private final MemoryLook memoryLook;

    HeldProcess(HeldSession session, HeldHost host, BoundAgent bound, String place) {
        this.session = session;
        this.bound = bound;
        this.hooksOf = bound;
        var launch = new Launch(
                host.store(),
                new SessionName(place),
                host.epoch(),
                host.incarnations().incrementAndGet(),
                host.options().directory(),
                bound.specs());
        ClaudeCodeAgent agent = bound.agent();
        this.attachment = new ClaudeAttachment(
                agent,
                launch,
                new AgentPlace(agent, launch, host.options().environment(), host.codec()),
                host.source(),
                host.gate(),
                host.background(),
                host.codec(),
                this);
        this.log = new TurnLog(tools(bound));
        this.desk = new ToolDesk(bound, attachment, host.options(), host.background());
        this.memoryLook = new MemoryLook(host.gauge(), host.background()::nanoTime);
        this.begunAt = host.background().nanoTime();
    }

    private static Set<String> tools(BoundAgent bound) {
        var names = new LinkedHashSet<>(bound.agent().builtinTools());
        bound.specs().forEach(spec -> names.add(HostTools.PREFIX + spec.name()));
        return names;
    }

    BoundAgent bound() {
        return bound;
    }

    ClaudeAttachment attachment() {
        return attachment;
    }

    TurnLog log() {
        return log;
    }

    ToolDesk desk() {
        return desk;
    }

    /**
     * The limit this process has reached, so that it is to be replaced (HS-14); empty while none is. One that is too big
     * before its first turn is no reason: the next would be as big, and the turn would never be told.
     */
    String outworn(HeldOptions options, long now) {
        if (turns > 0 && turns >= options.maxTurns()) {
            return turns + " turns";
        }
        if (now - begunAt >= options.maxAge().toNanos()) {
            return "it is older than " + options.maxAge();
        }
        OptionalLong bytes = turns > 0 ? memoryLook.look(pid) : OptionalLong.empty();
        return bytes.orElse(0) >= options.maxMemory() ? bytes.getAsLong() + " bytes of memory" : "";
    }

    @Override
    public void report(Report report) {
        session.enter(() -> session.heard(this, report));
    }

    /** What the result of a turn is made of; anything else only where somebody pays attention. */
    @Override
    public boolean wants(Frame frame) {
        return switch (frame) {
            case Frame.Assistant assistant -> true;
            case Frame.Result result -> true;
            case Frame.User user -> !user.replay() || session.attentive();
            default -> session.attentive();
        };
    }

    @Override
    public void frame(Frame frame) {
        session.enter(() -> session.saw(this, frame));
    }

    /** Goes over to the code of another binding that does not differ from this one. */
    void hooks(BoundAgent same) {
        if (hooksOf != same) {
            hooksOf = same;
            attachment.hooks(same.agent().hooks());
        }
    }

    @Override
    public void event(HeldEvent event) {
        session.enter(() -> session.told(this, event));
    }

    @Override
    public Optional<UserDesk.Asker> asker() {
        return session.asker();
    }

    @Override
    public void receipt(JsonNode receipt) {
        session.enter(() -> session.receipt(this, interruptReceipt(receipt)));
    }

    private static InterruptReceipt interruptReceipt(JsonNode raw) {
        List<String> queued = StreamJson.texts(raw.path("still_queued"));
        return new InterruptReceipt(queued, StreamJson.texts(raw.path("cancelled")), new RawJson(raw));
    }
}
