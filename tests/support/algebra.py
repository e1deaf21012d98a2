"""Which semiring, monoid and binary operator stand for a type in the batteries."""


def plus_times(library, dtype):
    return library.semiring.lor_land if dtype == "BOOL" else library.semiring.plus_times


def plus(library, dtype):
    return library.monoid.lor if dtype == "BOOL" else library.monoid.plus


def least(library, dtype):
    """min where the type is ordered."""
    return library.monoid.any if dtype.startswith("FC") else library.monoid.min


def minus(library, dtype):
    """A binary operator that does not commute."""
    return library.binary.minus
