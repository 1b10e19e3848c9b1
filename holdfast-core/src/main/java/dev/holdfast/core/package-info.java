/**
 * The pure core of a session. {@link dev.holdfast.core.Core} is the whole surface: {@code decide} turns an input into
 * events, {@code apply} folds an event into the durable state, {@code effects} says what should be running and
 * {@code dueAt} when to look again. Everything is an immutable value.
 */
package dev.holdfast.core;
