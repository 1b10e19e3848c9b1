package dev.holdfast.cli;

import dev.holdfast.Journal;
import dev.holdfast.JournalReader;
import dev.holdfast.journal.PostgresJournal;
import dev.holdfast.journal.PostgresOptions;
import dev.holdfast.journal.SqliteJournal;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.regex.Pattern;

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
        var shape = InDatabase.SHAPE.matcher(address.get());
        if (!shape.matches()) {
            throw new CommandFailed(
                    Exit.USAGE,
                    "usage",
                    "what --store or HOLDFAST_STORE names is no address of a store: give"
                            + " postgresql://USER@HOST/DATABASE, or leave it out");
        }
        return new InDatabase(address.get(), "postgresql://" + shape.group(1));
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

    /**
     * A PostgreSQL database, which several hosts may use.
     *
     * @param name without user, password and parameters
     */
    record InDatabase(String address, String name) implements Store {
        private static final Pattern SHAPE =
                Pattern.compile("(?:jdbc:postgresql:|postgres(?:ql)?:)//(?:[^@/?]*@)?([^?]*)(?:\\?.*)?");

        @Override
        public Journal open() {
            return checked(PostgresJournal::at);
        }

        @Override
        public JournalReader read() {
            return checked(PostgresJournal::readOnly);
        }

        private <R> R checked(BiFunction<String, PostgresOptions, R> opening) {
            try {
                return opening.apply(address, PostgresOptions.standard());
            } catch (IllegalArgumentException e) {
                throw new CommandFailed(Exit.USAGE, "usage", String.valueOf(e.getMessage()));
            }
        }

        /** The address may hold a password. */
        @Override
        public String toString() {
            return name;
        }
    }
}
