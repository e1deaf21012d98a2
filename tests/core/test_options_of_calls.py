"""Every method that takes SuiteSparse's options per call: unknown ones are refused, known ones change nothing."""

import inspect

import numpy as np
import pytest

import grb_tile as gb


def objects():
    A = gb.Matrix.from_coo([0, 1, 1], [1, 0, 1], [3, 4, 5], nrows=2, ncols=2, name="A")
    v = gb.Vector.from_coo([0, 1], [6, 7], size=2, name="v")
    s = gb.Scalar.from_value(3, name="s")
    return {
        "A": A, "A.T": A.T, "v": v, "s": s, "A.ss": A.ss, "v.ss": v.ss, "ss": gb.ss, "A.apply('abs')": A.apply("abs"),
        "v.apply('abs')": v.apply("abs"), "v.reduce()": v.reduce(), "A[0, 1]": A[0, 1], "v[:]": v[:], "v.S": v.S,
        "A @ v": A @ v, "v.inner(v)": v.inner(v), "s.apply('abs')": s.apply("abs"),
    }  # fmt: skip


I, N = np.array([0, 1]), {"nrows": 2, "ncols": 2}
POINTERS, ROWS = {"indptr": np.array([0, 1, 2]), "values": I}, {"rows": I, "cols": I, "values": I}
BITMAP, FULL = {"bitmap": np.eye(2, dtype=bool), "values": np.eye(2)}, {"values": np.eye(2)}
# what a method needs, by its name; of some it depends on the object
NEEDED = {
    "from_dense": {"values": [[1, 2], [3, 4]]}, "setdiag": {"values": 3}, "deserialize": "serialize",
    "import_any": FULL, "import_bitmapr": BITMAP, "import_bitmapc": BITMAP, "import_fullr": FULL, "import_fullc": FULL,
    "import_coo": ROWS, "import_coor": ROWS, "import_cooc": ROWS, "import_csr": POINTERS | {"col_indices": I},
    "import_csc": POINTERS | {"row_indices": I}, "import_hypercsr": POINTERS | {"col_indices": I, "rows": I},
    "import_hypercsc": POINTERS | {"row_indices": I, "cols": I}, "reshape": {"nrows": 4, "ncols": 1},
        "split": {"chunks": 1},
}  # fmt: skip
OF_VECTORS = {
    "from_dense": {"values": [1, 2]}, "import_any": {"values": I}, "import_full": {"values": I},
    "import_bitmap": {"bitmap": np.array([True, False]), "values": I}, "reshape": {"nrows": 2, "ncols": 1},
    "import_sparse": {"size": 2, "indices": I, "values": I},
}  # fmt: skip


def needed(name, member, signature):
    """The arguments without a default."""
    x = objects()
    vector = name.startswith("v")
    known = {
        "other": x[name] if name in x and hasattr(x[name], "isequal") else None, "expr": 3, "size": 2, "value": 3,
        "vector": x["v"], "matrix": x["A"], "x": x["v"], "tiles": [x["v"]] if name == "ss" or vector else [[x["A"]]],
        "data": (x["v"] if vector else x["A"]).ss.serialize(),
    } | N  # fmt: skip
    table = NEEDED | OF_VECTORS if vector else NEEDED
    row = table.get(member) or table.get(member.replace("pack", "import"), {})
    known |= row if isinstance(row, dict) else {}
    extra = {"ncols": known["ncols"]} if member == "reshape" else {}
    extra |= {"fill_value": 0} if member == "to_dense" else {}
    required = [
        p.name
        for p in signature.parameters.values()
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    return {parameter: known[parameter] for parameter in required} | extra


def takers():
    for name, x in objects().items():
        for member in dir(x):
            if member[0] == "_" and member != "__call__":
                continue
            try:
                signature = inspect.signature(inspect.getattr_static(type(x), member, None) and getattr(x, member))
            except (TypeError, ValueError, AttributeError):
                continue
            if any(p.kind is p.VAR_KEYWORD and p.name == "opts" for p in signature.parameters.values()):
                yield name, member


TAKERS = sorted(set(takers())) + [("ss", "concat"), ("ss", "diag")]


def outcome(name, member, **options):
    x = objects()[name]
    method = getattr(x, member)
    if member == "serialize" or member == "__call__":
        method(**options)
        return None
    if member == "unpack" or member == "export":
        return {key: np.asarray(value).tolist() for key, value in method(**options).items() if key != "format"}
    found = method(**needed(name, member, inspect.signature(method)), **options)
    return _told(found if found is not None else x)


def _told(x):
    if isinstance(x, (list, tuple)):
        return [_told(part) for part in x]
    if isinstance(x, np.ndarray | bool):
        return np.asarray(x).tolist()
    x = getattr(x, "_parent", x)
    if getattr(x, "ndim", None) == 0:
        return x.value
    return (x.dtype.name, x.shape, [part.tolist() for part in x.to_coo()])


def test_the_methods_are_found():
    assert len(TAKERS) > 80 and {("A", "dup"), ("v.ss", "scan"), ("v.S", "new"), ("A.ss", "pack_csr")} <= set(TAKERS)


@pytest.mark.parametrize("name, member", TAKERS, ids=[".".join(each) for each in TAKERS])
def test_options_of_a_call(name, member):
    plain = outcome(name, member)
    assert outcome(name, member, nthreads=1) == plain
    with pytest.raises(ValueError, match="Unknown descriptor option: unknown"):
        outcome(name, member, unknown=1)
    with pytest.raises(ValueError, match="Unknown descriptor option: unknown"):
        outcome(name, member, nthreads=1, unknown=None)
