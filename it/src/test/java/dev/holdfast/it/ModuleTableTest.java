package dev.holdfast.it;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Holds the table of modules: one flat package each, who may know whom, and what the pure ones may not touch. A new
 * module, or a new arrow between two, is a line here and in ARCHITECTURE.md.
 */
final class ModuleTableTest {
    /** Folder of each shipped module, and the other modules of the house that it may know. */
    private static final Map<String, Set<String>> MAY_KNOW = Map.ofEntries(
            Map.entry("holdfast-api", Set.of()),
            Map.entry("holdfast-core", Set.of("holdfast-api")),
            Map.entry("holdfast-journal", Set.of("holdfast-api")),
            Map.entry("holdfast-process", Set.of()),
            Map.entry("holdfast-runtime", Set.of("holdfast-api", "holdfast-core")),
            Map.entry("holdfast-claude", Set.of("holdfast-api", "holdfast-process")),
            Map.entry("holdfast-model", Set.of("holdfast-api")),
            Map.entry("holdfast-mcp", Set.of("holdfast-api")),
            Map.entry("holdfast-server", Set.of("holdfast-api", "holdfast-runtime")),
            Map.entry("holdfast-testkit", Set.of("holdfast-api", "holdfast-core", "holdfast-runtime")),
            Map.entry(
                    "holdfast-cli",
                    Set.of(
                            "holdfast-api",
                            "holdfast-core",
                            "holdfast-journal",
                            "holdfast-process",
                            "holdfast-runtime",
                            "holdfast-claude",
                            "holdfast-model",
                            "holdfast-mcp",
                            "holdfast-server",
                            "holdfast-testkit")));

    private static final String[] INPUT_OUTPUT = {
        "java.io..", "java.nio.channels..", "java.net..", "java.sql..", "java.util.logging..", "org.slf4j.."
    };

    private static final Path ROOT = Path.of(System.getProperty("holdfast.root"));

    private static final Map<String, JavaClasses> IMPORTED = new ConcurrentHashMap<>();

    static Stream<String> modules() {
        return MAY_KNOW.keySet().stream().sorted();
    }

    @Test
    void moduleFolders_areThoseOfTheTable() throws IOException {
        try (Stream<Path> folders = Files.list(ROOT)) {
            assertThat(folders.filter(folder -> Files.exists(folder.resolve("pom.xml")))
                            .map(folder -> folder.getFileName().toString())
                            .filter(name -> name.startsWith("holdfast-")))
                    .containsExactlyInAnyOrderElementsOf(MAY_KNOW.keySet());
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void module_hasOneFlatPackage(String module) {
        assertThat(classesOf(module))
                .allSatisfy(type -> assertThat(type.getPackageName())
                        .as("package of %s in %s", type.getName(), module)
                        .isEqualTo(packageOf(module)));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void module_knowsOnlyWhatTheTableAllows(String module) {
        Set<String> allowed = Stream.concat(Stream.of(module), MAY_KNOW.get(module).stream())
                .map(ModuleTableTest::packageOf)
                .collect(Collectors.toSet());
        noClasses()
                .should()
                .dependOnClassesThat(describe(
                        "belong to a module that " + module + " may not know",
                        type -> (type.getPackageName() + ".").startsWith("dev.holdfast.")
                                && !allowed.contains(type.getPackageName())))
                .allowEmptyShould(true)
                .check(classesOf(module));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void moduleDescriptor_requiresOnlyWhatTheTableAllows(String module) throws IOException {
        Set<String> allowed =
                MAY_KNOW.get(module).stream().map(ModuleTableTest::packageOf).collect(Collectors.toSet());
        try (var in = Files.newInputStream(classFolder(module).resolve("module-info.class"))) {
            ModuleDescriptor descriptor = ModuleDescriptor.read(in);
            assertThat(descriptor.name()).isEqualTo(packageOf(module));
            assertThat(descriptor.requires().stream()
                            .map(ModuleDescriptor.Requires::name)
                            .filter(name -> (name + ".").startsWith("dev.holdfast.")))
                    .isSubsetOf(allowed);
            assertThat(descriptor.exports().stream().map(ModuleDescriptor.Exports::source))
                    .isSubsetOf(packageOf(module));
        }
    }

    @Test
    void api_touchesNoInputOrOutputBeyondPathsAndStreams() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("java.nio.channels..", "java.net..", "java.sql..", "org.slf4j..", "tools.jackson..")
                .check(classesOf("holdfast-api"));
    }

    @Test
    void core_touchesNoInputOutputThreadClockOrRandomness() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(INPUT_OUTPUT)
                .orShould()
                .dependOnClassesThat(describe(
                        "run, wait, lock, tell the time or draw",
                        type -> (type.getPackageName().startsWith("java.util.concurrent")
                                        && !type.getName().equals("java.util.concurrent.TimeUnit"))
                                || type.isAssignableTo(Thread.class)
                                || type.isAssignableTo(java.time.InstantSource.class)
                                || type.isAssignableTo(java.util.random.RandomGenerator.class)
                                || type.isAssignableTo(Process.class)
                                || type.isAssignableTo(ProcessBuilder.class)))
                .allowEmptyShould(true)
                .check(classesOf("holdfast-core"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void className_saysWhatItIs(String module) {
        classes()
                .should()
                .haveNameNotMatching(".*(Util|Utils|Helper|Helpers|Manager|Impl|Common)(\\$.*)?")
                .allowEmptyShould(true)
                .check(classesOf(module));
    }

    /** The calls of config/forbidden-apis.txt are allowed to named classes only; a name that is stale must go. */
    @ParameterizedTest
    @MethodSource("modules")
    void ownerOfForbiddenCalls_isAClassThatExists(String module) throws IOException {
        String pom = Files.readString(ROOT.resolve(module).resolve("pom.xml"));
        var owner = Pattern.compile("<exclude>([^<]+\\.class)</exclude>").matcher(pom);
        List<String> stale = new ArrayList<>();
        while (owner.find()) {
            if (!Files.exists(classFolder(module).resolve(owner.group(1)))) {
                stale.add(owner.group(1));
            }
        }
        assertThat(stale)
                .as("classes excluded from forbidden-apis in %s/pom.xml that do not exist", module)
                .isEmpty();
    }

    /** Each module's classes, read once: reading also resolves what they refer to in the JDK. */
    private static JavaClasses classesOf(String module) {
        return IMPORTED.computeIfAbsent(module, ModuleTableTest::importClasses);
    }

    private static JavaClasses importClasses(String module) {
        var all = new ClassFileImporter().importPath(classFolder(module));
        return all.that(describe(
                "types",
                (JavaClass type) -> !type.getSimpleName().equals("package-info")
                        && !type.getSimpleName().equals("module-info")));
    }

    private static Path classFolder(String module) {
        return ROOT.resolve(module).resolve("target").resolve("classes");
    }

    private static String packageOf(String module) {
        return module.equals("holdfast-api") ? "dev.holdfast" : module.replace("holdfast-", "dev.holdfast.");
    }
}
