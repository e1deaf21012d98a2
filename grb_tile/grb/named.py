"""Predefined objects by their C names: types, operators, monoids, semirings.

Spec: GraphBLAS C API 2.1, tables 3.2 (types) and 3.5 to 3.9 (operators, monoids, semirings); GxB_ names:
SuiteSparse:GraphBLAS 9.4 user guide, sections 6.1 to 6.7.
"""

_TYPES = (
    "BOOL",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "FP32",
    "FP64",
    "FC32",
    "FC64",
)
_RENAMED = {"oneb": "pair", "div": "cdiv"}
_INDEXED = (
    "tril",
    "triu",
    "diag",
    "offdiag",
    "colle",
    "colgt",
    "rowle",
    "rowgt",
    "valueeq",
    "valuene",
    "valuelt",
    "valuele",
    "valuegt",
    "valuege",
)


def predefined_object(name):
    """The typed object for a C name without its prefix, or None.

    FP64                       a type
    ABS_FP64, PLUS_INT64       unary and binary operators; LAND: a Boolean one, whose name has no type
    TRIL, VALUEGT_FP64         a select operator, an index-unary operator
    PLUS_MONOID_INT64          a monoid
    PLUS_TIMES_SEMIRING_INT64  a semiring; ANY_PAIR_BOOL: one of SuiteSparse's, whose name has no SEMIRING
    """
    from .. import binary, dtypes, indexunary, monoid, select, semiring, unary

    if name in _TYPES:
        return getattr(dtypes, name)
    if name.upper() != name:
        return None
    stem, _, last = name.rpartition("_")
    if last in _TYPES:
        dtype = getattr(dtypes, last)
    else:
        stem, dtype = name, None
    stem = stem.lower()
    if stem.endswith("_monoid"):
        return _typed(monoid, stem[:-7], dtype)
    if stem.endswith("_semiring"):
        return _typed(semiring, _parts(stem[:-9]), dtype)
    if stem in _INDEXED and dtype is None and stem not in ("valueeq", "valuene"):
        return _typed(select, stem, dtypes.BOOL)
    for space in (unary, binary, indexunary):
        found = _typed(space, _RENAMED.get(stem, stem), dtype)
        if found is not None:
            return found
    return _typed(select, stem, dtype) or _typed(semiring, _parts(stem), dtype)


def _parts(stem):
    return "_".join(_RENAMED.get(part, part) for part in stem.split("_"))


def _typed(space, name, dtype):
    from ..dtypes import BOOL

    op = getattr(space, name, None)
    if op is None:
        try:
            op = getattr(space.ss, name, None)
        except AttributeError:
            op = None
    if op is None or not hasattr(op, "types"):
        return None
    try:
        return op[BOOL if dtype is None else dtype]
    except (KeyError, TypeError):
        return None
