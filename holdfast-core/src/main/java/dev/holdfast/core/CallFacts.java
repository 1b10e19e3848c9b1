package dev.holdfast.core;

import dev.holdfast.CallRuling;

/**
 * Whose call it was and what was decided about it (TL-08).
 *
 * @param message number of the message whose turn it was made in; 0 for none
 * @param author who sent that; empty for nobody
 * @param rule by which the ruling was made; empty for none
 */
public record CallFacts(long message, String author, CallRuling ruling, String rule) {
    static CallFacts none() {
        return new CallFacts(0, "", CallRuling.NONE, "");
    }
}
