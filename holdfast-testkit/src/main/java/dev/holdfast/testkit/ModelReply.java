package dev.holdfast.testkit;

import java.util.List;

/**
 * What the model behind a {@link ScriptedMessagesApi} does, as a script of directives.
 *
 * <pre>
 * [[say TEXT]] [[tool NAME {json}]] [[tool+ NAME {json}]] [[sleep MS]] [[gate NAME]]
 * [[error STATUS [TIMES]]] [[hang]] [[break]] [[once KEY DIRECTIVE]]
 * </pre>
 *
 * A script ends with a tool call or with an answer; one that says nothing answers with an empty text.
 *
 * @param script directives, other text is ignored
 */
public record ModelReply(String script) {
    /**
     * Says something.
     *
     * @param text the answer; must not contain square brackets in pairs
     * @return the reply
     */
    public static ModelReply say(String text) {
        return new ModelReply("[[say " + text + "]]");
    }

    /**
     * Calls a tool.
     *
     * @param name as the agent lists it
     * @param inputJson its input as a JSON object
     * @return the reply
     */
    public static ModelReply tool(String name, String inputJson) {
        return new ModelReply("[[tool " + name + " " + inputJson + "]]");
    }

    /**
     * Fails.
     *
     * @param status the HTTP status, 400 or more
     * @return the reply
     */
    public static ModelReply error(int status) {
        return new ModelReply("[[error " + status + "]]");
    }

    ScriptedModel.Plan plan() {
        List<Directive> steps = Directive.in(script);
        return new ScriptedModel.Plan(steps, "");
    }
}
