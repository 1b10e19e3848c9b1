package dev.holdfast.process;

/**
 * One line of a child's stdout, without its {@code \n} and without a {@code \r} before it (HS-10).
 *
 * @param text the decoded text
 * @param bytes its length in bytes as received, without the terminator
 * @param replaced how many byte sequences were not UTF-8 and stand as U+FFFD in the text; 0 for a sound line
 */
public record OutputLine(String text, int bytes, int replaced) {}
