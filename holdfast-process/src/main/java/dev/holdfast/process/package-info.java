/** Child processes: spawned from one thread that never ends, framed lines, markers, stop ladder, sweep and reaper. */
package dev.holdfast.process;
