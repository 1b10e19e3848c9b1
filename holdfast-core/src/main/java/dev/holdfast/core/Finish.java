package dev.holdfast.core;

/** The session takes nothing new since arrival {@code number} and is closed once nothing waits (MB-07). */
public record Finish(long number, String reason) {}
