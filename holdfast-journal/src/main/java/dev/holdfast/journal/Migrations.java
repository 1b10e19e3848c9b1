package dev.holdfast.journal;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Brings a database to the latest format by the scripts {@code sqlite/V1.sql}, {@code V2.sql} and so on, each in one
 * transaction together with the new number in {@code meta.format}. A script is never changed once it was released.
 */
final class Migrations {
    /** The format this version writes. */
    static final int LATEST = 1;

    private Migrations() {}

    static void apply(Statements sql, Path directory) throws SQLException {
        int format = Database.format(sql, directory);
        for (int next = format + 1; next <= LATEST; next++) {
            sql.run("BEGIN IMMEDIATE");
            try {
                for (String statement : statements(script(next))) {
                    sql.run(statement);
                }
                Database.putMeta(sql, "format", Integer.toString(next));
                if (next == 1) {
                    sql.run(
                            "INSERT INTO meta(name, value) VALUES"
                                    + " ('store_id', CAST(lower(hex(randomblob(16))) AS BLOB)), ('commit_no', CAST('0' AS BLOB))");
                }
                sql.run("COMMIT");
            } catch (SQLException e) {
                sql.run("ROLLBACK");
                throw e;
            }
        }
    }

    /** Splits a script at each line that ends with a semicolon; comments run from two hyphens to the line's end. */
    static List<String> statements(String script) {
        List<String> result = new ArrayList<>();
        StringBuilder current = new StringBuilder();
        script.lines().forEach(line -> {
            int comment = line.indexOf("--");
            String code = (comment < 0 ? line : line.substring(0, comment)).stripTrailing();
            if (code.isEmpty()) {
                return;
            }
            current.append(code).append('\n');
            if (code.endsWith(";")) {
                result.add(current.toString());
                current.setLength(0);
            }
        });
        if (!current.isEmpty()) {
            throw new IllegalStateException("a script ends in the middle of a statement: " + current);
        }
        return result;
    }

    private static String script(int version) {
        String name = "sqlite/V" + version + ".sql";
        try (InputStream in = Migrations.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the script " + name + " is missing from this program");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("the script " + name + " cannot be read", e);
        }
    }
}
