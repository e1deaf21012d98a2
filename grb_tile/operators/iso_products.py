"""Iso products: those whose entries all have one value, so that a backend computes only their structure.

Source: SuiteSparse:GraphBLAS 9.4 user guide, section 14.2.
"""

from __future__ import annotations

IDEMPOTENT = {"any", "lor", "land", "min", "max", "bor", "band"}


def own_name(typed) -> str | None:
    """The name of a predefined operator; None for a user's operator, which may have the name "min", too."""
    return typed.name if typed.parent._builtin else None


def uses(binaryop) -> tuple[bool, bool]:
    """(reads the first operand's values, reads the second's)."""
    kind = binaryop.kind
    if binaryop.positional or kind == "pair":
        return False, False
    return kind not in ("second", "any"), kind != "first"


def one_result(semiring, x_iso: bool, y_iso: bool) -> bool:
    """Is the product iso?  x_iso, y_iso: the operand is iso, or its values are not read.

    (+)(z, ..., z) is z for an idempotent monoid, and 1 for times over pair.
    """
    multiply = semiring.binaryop
    if multiply.positional or not (x_iso and y_iso):
        return False
    name = own_name(semiring.monoid.binaryop)
    return name in IDEMPOTENT or (name == "times" and multiply.kind == "pair")


def is_iso_product(semiring, x, y) -> bool:
    """Is the product of the stores x and y iso, whatever their structure?"""
    reads_x, reads_y = uses(semiring.binaryop)
    return one_result(semiring, x.iso or not reads_x, y.iso or not reads_y)
