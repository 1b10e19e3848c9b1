/**
 * The vocabulary of Holdfast. Three groups of types live here: what a user writes ({@link dev.holdfast.Session},
 * {@link dev.holdfast.Message}, {@link dev.holdfast.Tool}), what an agent adapter implements
 * ({@link dev.holdfast.Harness}, {@link dev.holdfast.Attachment}), and what a store implements
 * ({@link dev.holdfast.Journal}, {@link dev.holdfast.Claim}). No logic beyond validation.
 */
package dev.holdfast;
