/** What runs sessions: owners, effect runner, slots, timers, event codec, tool door. */
package dev.holdfast.runtime;
