package dev.holdfast;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a public method as a tool for the agent. Its parameters become the input schema: strings, numbers, booleans, enums,
 * records (also within records), {@code java.time} and {@code UUID} values, lists, sets and arrays, maps with string or enum
 * keys, and any of these in an {@code Optional}, which may be left out. What cannot be described so is refused when the tool
 * is bound. A parameter of type {@link ToolCall} receives the call itself. The return value is text, a {@link ToolAnswer},
 * nothing, or an object given to the model as structured data.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
public @interface AgentTool {
    /** What the tool does, for the model. */
    String value();

    /** The tool's name; the method's name when empty. */
    String name() default "";

    ToolEffects effects() default ToolEffects.WRITE;

    boolean idempotent() default false;

    /** How long a call may run, in seconds (TL-06); the host's own deadline when 0. */
    long deadlineSeconds() default 0;
}
