"""Where a multiply distributes over a monoid exactly, so that a sum over a line of one operand may come first."""

from ..operators.iso_products import IDEMPOTENT, own_name


def distributed(semiring, monoid):
    """What (x) becomes when B is summed over j, and when A is over i; None where (x) does not distribute exactly.

    Each is (multiply, what is taken of a line: "sum", or "count" of its entries).  Exact in the ring of integers, over
    distributive lattices, and where a product selects one of its operands.
    """
    multiply, name = semiring.binaryop, own_name(monoid.binaryop)
    kind, multiply_name = multiply.kind, own_name(multiply)
    if name is None or own_name(semiring.monoid.binaryop) != name or multiply_name is None or multiply.positional:
        return None
    if monoid.type is not semiring.return_type:
        return None
    if multiply.type is not monoid.type or multiply.type2 is not monoid.type or multiply.return_type is not monoid.type:
        return None
    np_kind = monoid.type.np_type.kind
    if name == "plus" and np_kind in "iu":
        summed = {"pair": ("second", "count"), "first": ("times", "count"), "second": ("second", "sum")}
        if multiply_name == "times":
            return ("times", "sum"), ("times", "sum")
        mirrored = {"pair": ("first", "count"), "second": ("times", "count"), "first": ("first", "sum")}
        return (summed[kind], mirrored[kind]) if kind in summed else None
    lattice = (name, multiply_name) in (("min", "max"), ("max", "min")) and np_kind in "iu"
    logical = np_kind == "b" and (name, multiply_name) in (("lor", "land"), ("land", "lor"), ("lxor", "land"))
    if lattice or logical or (name in IDEMPOTENT and kind in ("pair", "first", "second")):
        own = kind if kind in ("pair", "first", "second") else multiply_name
        return (own, "sum"), (own, "sum")
    return None
