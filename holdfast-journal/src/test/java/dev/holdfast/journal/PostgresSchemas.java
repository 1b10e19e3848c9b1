package dev.holdfast.journal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Gives a test schemas that nobody has used, and drops them once it has closed its journals. After the last test the
 * server is stopped.
 */
final class PostgresSchemas implements BeforeEachCallback, AfterEachCallback {
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private final List<String> given = new ArrayList<>();

    /** A name; the schema is made by whoever opens a journal in it. */
    String fresh() {
        String name = "t" + NUMBER.incrementAndGet();
        given.add(name);
        return name;
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        context.getRoot()
                .getStore(Namespace.create(PostgresServer.class))
                .computeIfAbsent("server", key -> (AutoCloseable) PostgresServer::stop, AutoCloseable.class);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        given.forEach(name -> PostgresServer.run("DROP SCHEMA IF EXISTS " + name + " CASCADE"));
        given.clear();
    }
}
