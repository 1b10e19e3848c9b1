/** Small programs that use Holdfast as an application does. */
@NullMarked
package dev.holdfast.examples;

import org.jspecify.annotations.NullMarked;
