/** Child processes: spawned from one thread that never ends, framed lines, stop ladder, tree kill. */
package dev.holdfast.process;
