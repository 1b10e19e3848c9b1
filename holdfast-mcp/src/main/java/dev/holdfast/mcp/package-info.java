/** Tools over the Model Context Protocol: those of remote servers, and ours for agents on this machine. */
package dev.holdfast.mcp;
