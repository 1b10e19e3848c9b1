package dev.holdfast.server;

/**
 * What a host tells of itself.
 *
 * @param store which store its sessions are in, without secrets: {@code sqlite}, or the address of a database
 * @param version of Holdfast
 */
public record HostFacts(long pid, String store, String version) {}
