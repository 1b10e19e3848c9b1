/** The HTTP API of a host, apart from its transport, and the door through which it is reached. */
package dev.holdfast.server;
