"""The text of an expression within others is the program: its tree is that of what was written."""

import ast
import itertools

import numpy as np
import pytest

import grb_tile as gb

MATRICES, VECTORS = ("A", "B", "A.T"), ("v", "f", "w")


def nested(depth, kind):
    """Texts of expressions of products, unions or intersections, both sides of which may be expressions again."""
    leaves = VECTORS if kind == "v" else MATRICES
    if not depth:
        return list(leaves)
    smaller, others = nested(depth - 1, kind), nested(depth - 1, "A")
    found = [f"{a} {op} {b}" for op in "|&" for a, b in ((leaves[0], leaves[1]), (leaves[1], leaves[0]))]
    for a, b in zip(smaller[:9], smaller[1:10], strict=False):
        found += [f"({a}) @ {leaves[0]}", f"{leaves[1]} @ ({b})"] if kind == "A" else []
    if kind == "v":
        found += [f"({a}) @ {b}" for a, b in itertools.product(others[:3], leaves[:2])]
        found += [f"A @ ({b})" for b in smaller[:6]] + [f"({b}) @ B" for b in smaller[:6]]
    return found


def objects():
    rng = np.random.default_rng(5)
    named = {name: gb.Matrix.from_dense(rng.integers(1, 9, (4, 4)), name=name) for name in "AB"}
    return named | {name: gb.Vector.from_dense(rng.integers(1, 9, 4), name=name) for name in "vfw"}


@pytest.mark.parametrize("kind", ["A", "v"])
def test_texts_are_what_was_written(kind):
    named, judged = objects(), 0
    for text in dict.fromkeys(text for depth in (1, 2, 3) for text in nested(depth, kind)):
        try:
            expr = eval(text, {}, dict(named))
        except TypeError:  # what is not computed within others
            continue
        shown = repr(expr).splitlines()[1].split("  ")[0]
        if shown.startswith(("v_", "M_")) or "_" in shown:  # a part that was computed has a name of its own
            continue
        assert ast.dump(ast.parse(shown, mode="eval")) == ast.dump(ast.parse(text, mode="eval")), (shown, text)
        judged += 1
    assert judged > 8, judged
