package dev.holdfast;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What the host's developer does about files a thinker writes into its workspace (HN-08). Both are called on threads that may
 * block, one at a time.
 *
 * @param hotPaths patterns of paths below the workspace, as in {@link java.nio.file.FileSystem#getPathMatcher} with
 *     {@code glob:}; a file that fits and was written is given to {@code onWrite} before the model's next tool call
 * @param validate asked once the thinker is done and wrote such files; what it finds is shown to the thinker verbatim, in one
 *     more round
 */
public record TurnHooks(List<String> hotPaths, WriteHook onWrite, Validator validate) {
    public TurnHooks {
        hotPaths = List.copyOf(hotPaths);
        if (hotPaths.isEmpty()) {
            throw new IllegalArgumentException("hooks need at least one hot path: a pattern such as 'apps/*/main.js'");
        }
    }

    /** Takes a file that was written. */
    @FunctionalInterface
    public interface WriteHook {
        /**
         * What the model is to be told when the file cannot be taken; absent when all is well. An exception is told to it as
         * well.
         *
         * @param path relative to the workspace
         */
        Optional<String> written(Path path) throws Exception;
    }

    /** Looks at what a turn wrote. */
    @FunctionalInterface
    public interface Validator {
        /**
         * What is wrong; absent when nothing is. An exception is recorded, and nothing is held back for its sake.
         *
         * @param written relative to the workspace, in the order of their paths
         */
        Optional<String> findings(List<Path> written) throws Exception;
    }
}
