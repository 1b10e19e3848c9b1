package dev.holdfast.server;

import dev.holdfast.ArrivalKind;
import dev.holdfast.Author;
import dev.holdfast.DeliveryPolicy;
import dev.holdfast.JournalReader;
import dev.holdfast.Message;
import dev.holdfast.Payload;
import dev.holdfast.Receipt;
import dev.holdfast.Session;
import dev.holdfast.SessionName;
import dev.holdfast.SessionSummary;
import dev.holdfast.Withdrawal;
import dev.holdfast.runtime.AuditRows;
import dev.holdfast.runtime.Holdfast;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The route table and what each route does. Has no state of its own; thread-safe. */
final class Routes {
    /** A message of the longest text, with what JSON adds to an ordinary one. */
    static final long MESSAGE_MAX = 2L * Message.TEXT_BYTES_MAX;

    /** An order: all that carries no long words. */
    static final long ORDER_MAX = 64 * 1024;

    /** An exported session; a longer one is imported while no host runs. */
    static final long DOCUMENT_MAX = 256L << 20;

    private static final int PAGE_MAX = 500;
    private static final Duration REPLY_WAIT_MAX = Duration.ofSeconds(60);
    private static final Duration DRAIN_MAX = Duration.ofHours(1);
    /** What an owner needs to act on an order, beyond the time the order gives it. */
    private static final Duration OWNER_WAIT = Duration.ofSeconds(10);

    /** For what came of an order; longer than an owner takes that has nothing else to do. */
    private static final Duration ORDER_WAIT = Duration.ofSeconds(2);

    private final Holdfast host;
    private final JournalReader journal;
    private final HostFacts facts;
    private final Waits waits;

    Routes(Holdfast host, JournalReader journal, HostFacts facts, Waits waits) {
        this.host = host;
        this.journal = journal;
        this.facts = facts;
        this.waits = waits;
    }

    List<Route> table() {
        String session = "/v1/sessions/{name}";
        return List.of(
                get("/v1/host", this::host),
                get("/v1/sessions", this::sessions),
                new Route("POST", "/v1/sessions", Answer.DOCUMENT, DOCUMENT_MAX, this::importSession),
                get(session, this::status),
                get(session + "/export", this::export),
                words(session + "/messages", this::message),
                get(session + "/messages/{number}/reply", this::reply),
                order(session + "/cancel", this::cancel),
                order(session + "/interrupt", this::interrupt),
                order(session + "/withdraw", this::withdraw),
                order(session + "/pause", this::pause),
                order(session + "/resume", this::resume),
                order(session + "/drain", this::drain),
                order(session + "/finish", this::finish),
                order(session + "/close", this::close),
                order(session + "/reset", this::reset),
                order(session + "/clear", this::clear),
                words(session + "/answers", this::answer),
                get(session + "/questions", this::questions),
                get(session + "/audit", this::audit),
                get(session + "/transcript", this::transcript),
                order(session + "/regenerate", this::regenerate),
                order(session + "/cut", this::cut),
                order(session + "/fork", this::fork),
                get(session + "/dead-letters", this::deadLetters),
                order(session + "/dead-letters/{number}/resend", this::resend),
                words("/v1/addresses/{token}", this::deliver));
    }

    private static Route get(String template, Route.Handler handler) {
        return new Route("GET", template, Answer.JSON, 0, handler);
    }

    private static Route order(String template, Route.Handler handler) {
        return new Route("POST", template, Answer.JSON, ORDER_MAX, handler);
    }

    private static Route words(String template, Route.Handler handler) {
        return new Route("POST", template, Answer.JSON, MESSAGE_MAX, handler);
    }

    // ---- what there is --------------------------------------------------------------------------------------------

    private Answer host(Route.Asked asked) {
        return Answer.json(200, Map.of("pid", facts.pid(), "store", facts.store(), "version", facts.version()));
    }

    private Answer sessions(Route.Asked asked) {
        int limit = (int) query(asked, "limit", PAGE_MAX, 1, PAGE_MAX);
        var after = Optional.ofNullable(asked.call().query().get("after")).map(SessionName::new);
        var page = waits.on(journal.sessions(after, limit));
        var members = new LinkedHashMap<String, Object>();
        members.put(
                "sessions",
                page.stream().map(s -> Shown.summary(s, held(s.name()))).toList());
        if (page.size() == limit) {
            members.put("next", page.getLast().name().value());
        }
        return Answer.json(200, members);
    }

    private Answer status(Route.Asked asked) {
        var session = session(asked);
        return Answer.json(200, Shown.status(session.status(), held(session.name())));
    }

    private Answer export(Route.Asked asked) {
        return new Answer(
                200, Answer.DOCUMENT, waits.on(host.exportSession(session(asked).name())));
    }

