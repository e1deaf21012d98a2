"""Recorder: the calls of the C API that it lists are those that python-graphblas lists."""

import pytest

from support.library import LIBRARY, gb, oracle

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)


def vec(lib, indices=(0, 2), values=(1, 2), size=3, name="v"):
    return lib.Vector.from_coo(indices, values, int, size=size, name=name)


def mat(lib):
    return lib.Matrix.from_coo((0, 1, 2), (1, 2, 0), (3, 4, 5), int, nrows=3, ncols=3, name="A")


def updated(x, value, how):
    x(**how) << value


def written(x, key, value):
    x[key] = value


RECORDED = {
    "multiply": lambda lib, A, v, w: [
        w << A.mxv(v),
        updated(w, A.T.mxv(v, lib.semiring.min_plus), {"mask": v.S, "accum": "plus", "replace": True}),
        A << A.mxm(A.T),
        updated(A, A.T.mxm(A, "min_first"), {"mask": ~A.V}),
        w << v.vxm(A.T, "max_plus"),
    ],
    "element-wise": lambda lib, A, v, w: [
        w << v.ewise_add(w, lib.binary.max),
        w << v.ewise_mult(w, "minus"),
        A << A.ewise_add(A.T, "plus"),
        updated(A, A.T.ewise_mult(A), {"accum": lib.binary.times}),
        updated(w, v.ewise_mult(v), {"mask": ~w.S, "replace": True}),
    ],
    "apply and select": lambda lib, A, v, w: [
        w << v.apply("abs"),
        A << A.apply(lib.unary.ainv),
        w << v.apply(lib.binary.minus, left=3),
        w << v.apply(lib.binary.minus, right=3),
        A << A.apply("plus", 1),
    ],
    "reduce": lambda lib, A, v, w: [
        w << A.reduce_rowwise("max"),
        w << A.reduce_columnwise("plus"),
        updated(w, A.T.reduce_rowwise("min"), {"accum": "plus"}),
    ],
    "assign": lambda lib, A, v, w: [
        w[[0, 1]].update(5),
        w[:](~v.V).update(v),
        w(v.S)[:].update(3),
        A[[0, 2], [1, 2]](accum="plus").update(9),
        A(A.S, replace=True)[:, :].update(4),
        A[:, :].update(A),
        A[[0, 1, 2], :].update(A.T),
        w[:].update(lib.Scalar(int, name="none")),
    ],
    "elements": lambda lib, A, v, w: [written(w, 2, 7), written(A, (0, 1), 8), w.__delitem__(0), A.__delitem__((1, 2))],
    "elements that are read": lambda lib, A, v, w: [A[0, 1].new(name="a"), A.T[0, 1].new(name="b"), v[2].new(name="c")],
    "whole objects": lambda lib, A, v, w: [
        v.clear(),
        A.resize(4, 5),
        w.resize(2),
        A.T.new(name="B"),
        v.dup(name="x"),
        A.dup(name="Y"),
        lib.Matrix("FP32", 2, 3, name="M"),
        lib.Vector(bool, 4, name="m"),
        A.clear(),
        lib.Scalar(int, name="s"),
    ],
    "kronecker and transposes": lambda lib, A, v, w: [
        A.kronecker(A.T, lib.binary.plus).new(name="K"),
        A << A.T,
        updated(A, A.T, {"mask": A.S, "accum": "plus"}),
    ],
}


def recorded(lib, call):
    A, v, w = mat(lib), vec(lib), vec(lib, [1], [9], name="w")
    with lib.Recorder() as found:
        call(lib, A, v, w)
    return [text.replace("uint64_t[]", "GrB_Index[]") for text in found]


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_calls(name):
    assert recorded(gb, RECORDED[name]) == recorded(oracle, RECORDED[name])


def test_recorders_start_and_stop():
    v = vec(gb, size=5)
    rec = gb.Recorder(start=False, max_rows=3)
    v.clear()
    assert not rec.is_recording and list(rec) == [] == rec.data
    rec.start()
    with gb.Recorder() as inner:
        v.resize(7)
    assert rec.is_recording and not inner.is_recording and inner.data == ["GrB_Vector_resize(v, 7);"]
    for k in range(5):
        v[k] = k
    rec.stop()
    v.clear()
    assert [text.partition("(")[0] for text in rec][-5:] == ["GrB_Vector_setElement_INT64"] * 5
    assert rec.data[-1] == "GrB_Vector_setElement_INT64(v, 4, 4);"
    shown = repr(rec)
    assert shown.count("setElement") == 3 and f"{len(rec.data) - 3} rows not shown" in shown
    rec.max_rows = len(rec.data)
    assert repr(rec).count("setElement") == 5 and "not shown" not in repr(rec)
    rec.clear()
    assert list(rec) == []
