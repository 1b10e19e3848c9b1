/** The {@code holdfast} command: one class per subcommand. */
package dev.holdfast.cli;
