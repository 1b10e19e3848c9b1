package dev.holdfast.runtime;

import dev.holdfast.AgentTool;
import dev.holdfast.Author;
import dev.holdfast.Describe;
import dev.holdfast.Message;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.ToolAnswer;
import dev.holdfast.ToolCall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.function.Function;

/**
 * The tool with which a role writes to another one (LV-05). A call that is run again after a crash sends nothing twice: the
 * message has the call's key. Mail waits durably for a role that does not run.
 */
public final class RoleMail {
    /** The tool's name. */
    public static final String NAME = "send_mail";

    /** Longer mail, in characters, goes into a file, and its reader is told the beginning. */
    public static final int INLINE_MAX = 4_096;

    /** How much of such mail its reader is told, in characters. */
    public static final int DIGEST = 1_024;

    private final TeamPlan plan;
    private final Role from;
    private final Path spill;
    private final Function<Role, Session> sessions;

    /**
     * @param spill directory for long mail; made, for this user only, with the first
     * @param sessions where a role is reached
     */
    RoleMail(TeamPlan plan, Role from, Path spill, Function<Role, Session> sessions) {
        this.plan = plan;
        this.from = from;
        this.spill = spill;
        this.sessions = sessions;
    }

    @AgentTool(
            name = NAME,
            value = "Writes to another role of your team. It returns once the mail is stored; it does not wait for an"
                    + " answer, which comes as a message of its own.",
            idempotent = true)
    public ToolAnswer send(
            @Describe("name of the role") String to, @Describe("the whole mail, in words") String text, ToolCall call) {
        var role = plan.role(to);
        if (role.isEmpty()) {
            return ToolAnswer.error("there is no role '" + to + "' in this team: write to one of "
                    + plan.roles().stream()
                            .map(Role::name)
                            .filter(name -> !name.equals(from.name()))
                            .toList());
        }
        if (role.get().equals(from)) {
            return ToolAnswer.error("you are '" + to + "' yourself: write to another role");
        }
        if (text.isBlank()) {
            return ToolAnswer.error("the mail has no words: 'text' must not be empty");
        }
        var message = Message.of(text.length() > INLINE_MAX ? digest(text, call.idempotencyKey()) : text)
                .author(new Author(from.name(), "team"))
                .key("mail-" + call.idempotencyKey());
        return switch (sessions.apply(role.get()).send(message)) {
            case Receipt.Stored stored -> ToolAnswer.text("stored as message " + stored.number() + " of '" + to + "'");
            case Receipt.Refusal refusal ->
                ToolAnswer.error("'" + to + "' did not take it: " + refusal.message() + ". Nothing was sent.");
        };
    }

    private String digest(String text, String key) {
        Path file = spill.resolve(key + ".txt");
        try {
            if (!Files.exists(file)) {
                store(text, file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("mail of " + text.length() + " characters cannot be stored in " + file, e);
        }
        int end = Character.isHighSurrogate(text.charAt(DIGEST - 1)) ? DIGEST - 1 : DIGEST;
        return text.substring(0, end) + "\n\n[This is the beginning. All " + text.length()
                + " characters are in the file " + file + "]";
    }

    /** On disk, whole, before its message is sent. */
    private void store(String text, Path file) throws IOException {
        Files.createDirectories(
                spill, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        Path draft = spill.resolve(file.getFileName() + ".draft");
        var mode = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
        Files.deleteIfExists(draft);
        try (var out = FileChannel.open(draft, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), mode)) {
            var bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                out.write(bytes);
            }
            out.force(true);
        }
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
        try (var directory = FileChannel.open(spill, StandardOpenOption.READ)) {
            directory.force(true);
        }
    }
}
