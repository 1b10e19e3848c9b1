package dev.holdfast;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a public method as a tool for the agent. Its parameters (records, enums, strings, numbers, booleans, lists,
 * optionals) become the input schema; a parameter of type {@link ToolCall} receives the call itself. The return value is
 * text, a {@link ToolAnswer}, or an object given to the model as JSON.
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
}
