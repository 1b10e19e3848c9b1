# Sourced by ./holdfast, ./check and the scripts in dev/: where the house is, which JDK builds it, what is out of date.
# Sets `root`. Nothing here starts Maven or a JVM by itself.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)

# Prints the home of a JDK 25, or one sentence on stderr saying what to install. Reads the `release` file of each
# candidate, so that looking costs no JVM start.
find_jdk() {
    local home java found seen=
    java=$(command -v java 2>/dev/null) && java=$(readlink -f "$java") && java=${java%/bin/java}
    for home in "${HOLDFAST_JAVA_HOME:-}" "${JAVA_HOME:-}" "${JAVA25_HOME:-}" "${java:-}" \
        /usr/lib/jvm/* /opt/*jdk* /opt/java/* "$HOME"/.sdkman/candidates/java/* "$HOME"/.jdks/* \
        "$HOME"/.asdf/installs/java/* "$HOME"/.local/share/mise/installs/java/* \
        /Library/Java/JavaVirtualMachines/*/Contents/Home; do
        [ -n "$home" ] && [ -f "$home/release" ] && [ -x "$home/bin/javac" ] || continue
        home=$(readlink -f "$home")
        if grep -q '^JAVA_VERSION="25[".]' "$home/release"; then
            printf '%s\n' "$home"
            return 0
        fi
        found="$home, $(sed -n 's/^JAVA_VERSION="\(.*\)"$/\1/p' "$home/release")"
        [[ $seen == *"$found"* ]] || seen+="${seen:+; }$found"
    done
    printf 'Holdfast builds and runs with JDK 25; none found in HOLDFAST_JAVA_HOME, JAVA_HOME, PATH, /usr/lib/jvm, /opt, %s' \
        '~/.sdkman or ~/.jdks' >&2
    [ -z "$seen" ] || printf ' (only %s)' "$seen" >&2
    printf '; install temurin-25-jdk (or openjdk-25-jdk), or set JAVA_HOME to one.\n' >&2
    return 1
}

# Runs Maven itself on JDK 25 (the formatter and forbidden-apis need that) in the root of the house.
run_maven() {
    local jdk
    jdk=$(find_jdk) || return 1
    if ! command -v mvn >/dev/null 2>&1; then
        echo 'Holdfast builds with Maven 3.8.7 or newer; there is no mvn in PATH: install the package maven.' >&2
        return 1
    fi
    (cd "$root" && JAVA_HOME=$jdk \
        MAVEN_OPTS="--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow ${MAVEN_OPTS:-}" \
        mvn -Dstyle.color=never "$@")
}

# newer_than STAMP: true when the stamp is missing, or any main source, resource or pom is newer than it. Folders count
# too, so that a deleted file is noticed.
newer_than() {
    [ -f "$1" ] || return 0
    [ -n "$(find "$root/pom.xml" "$root/config/jar.xml" "$root"/holdfast-*/pom.xml "$root"/bench/pom.xml \
        "$root"/holdfast-*/src/main "$root"/bench/src/main -newer "$1" -print -quit 2>/dev/null)" ]
}

# with_lock FILE COMMAND...: one at a time over all processes of this machine, where flock exists.
with_lock() {
    local lock=$1
    shift
    mkdir -p "$(dirname "$lock")"
    if command -v flock >/dev/null 2>&1; then
        (flock 9 && "$@" 9>&-) 9>"$lock"
    else
        "$@"
    fi
}

# class_path FOLDER: its jars in a fixed order.
class_path() {
    local jars
    jars=$(printf ':%s' "$1"/*.jar)
    printf '%s\n' "${jars#:}"
}
