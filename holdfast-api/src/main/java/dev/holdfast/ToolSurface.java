package dev.holdfast;

import java.util.Set;

/**
 * Which of the bound host tools a harness shows to its model (HN-01).
 *
 * @param curated true when the harness brings tools of its own choice besides, so that the bound ones are not all there is
 * @param withheld names of bound tools that it does not show; a call of one is a call of an unknown tool
 */
public record ToolSurface(boolean curated, Set<String> withheld) {
    public ToolSurface {
        withheld = Set.copyOf(withheld);
    }

    /** Every bound tool and nothing else. */
    public static ToolSurface bound() {
        return new ToolSurface(false, Set.of());
    }

    /** As this, without the named ones. */
    public ToolSurface withhold(String... names) {
        return new ToolSurface(curated, Set.of(names));
    }
}
