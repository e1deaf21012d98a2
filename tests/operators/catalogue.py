"""Every predefined operator of grb_tile next to python-graphblas's of the same name."""

import warnings
from importlib import import_module

import graphblas as gb

NAMESPACES = ("unary", "binary", "monoid", "semiring", "indexunary", "select")


def sections(namespaces=NAMESPACES):
    """(namespace, sub-namespace or "", our module, their module) for each that exists."""
    for name in namespaces:
        ours, theirs = import_module(f"grb_tile.{name}"), getattr(gb, name)
        yield name, "", ours, theirs
        for part in ("ss", "numpy"):
            if hasattr(theirs, part):
                yield name, part, getattr(ours, part), getattr(theirs, part)


def operator_names(module):
    """Names of operators (parameterized ones too), without those that only exist for python-graphblas's past."""
    old = set(getattr(module, "_deprecated", ()))
    found = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in dir(module):
            if not name.startswith("_") and name not in old:
                value = getattr(module, name)
                if isinstance(getattr(value, "types", None), dict) or type(value).__name__.startswith("Parameterized"):
                    found.add(name)
    return found


def operator_pairs(namespaces=NAMESPACES, numpy_semirings=False):
    """(label, our operator, their operator) for every name both have with a table of types."""
    for space, part, ours, theirs in sections(namespaces):
        if (space, part) == ("semiring", "numpy") and not numpy_semirings:
            continue
        for name in sorted(operator_names(theirs) & operator_names(ours)):
            mine, other = getattr(ours, name), getattr(theirs, name)
            if hasattr(other, "types"):
                yield f"{space}.{part + '.' if part else ''}{name}", mine, other


def operator_labels(namespaces):
    """[(label, our operator)], the labels of operator_pairs, for tests that get python-graphblas's by `theirs(label)`.

    Tests are collected by these: python-graphblas compiles an operator when it is first asked for, 30 s for all.
    """
    found = []
    for space, part, ours, other in sections(namespaces):
        names = set(dir(other)) - set(getattr(other, "_deprecated", ()))
        for name in sorted(name for name in operator_names(ours) & names if hasattr(getattr(ours, name), "types")):
            found.append((f"{space}.{part + '.' if part else ''}{name}", getattr(ours, name)))
    return found


def theirs(label):
    """python-graphblas's operator of that label."""
    found = gb
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in label.split("."):
            found = getattr(found, part)
    return found


def lowered_operators():
    """All distinct typed unary, binary and index-unary operators that have an expression."""
    found = {}
    for _space, _part, ours, _ in sections(("unary", "binary", "indexunary")):
        for name in sorted(operator_names(ours)):
            op = getattr(ours, name)
            for dtype in getattr(op, "types", ()):
                typed = op[dtype]
                if typed.expression is not None:
                    found[id(typed)] = typed
    return list(found.values())
