/** The journal on SQLite: one committer per store, group commit, fenced appends, read connections. */
package dev.holdfast.journal;
