"""build, tuples, cast, convert, transpose, gather and expand on the device, and positions of entries."""
