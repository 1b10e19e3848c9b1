/** For tests, ours and users': scripted agent, scripted Messages API, virtual clock, simulation. */
package dev.holdfast.testkit;
