import org.jspecify.annotations.NullMarked;

/** Child processes: spawned from one thread, read line by line, stopped by a ladder. */
@NullMarked
module dev.holdfast.process {
    requires org.slf4j;
    requires static transitive org.jspecify;

    exports dev.holdfast.process;
}
