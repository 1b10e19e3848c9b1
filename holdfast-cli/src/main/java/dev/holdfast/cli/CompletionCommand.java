package dev.holdfast.cli;

import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code holdfast completion}: {@code source <(holdfast completion)}. */
@Command(name = "completion", description = "Prints completion for bash and zsh: source <(holdfast completion)")
final class CompletionCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by picocli before call()
    private CommandSpec spec;

    @Override
    public Integer call() {
        var root = spec.root().commandLine();
        root.getOut().print(AutoComplete.bash("holdfast", root));
        root.getOut().flush();
        return Exit.OK;
    }
}
