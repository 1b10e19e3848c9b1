package dev.holdfast.journal;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a database is, in the words of the driver. {@code postgresql://user:password@host:port/database?key=value} as
 * libpq has it, or {@code jdbc:postgresql:…}. A password never shows in {@link #toString}.
 */
final class PostgresUrl {
    private static final String JDBC = "jdbc:postgresql:";
    private static final Pattern SHAPE = Pattern.compile("postgres(?:ql)?://(?:([^@/?]*)@)?([^/?]*)(/[^?]*)?(\\?.*)?");
    private static final Pattern USER = Pattern.compile("//[^@/?]*@");
    private static final Pattern SECRETS =
            Pattern.compile("([?&](?:password|sslpassword)=)[^&]*", Pattern.CASE_INSENSITIVE);

    private final String jdbc;
    private final Properties credentials;

    private PostgresUrl(String jdbc, Properties credentials) {
        this.jdbc = jdbc;
        this.credentials = credentials;
    }

    /** @throws IllegalArgumentException when it is neither form; the message does not repeat it */
    static PostgresUrl of(String url) {
        if (url.startsWith(JDBC)) {
            return new PostgresUrl(url, new Properties());
        }
        Matcher parts = SHAPE.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException("this is not the address of a PostgreSQL database: use"
                    + " postgresql://user:password@host:port/database or jdbc:postgresql:…");
        }
        Properties credentials = new Properties();
        String user = orEmpty(parts.group(1));
        if (!user.isEmpty()) {
            int colon = user.indexOf(':');
            credentials.setProperty("user", decoded(colon < 0 ? user : user.substring(0, colon)));
            if (colon >= 0) {
                credentials.setProperty("password", decoded(user.substring(colon + 1)));
            }
        }
        String hosts = orEmpty(parts.group(2));
        String path = orEmpty(parts.group(3));
        String jdbc = JDBC + "//" + (hosts.isEmpty() ? "localhost" : hosts) + (path.isEmpty() ? "/" : path)
                + translated(orEmpty(parts.group(4)), hosts.contains(","));
        return new PostgresUrl(jdbc, credentials);
    }

    /** Of several hosts, the one that takes writes. */
    private static String translated(String query, boolean severalHosts) {
        String known = query.replace("application_name=", "ApplicationName=")
                .replace("connect_timeout=", "connectTimeout=")
                .replace("target_session_attrs=read-write", "targetServerType=primary");
        if (!severalHosts || known.contains("targetServerType=")) {
            return known;
        }
        return known + (known.isEmpty() ? "?" : "&") + "targetServerType=primary";
    }

    private static String orEmpty(@org.jspecify.annotations.Nullable String text) {
        return text == null ? "" : text;
    }

    /** Percent-encoded octets; a plus sign is a plus sign. */
    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    String jdbc() {
        return jdbc;
    }

    /** User and password, as far as they stood in front of the host; a copy. */
    Properties credentials() {
        Properties copy = new Properties();
        copy.putAll(credentials);
        return copy;
    }

    /** For messages and logs. */
    @Override
    public String toString() {
        String shown = SECRETS.matcher(jdbc).replaceAll("$1***");
        return USER.matcher(shown).replaceFirst("//***@").substring("jdbc:".length());
    }
}
