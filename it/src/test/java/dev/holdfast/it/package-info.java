/**
 * Tests with real parts: the conformance suite over three agents, its host in a JVM of its own that can be killed, and
 * the rules of the whole house.
 */
@NullMarked
package dev.holdfast.it;

import org.jspecify.annotations.NullMarked;
