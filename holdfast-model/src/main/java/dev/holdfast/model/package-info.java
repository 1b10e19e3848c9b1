/** A plain model loop over a Messages-API endpoint: {@link dev.holdfast.model.ModelLoop} makes the agent. */
package dev.holdfast.model;
