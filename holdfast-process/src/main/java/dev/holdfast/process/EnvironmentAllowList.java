package dev.holdfast.process;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Which variables of the parent's environment a child may see (HS-09): the standard ones and what is named, nothing
 * else. Variables that change how a program loads or believes itself nested never pass. Immutable.
 */
public final class EnvironmentAllowList {

    private static final List<String> STANDARD = List.of(
            "HOME",
            "PATH",
            "LANG",
            "LC_*",
            "TERM",
            "TMPDIR",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
            "NO_PROXY",
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "no_proxy",
            "CLAUDE_CONFIG_DIR");

    private static final Set<String> NEVER = Set.of(
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SSE_PORT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_CHILD_SESSION",
            "NODE_OPTIONS",
            "NODE_PATH",
            "NODE_REPL_EXTERNAL_MODULE",
            "BUN_OPTIONS",
            "BUN_INSPECT",
            "DEBUG",
            "JAVA_TOOL_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "_JAVA_OPTIONS",
            "BASH_ENV",
            "ENV",
            "SHELLOPTS",
            "BASHOPTS",
            "PS4",
            "PROMPT_COMMAND",
            "IFS",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "PYTHONHOME",
            "PERL5OPT",
            "PERL5LIB",
            "RUBYOPT",
            "RUBYLIB",
            "GCONV_PATH");

    private static final List<String> NEVER_STARTING = List.of("LD_", "DYLD_", "BASH_FUNC_", "HOLDFAST_");

    private final List<String> patterns;

    private EnvironmentAllowList(List<String> patterns) {
        this.patterns = List.copyOf(patterns);
    }

    /** HOME, PATH, LANG, LC_*, TERM, TMPDIR, the proxy variables in both spellings, CLAUDE_CONFIG_DIR. */
    public static EnvironmentAllowList standard() {
        return new EnvironmentAllowList(STANDARD);
    }

    /**
     * The same with more names.
     *
     * @param names exact names, or prefixes that end in {@code *}
     * @throws IllegalArgumentException if a name is empty, is only {@code *}, or names a variable that never passes
     */
    public EnvironmentAllowList with(String... names) {
        List<String> more = new ArrayList<>(patterns);
        for (String name : names) {
            if (name.isEmpty() || name.equals("*") || name.indexOf('*') != name.lastIndexOf('*')) {
                throw new IllegalArgumentException(
                        "\"" + name + "\" allows no named variable; give a name, or a prefix that ends in *");
            }
            if (name.indexOf('*') >= 0 && !name.endsWith("*")) {
                throw new IllegalArgumentException("\"" + name + "\" has its * inside; only a last * is understood");
            }
            if (neverPasses(name)) {
                throw new IllegalArgumentException(name + " never passes to a child (HS-09); leave it out");
            }
            more.add(name);
        }
        return new EnvironmentAllowList(more);
    }

    /** Whether a variable of this name passes. */
    public boolean allows(String name) {
        return !neverPasses(name) && patterns.stream().anyMatch(pattern -> matches(pattern, name));
    }

    /** The variables of a parent's environment that pass. */
    public Map<String, String> from(Map<String, String> parent) {
        Map<String, String> passed = new TreeMap<>();
        parent.forEach((name, value) -> {
            if (allows(name)) {
                passed.put(name, value);
            }
        });
        return Map.copyOf(passed);
    }

    private static boolean matches(String pattern, String name) {
        return pattern.endsWith("*")
                ? name.startsWith(pattern.substring(0, pattern.length() - 1))
                : name.equals(pattern);
    }

    private static boolean neverPasses(String name) {
        return NEVER.contains(name) || NEVER_STARTING.stream().anyMatch(name::startsWith);
    }

    @Override
    public String toString() {
        return "EnvironmentAllowList" + patterns;
    }
}
