package dev.holdfast.server;

import dev.holdfast.HoldfastException;
import dev.holdfast.JournalReader;
import dev.holdfast.runtime.Holdfast;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The API of one host, apart from its transport: a call goes in, an answer comes out. {@link Door} serves it over HTTP;
 * a program that has the host in its own process asks it directly and gets the same answers. Thread-safe; a call blocks
 * its thread while it waits.
 *
 * <p>Nothing is thrown: whatever goes wrong is an answer with a problem document. What was not foreseen is logged under
 * a number, and only the number is told.
 */
public final class Api implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Api.class);

    private final Waits waits = new Waits();
    private final AtomicLong failures = new AtomicLong();
    private final HostFacts facts;
    private final List<Route> routes;

    private Api(Holdfast host, JournalReader journal, HostFacts facts) {
        this.facts = facts;
        this.routes = new Routes(host, journal, facts, waits).table();
    }

    /** @param journal the one the host is on */
    public static Api of(Holdfast host, JournalReader journal, HostFacts facts) {
        return new Api(host, journal, facts);
    }

    /** The route table: a method and a path with names in braces each. */
    public List<String> routes() {
        return routes.stream().map(Route::toString).toList();
    }

    /** Does what was asked, or says why not. */
    public Answer answer(Call call) {
        try {
            var found = find(call.method(), call.path());
            String carries = found.route().carries();
            if (call.body().length > 0 && !call.carries().equalsIgnoreCase(carries)) {
                throw new Problem(415, "media_type", "this call takes " + carries + ": name it as the Content-Type")
                        .refused();
            }
            return found.route().handler().answer(new Route.Asked(call, found.values()));
        } catch (CallRefused e) {
            return e.problem().answer();
        } catch (IllegalArgumentException e) {
            return Problem.invalid(String.valueOf(e.getMessage())).answer(); // the API's own words about a bound
        } catch (HoldfastException e) {
            return Problem.of(e).answer();
        } catch (RuntimeException e) {
            return unexpected(call, e).answer();
        }
    }

    /** A route and what the path says. */
    record Found(Route route, Map<String, String> values) {}

    /** The route of that method and raw path; refused when there is none. */
    Found find(String method, String path) {
        var here = routes.stream()
                .flatMap(route -> route.match(path).map(values -> new Found(route, values)).stream())
                .toList();
        if (here.isEmpty()) {
            throw new Problem(404, "no_such_route", "there is nothing at " + Shown.shortened(path)).refused();
        }
        return here.stream()
                .filter(found -> found.route().method().equals(method))
                .findFirst()
                .orElseThrow(() -> new Problem(
                                405,
                                "method_not_allowed",
                                Shown.shortened(method) + " does not go here: "
                                        + allowed(path).orElse(""))
                        .refused());
    }

    /** The methods of that path, for the header {@code Allow}; absent when nothing is there. */
    Optional<String> allowed(String path) {
        String methods = routes.stream()
                .filter(route -> route.match(path).isPresent())
                .map(Route::method)
                .sorted()
                .collect(Collectors.joining(", "));
        return methods.isEmpty() ? Optional.empty() : Optional.of(methods);
    }

    static Problem tooLarge(long max) {
        return new Problem(413, "too_large", "the body is larger than " + max + " bytes, which is what is taken here");
    }

    Problem unexpected(Call call, Throwable failure) {
        String id = facts.pid() + "-" + failures.incrementAndGet();
        LOG.error("call {} failed unexpectedly: {} {}", id, call.method(), call.path(), failure);
        return new Problem(500, "unexpected", "the host failed unexpectedly; its log tells more under " + id);
    }

    /** Ends every wait of a caller. The host and its journal are not closed. */
    @Override
    public void close() {
        waits.stop();
    }
}
