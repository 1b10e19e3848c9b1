/** The Claude Code harness: stream-json, control channel, record reader, held sessions. */
package dev.holdfast.claude;
