/**
 * The journal on SQLite: one committer per store, group commit, fenced appends, read connections. Begin with
 * {@link dev.holdfast.journal.SqliteJournal}.
 */
package dev.holdfast.journal;
