package dev.holdfast.server;

import dev.holdfast.HoldfastException;
import dev.holdfast.JournalException;
import dev.holdfast.Receipt;
import java.util.LinkedHashMap;
import java.util.Locale;

/**
 * Why a call was refused, as a problem document (RFC 9457). The detail of a refusal is its message, unchanged: what a
 * Java caller, a person at the command line and an HTTP client read is the same text.
 *
 * @param problem one word for programs, in lower case with underscores
 * @param detail what was wrong, why, and what to do
 */
record Problem(int status, String problem, String detail) {
    private static final String TYPE = "urn:holdfast:problem:";

    static Problem of(Receipt.Refusal refusal) {
        int status = switch (refusal) {
            case Receipt.KeyConflict unused -> 409;
            case Receipt.Full unused -> 429;
            case Receipt.Refused unused -> 409;
            case Receipt.Busy unused -> 409;
            case Receipt.Released unused -> 410;
            case Receipt.UnknownSession unused -> 404;
        };
        return new Problem(status, refusal.problem(), refusal.message());
    }

    /** What the store or the session answered with an exception; its words are made for people. */
    static Problem of(HoldfastException failure) {
        if (!(failure instanceof JournalException store)) {
            return new Problem(409, "session", String.valueOf(failure.getMessage()));
        }
        int status = switch (store.problem()) {
            case UNKNOWN_SESSION, NOT_FOUND -> 404;
            case OWNED, IN_USE -> 409;
            case FULL_DISK -> 507;
            case READ_ONLY, STOPPED -> 503;
            case DAMAGED, NEWER_FORMAT, FAILED -> 500;
        };
        return new Problem(
                status, store.problem().name().toLowerCase(Locale.ROOT), String.valueOf(failure.getMessage()));
    }

    /** What was sent breaks a bound or is not understood. */
    static Problem invalid(String detail) {
        return new Problem(400, "invalid", detail);
    }

    Answer answer() {
        var members = new LinkedHashMap<String, Object>();
        members.put("type", TYPE + problem);
        members.put("title", problem.replace('_', ' '));
        members.put("status", status);
        members.put("detail", detail);
        members.put("problem", problem);
        return new Answer(status, Answer.PROBLEM, Json.bytes(members));
    }

    /** Ends the handling of a call with this problem. */
    CallRefused refused() {
        return new CallRefused(this);
    }
}