    private Answer importSession(Route.Asked asked) {
        byte[] document = asked.call().body();
        var as = Optional.ofNullable(asked.call().query().get("as")).map(SessionName::new);
        var name = waits.on(as.map(free -> host.importSession(document, free).thenApply(stored -> free))
                .orElseGet(() -> host.importSession(document)));
        return Answer.json(201, Map.of("session", name.value()));
    }

    // ---- words ----------------------------------------------------------------------------------------------------

    private Answer message(Route.Asked asked) {
        var fields = asked.fields("text", "key", "author", "surface", "policy");
        var message = new Message(
                fields.requiredText("text"),
                key(asked, fields),
                author(fields),
                fields.text("policy").map(Routes::policy).orElse(DeliveryPolicy.NEXT));
        return stored(asked, "message", session(asked).sendAsync(message));
    }

    /** The policy of that name: a name of {@link DeliveryPolicy} in lower case, its words joined by hyphens. */
    static DeliveryPolicy policy(String name) {
        return Arrays.stream(DeliveryPolicy.values())
                .filter(p -> name(p).equals(name))
                .findFirst()
                .orElseThrow(() -> Problem.invalid("there is no policy '" + Shown.shortened(name) + "': use "
                                + Arrays.stream(DeliveryPolicy.values())
                                        .map(Routes::name)
                                        .collect(Collectors.joining(", ")))
                        .refused());
    }

