/** Benchmarks: JMH and side-by-side measurements, started by {@code dev/bench NAME}. */
@NullMarked
package dev.holdfast.bench;

import org.jspecify.annotations.NullMarked;
