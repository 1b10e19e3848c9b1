package dev.holdfast.claude;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What one turn is to do. Immutable; every method that takes a value returns a changed copy.
 *
 * @param texts the user's words, one block each; they reach the model unchanged (HS-15)
 * @param note the host's own block behind them: who says it, where, when
 * @param cancel cancels the turn when it is switched
 * @param listener hears this turn's events, besides the listener of the options
 * @param executor runs calls of tools that are bound by a {@code ToolSpec} only
 * @param permissions decides where the agent asks before it uses a bound tool; absent: as in the options
 * @param deadline how long the whole turn may take; absent: as in the options
 * @param ifBusy what happens when another turn of this session runs
 * @param onOtherBinding what happens when the live process has another binding
 * @param maxToolCalls how many calls of host tools are run; later ones are told to answer without
 */
public record TurnRequest(
        List<String> texts,
        String note,
        Optional<TurnCancel> cancel,
        Optional<HeldListener> listener,
        Optional<ToolExecutor> executor,
        Optional<PermissionAsk> permissions,
        Optional<Duration> deadline,
        IfBusy ifBusy,
        OnOtherBinding onOtherBinding,
        int maxToolCalls) {
    private static final String NOTE = "(sent by the host program)";

    /** One turn at a time per handle (TN-01); what a second one does. */
    public enum IfBusy {
        /** It fails with {@link HeldFailure.Busy}. */
        REFUSE,
        /** It waits for its turn. */
        QUEUE,
        /** It cancels the running one, and runs before those that wait. */
        REPLACE
    }

    /** A process keeps the binding it was started with (HS-03); what a turn with another one does. */
    public enum OnOtherBinding {
        /** It fails with {@link HeldFailure.BindingMismatch}, which names every difference. */
        REFUSE,
        /** The process is replaced between turns, and the conversation resumed. */
        RECYCLE
    }

    /** @throws IllegalArgumentException when there are no words, the note is empty, or a limit is below its least value */
    public TurnRequest {
        texts = List.copyOf(texts);
        if (texts.isEmpty() || texts.stream().allMatch(String::isEmpty)) {
            throw new IllegalArgumentException("a turn needs words; got " + texts.size() + " empty texts");
        }
        if (note.isBlank()) {
            throw new IllegalArgumentException("the host's note is blank; say who speaks, or leave the call out");
        }
        if (maxToolCalls < 0) {
            throw new IllegalArgumentException("maxToolCalls is " + maxToolCalls + "; it must not be negative");
        }
        if (deadline.isPresent() && (deadline.get().isZero() || deadline.get().isNegative())) {
            throw new IllegalArgumentException("the deadline is " + deadline.get() + "; it must be longer than zero");
        }
    }

    /** Says this; refused while another turn runs or the binding differs. */
    public static TurnRequest of(String... texts) {
        return new TurnRequest(
                List.of(texts),
                NOTE,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                IfBusy.REFUSE,
                OnOtherBinding.REFUSE,
                Integer.MAX_VALUE);
    }

    public TurnRequest note(String note) {
        return new TurnRequest(
                texts, note, cancel, listener, executor, permissions, deadline, ifBusy, onOtherBinding, maxToolCalls);
    }

    public TurnRequest cancel(TurnCancel cancel) {
        return new TurnRequest(
                texts,
                note,
                Optional.of(cancel),
                listener,
                executor,
                permissions,
                deadline,
                ifBusy,
                onOtherBinding,
                maxToolCalls);
    }

    public TurnRequest listener(HeldListener listener) {
        return new TurnRequest(
                texts,
                note,
                cancel,
                Optional.of(listener),
                executor,
                permissions,
                deadline,
                ifBusy,
                onOtherBinding,
                maxToolCalls);
    }

    public TurnRequest executor(ToolExecutor executor) {
        return new TurnRequest(
                texts,
                note,
                cancel,
                listener,
                Optional.of(executor),
                permissions,
                deadline,
                ifBusy,
                onOtherBinding,
                maxToolCalls);
    }

    public TurnRequest permissions(PermissionAsk ask) {
        return new TurnRequest(
                texts,
                note,
                cancel,
                listener,
                executor,
                Optional.of(ask),
                deadline,
                ifBusy,
                onOtherBinding,
                maxToolCalls);
    }

    public TurnRequest deadline(Duration deadline) {
        return new TurnRequest(
                texts,
                note,
                cancel,
                listener,
                executor,
                permissions,
                Optional.of(deadline),
                ifBusy,
                onOtherBinding,
                maxToolCalls);
    }

    public TurnRequest ifBusy(IfBusy ifBusy) {
        Objects.requireNonNull(ifBusy, "ifBusy");
        return new TurnRequest(
                texts, note, cancel, listener, executor, permissions, deadline, ifBusy, onOtherBinding, maxToolCalls);
    }

    public TurnRequest onOtherBinding(OnOtherBinding onOtherBinding) {
        Objects.requireNonNull(onOtherBinding, "onOtherBinding");
        return new TurnRequest(
                texts, note, cancel, listener, executor, permissions, deadline, ifBusy, onOtherBinding, maxToolCalls);
    }

    public TurnRequest maxToolCalls(int maxToolCalls) {
        return new TurnRequest(
                texts, note, cancel, listener, executor, permissions, deadline, ifBusy, onOtherBinding, maxToolCalls);
    }
}
