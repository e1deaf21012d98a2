"""Union, intersection, apply, select, reduce and in-place writes on the device."""
