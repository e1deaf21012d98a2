"""Union, intersection, apply, select, reduce and writes in place on the device."""