    private static String name(DeliveryPolicy policy) {
        return policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private Answer reply(Route.Asked asked) {
        var session = session(asked);
        long number = number(asked);
        var wait = Duration.ofSeconds(query(asked, "wait", 0, 0, REPLY_WAIT_MAX.toSeconds()));
        demandMessage(session.name(), number);
        var end = session.reply(number).toCompletableFuture();
        var reply = waits.on(end, wait.isZero() ? Duration.ofMillis(200) : wait);
        if (reply.isEmpty()) {
            end.cancel(false); // nobody waits for it any more
        }
        return reply.map(r -> Answer.json(200, Shown.reply(session.name(), r)))
                .orElseGet(() -> Answer.json(
                        202,
                        Map.of(
                                "session",
                                session.name().value(),
                                "message",
                                number,
                                "pending",
                                true,
                                "held",
                                held(session.name()))));
    }

    private Answer answer(Route.Asked asked) {
        var fields = asked.fields("question", "text", "key", "author", "surface");
        var payload = new Payload.Answer(fields.requiredText("question"), fields.requiredText("text"));
        return ordered(asked, session -> session.submit(payload, author(fields), key(asked, fields)));
    }

    /**
     * Builds the one kind that the address was made for; an address is never a way to give orders (IN-02). The subject of
     * a callback is the attempt or the call it is of; by itself, the address.
     */
    private Answer deliver(Route.Asked asked) {
        String token = asked.path("token");
        var fields = asked.fields("text", "subject", "key", "author", "surface", "policy");
        String subject = fields.text("subject").orElse(token);
        String text = fields.requiredText("text");
        var address = waits.on(journal.address(token))
                .orElseThrow(() -> Problem.of(new Receipt.Released(token)).refused());
        Set<ArrivalKind> accepts = address.terms().accepts();
        Payload payload;
        if (accepts.equals(Set.of(ArrivalKind.AUTHORIZATION))) {
            payload = new Payload.Authorization(subject, text);
        } else if (accepts.equals(Set.of(ArrivalKind.TOOL_RUN))) {
            payload = new Payload.ToolRun(subject, text);
        } else {
            var policy = fields.text("policy").map(Routes::policy).orElse(DeliveryPolicy.NEXT);
            payload = new Payload.Words(text, policy);
        }
        var receipt = waits.on(host.deliver(token, payload, author(fields), key(asked, fields)));
        return stored(address.session(), "message", receipt);
    }

    // ---- orders ---------------------------------------------------------------------------------------------------

    private Answer cancel(Route.Asked asked) {
        var fields = asked.fields("turn", "message", "key", "author", "surface");
        var cancel = new Payload.Cancel(fields.number("turn"), fields.number("message"));
        cancel.message().ifPresent(number -> demandMessage(session(asked).name(), number));
        return ordered(asked, session -> session.submit(cancel, author(fields), key(asked, fields)));
    }

    private Answer interrupt(Route.Asked asked) {
        asked.fields();
        return ordered(asked, Session::interruptAsync);
    }

    private Answer reset(Route.Asked asked) {
        var fields = asked.fields("key", "author", "surface");
        return ordered(asked, session -> session.submit(new Payload.Reset(), author(fields), key(asked, fields)));
    }

    /** It waits for its place in the queue, so what becomes of it is not waited for. */
    private Answer clear(Route.Asked asked) {
        var fields = asked.fields("key", "author", "surface");
        return stored(asked, "number", session(asked).submit(new Payload.Clear(), author(fields), key(asked, fields)));
    }

    private Answer withdraw(Route.Asked asked) {
        long number = asked.fields("message").requiredNumber("message");
        var session = session(asked);
        var members = new LinkedHashMap<String, Object>();
        members.put("session", session.name().value());
        members.put("message", number);
        var answer = waits.on(session.withdraw(number), OWNER_WAIT);
        if (answer.isEmpty()) {
            return pending(session, members);
        }
        return switch (answer.get()) {
            case Withdrawal.Withdrawn unused -> {
                members.put("withdrawn", true);
                yield Answer.json(200, members);
            }
            case Withdrawal.TooLate late -> new Problem(409, "too_late", late.why()).answer();
            case Withdrawal.Unknown unused ->
                noMessage(session.name(), number).problem().answer();
        };
    }

    private Answer pause(Route.Asked asked) {
        String reason = reason(asked);
        return ordered(asked, session -> session.pause(reason));
    }

    private Answer resume(Route.Asked asked) {
        asked.fields();
        return ordered(asked, Session::resume);
    }

    private Answer finish(Route.Asked asked) {
        String reason = reason(asked);
        return ordered(asked, session -> session.finish(reason));
    }

    private Answer close(Route.Asked asked) {
        String reason = reason(asked);
        return ordered(asked, session -> session.closeAsync(reason));
    }

    private static String reason(Route.Asked asked) {
        return asked.fields("reason").text("reason").orElse("");
    }

    private Answer drain(Route.Asked asked) {
        long seconds = asked.fields("seconds").number("seconds").orElse(15);
        if (seconds < 0 || seconds > DRAIN_MAX.toSeconds()) {
            throw Problem.invalid("a drain takes 0 to " + DRAIN_MAX.toSeconds() + " seconds; got " + seconds)
                    .refused();
        }
        var session = session(asked);
        var time = Duration.ofSeconds(seconds);
        var members = new LinkedHashMap<String, Object>();
        members.put("session", session.name().value());
        var drained = waits.on(session.drain(time), held(session.name()) ? time.plus(OWNER_WAIT) : OWNER_WAIT);
        if (drained.isEmpty()) {
            return pending(session, members);
        }
        members.put("drained", true);
        drained.get().inFlight().ifPresent(turn -> members.put("open_turn", turn));
        members.put("queue", drained.get().queued());
        members.put("held", held(session.name()));
        return Answer.json(200, members);
    }

    /**
     * Gives an order and tells what came of it, when an owner acts on it soon: {@code done} is what its event says. An
     * order accepted before, under its key, has been told of before.
     */
    private Answer ordered(Route.Asked asked, Function<Session, CompletionStage<Receipt>> order) {
        var session = session(asked);
        long before = waits.on(journal.session(session.name()))
                .map(SessionSummary::seq)
                .orElse(0L);
        var receipt = waits.on(order.apply(session));
        if (!(receipt instanceof Receipt.Stored stored)) {
            return stored(session.name(), "number", receipt);
        }
        var members = Shown.receipt(session.name(), "number", stored, held(session.name()));
        if (stored instanceof Receipt.Accepted) {
            done(session, before, stored.number()).ifPresent(what -> members.put("done", what));
        }
        return Answer.json(202, members);
    }

    private Optional<String> done(Session session, long before, long number) {
        var done = new CompletableFuture<String>();
        var following = session.events(before, event -> Ending.of(event, number).ifPresent(done::complete));
        try {
            return waits.within(done, ORDER_WAIT);
        } finally {
            following.close();
        }
    }

    /** It is stored, and no owner has acted on it yet. */
    private Answer pending(Session session, Map<String, Object> members) {
        members.put("pending", true);
        members.put("held", held(session.name()));
        return Answer.json(202, members);
    }

    private Answer questions(Route.Asked asked) {
        var session = session(asked);
        var open = waits.on(session.questions());
        return Answer.json(
                200,
                Map.of(
                        "session",
                        session.name().value(),
                        "questions",
                        open.stream().map(Shown::question).toList()));
    }

    private Answer audit(Route.Asked asked) {
        int limit = (int) query(asked, "limit", PAGE_MAX, 1, PAGE_MAX);
        long after = query(asked, "after", 0, 0, Long.MAX_VALUE);
        var session = session(asked);
        var rows = waits.on(session.audit(after, limit));
        var members = new LinkedHashMap<String, Object>();
        members.put("session", session.name().value());
        members.put("rows", rows.stream().map(AuditRows::members).toList());
        if (rows.size() == limit) {
            members.put("next", rows.getLast().seq());
        }
        return Answer.json(200, members);
    }

    private Answer transcript(Route.Asked asked) {
        long after = query(asked, "after", 0, 0, Long.MAX_VALUE);
        int limit = (int) query(asked, "limit", PAGE_MAX, 1, PAGE_MAX);
        var session = session(asked);
        var turns = waits.on(session.transcript(after, limit));
        var members = new LinkedHashMap<String, Object>();
        members.put("session", session.name().value());
        members.put("turns", turns.stream().map(Shown::turn).toList());
        if (turns.size() == limit) {
            members.put("next", turns.getLast().number());
        }
        return Answer.json(200, members);
    }

    private Answer regenerate(Route.Asked asked) {
        var turn = asked.fields("turn").number("turn");
        var session = session(asked);
        return stored(
                asked, "message", turn.isPresent() ? session.regenerateFrom(turn.getAsLong()) : session.regenerate());
    }

    private Answer cut(Route.Asked asked) {
        long from = asked.fields("from")
                .number("from")
                .orElseThrow(() -> Problem.invalid("the field 'from' is missing: name the first turn to throw away")
                        .refused());
        return stored(asked, "arrival", session(asked).deleteFrom(from));
    }

    private Answer fork(Route.Asked asked) {
        var fields = asked.fields("name", "through");
        var name = new SessionName(fields.requiredText("name"));
        long turns = waits.on(session(asked).fork(name, fields.number("through")));
        return Answer.json(201, Map.of("session", name.value(), "turns", turns));
    }

    private Answer deadLetters(Route.Asked asked) {
        int limit = (int) query(asked, "limit", PAGE_MAX, 1, PAGE_MAX);
        var session = session(asked);
        var letters = waits.on(session.deadLetters(limit));
        return Answer.json(
                200,
                Map.of(
                        "session",
                        session.name().value(),
                        "dead_letters",
                        letters.stream()
                                .map(r -> Shown.reply(session.name(), r))
                                .toList()));
    }

    private Answer resend(Route.Asked asked) {
        asked.fields();
        return stored(asked, "message", session(asked).resend(number(asked)));
    }

    // ---- what they share ------------------------------------------------------------------------------------------

    /** The session as this host holds it, or a handle that sends and reads when it does not. */
    private Session session(Route.Asked asked) {
        var name = new SessionName(asked.path("name"));
        return host.open(name).orElseGet(() -> {
            if (waits.on(journal.session(name)).isEmpty()) {
                throw Problem.of(new Receipt.UnknownSession(name)).refused();
            }
            return host.mail(name);
        });
    }

    private boolean held(SessionName name) {
        return host.open(name).isPresent();
    }

    private Answer stored(Route.Asked asked, String numbered, CompletionStage<Receipt> receipt) {
        return stored(new SessionName(asked.path("name")), numbered, waits.on(receipt));
    }

    private Answer stored(SessionName session, String numbered, Receipt receipt) {
        return switch (receipt) {
            case Receipt.Stored r -> Answer.json(202, Shown.receipt(session, numbered, r, held(session)));
            case Receipt.Refusal r -> Problem.of(r).answer();
        };
    }

    /** A number that was never given is a mistake of the caller. */
    private void demandMessage(SessionName session, long number) {
        long last = waits.on(journal.session(session))
                .map(SessionSummary::lastArrival)
                .orElse(0L);
        if (number > last) {
            throw noMessage(session, number);
        }
    }

    private static CallRefused noMessage(SessionName session, long number) {
        return new Problem(404, "no_such_message", "session " + session + " has no message " + number).refused();
    }

    private static Author author(Fields fields) {
        return new Author(
                fields.text("author").orElse("user"), fields.text("surface").orElse("api"));
    }

    /** The key of the header or of the body; two that differ are a mistake of the sender. */
    private static Optional<String> key(Route.Asked asked, Fields fields) {
        var inBody = fields.text("key");
        var beside = asked.call().key();
        if (inBody.isPresent() && beside.isPresent() && !inBody.equals(beside)) {
            throw Problem.invalid("the Idempotency-Key and the 'key' of the body differ: send one of them")
                    .refused();
        }
        return inBody.or(() -> beside);
    }

    private static long number(Route.Asked asked) {
        return whole("the number in the path", asked.path("number"), 1, Long.MAX_VALUE);
    }

    private static long query(Route.Asked asked, String name, long absent, long from, long to) {
        var given = asked.call().query().get(name);
        return given == null ? absent : whole("'" + name + "'", given, from, to);
    }

    private static long whole(String what, String given, long from, long to) {
        try {
            long value = Long.parseLong(given);
            if (value >= from && value <= to) {
                return value;
            }
        } catch (NumberFormatException e) {
            // answered below, like a number out of bounds
        }
        throw Problem.invalid(
                        what + " is a whole number from " + from + " to " + to + "; got " + Shown.shortened(given))
                .refused();
    }
}
