package dev.holdfast;

/**
 * Which turn of which session.
 *
 * @param turn from 1
 * @param message number of the message it is for; 0 when it has none
 */
public record TurnIds(SessionName session, long turn, long message) {}
