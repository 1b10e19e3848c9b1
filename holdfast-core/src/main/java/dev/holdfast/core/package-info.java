/** The pure machine of a session: no I/O, threads, clock or randomness. */
package dev.holdfast.core;
