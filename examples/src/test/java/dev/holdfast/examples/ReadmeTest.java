package dev.holdfast.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.holdfast.runtime.GuardPolicy;
import dev.holdfast.runtime.GuardRule;
import dev.holdfast.runtime.GuardRule.Decision;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds the Java of the README to what compiles here. */
final class ReadmeTest {
    private static final Path ROOT = Path.of(System.getProperty("holdfast.root"));
    private static final Path SOURCES = ROOT.resolve("examples/src/main/java/dev/holdfast/examples");
    private static final Pattern MARKED =
            Pattern.compile("^ *// readme: (\\w+)\\n(.*?)^ *// readme: end$", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern SHOWN =
            Pattern.compile("^<!-- \\w+\\.java: (\\w+) -->\\n```java\\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

    private static final Pattern POLICY = Pattern.compile("^```json\\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

    @Test
    void readme_everyMarkedPiece_isShownAsItCompiles() throws IOException {
        Map<String, String> compiled = pieces(MARKED, SOURCES.resolve("OrderDesk.java"));
        compiled.putAll(pieces(MARKED, SOURCES.resolve("MailRoom.java")));
        compiled.putAll(pieces(MARKED, SOURCES.resolve("HeldDesk.java")));
        assertThat(compiled).containsOnlyKeys("tools", "conversation", "inbox", "held");
        assertThat(pieces(SHOWN, ROOT.resolve("README.md"))).isEqualTo(compiled);
    }

    @Test
    void readme_hasNoOtherJava() throws IOException {
        String text = Files.readString(ROOT.resolve("README.md"));
        assertThat(text.split("```java", -1)).hasSize(5);
    }

    @Test
    void readme_guardPolicy_isReadAndDecidesAsTheTextSays() throws IOException {
        Matcher shown = POLICY.matcher(Files.readString(ROOT.resolve("README.md")));
        assertThat(shown.find()).isTrue();
        GuardPolicy policy = GuardPolicy.parse(shown.group(1));
        assertThat(policy.rules()).extracting(GuardRule::decision).containsExactly(Decision.ASK, Decision.DENY);
        assertThat(policy.defaultDecision()).isEqualTo(Decision.ALLOW);
    }

    private static Map<String, String> pieces(Pattern shape, Path file) throws IOException {
        var pieces = new LinkedHashMap<String, String>();
        Matcher matcher = shape.matcher(Files.readString(file).replace("\r\n", "\n"));
        while (matcher.find()) {
            pieces.put(matcher.group(1), matcher.group(2).stripTrailing().stripIndent());
        }
        return pieces;
    }
}
