package dev.holdfast;

/**
 * Instructions that a thinker may use when they fit.
 *
 * @param name one word, unique among the agent's skills
 * @param description when to use it, for the model
 */
public record Skill(String name, String description, String instructions) {}
