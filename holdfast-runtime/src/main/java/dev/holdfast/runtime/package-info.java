/**
 * What runs sessions. {@link dev.holdfast.runtime.Holdfast} is the entry; an {@code Owner} drives the pure core of one
 * awake session, an {@code EffectRunner} does what the core says should be running, {@code Slots} gives out places for
 * processes. Knows no adapter: harness and journal are passed in.
 */
package dev.holdfast.runtime;
