package dev.holdfast.cli;

import dev.holdfast.Journal;
import dev.holdfast.JournalReader;
import dev.holdfast.journal.SqliteJournal;
import java.nio.file.Path;
import java.util.Optional;

/** Where the sessions of a command are kept: in the data directory, or in a database that is named. */
sealed interface Store {
    /** Opens it to own sessions in it; a local one is made when there is none. */
    Journal open();

    /** Opens it to read; nothing is made. */
    JournalReader read();

    /** Which one it is, without secrets: what a host tells of itself. */
    String name();

    /** @param address what {@code --store} or its variable says; absent for the data directory */
    static Store of(Optional<String> address, Path data) {
        if (address.isEmpty()) {
            return new InDirectory(data);
        }
        throw new CommandFailed(
                Exit.USAGE,
                "usage",
                "--store '" + TerminalText.line(address.get(), 40)
                        + "' is no address of a store: give postgresql://HOST/DATABASE, or leave it out");
    }

    /** The embedded store. */
    record InDirectory(Path data) implements Store {
        @Override
        public Journal open() {
            return SqliteJournal.at(data);
        }

        @Override
        public JournalReader read() {
            return SqliteJournal.readOnly(data);
        }

        @Override
        public String name() {
            return "sqlite";
        }
    }
}
