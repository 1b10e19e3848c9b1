package dev.holdfast;

/** A host process that owns sessions: 1 to 128 printable characters, unique while it lives. */
public record Node(String name) {
    public Node {
        if (name.isEmpty() || name.length() > 128) {
            throw new IllegalArgumentException("a node name has 1 to 128 characters; this one has " + name.length());
        }
    }
}
