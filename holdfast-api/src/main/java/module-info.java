import org.jspecify.annotations.NullMarked;

/** What users and adapters of Holdfast see: messages, sessions, tools, and the interfaces of harness and journal. */
@NullMarked
module dev.holdfast {
    requires static transitive org.jspecify;

    exports dev.holdfast;
}
