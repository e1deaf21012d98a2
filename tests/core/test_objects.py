"""Constructors and exporters, copies, pickling, the recorder, options, the neutral part of .ss."""

import functools
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import Matrix, Recorder, Scalar, Vector, dtypes
from grb_tile.exceptions import IndexOutOfBound, InvalidObject, InvalidValue, OutputNotEmpty

ROWS, COLS, VALUES = [0, 0, 2, 3], [1, 4, 2, 0], [1, 2, 3, 4]


@pytest.fixture
def A():
    return Matrix.from_coo(ROWS, COLS, VALUES, nrows=4, ncols=5, name="A")


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "dcsr", "dcsc", "edgelist"])
def test_round_trips(A, form):
    parts = getattr(A, f"to_{form}")()
    again = getattr(Matrix, f"from_{form}")(*parts, nrows=4, ncols=5)
    assert again.isequal(A, check_dtype=True)
    assert all(part.dtype == np.uint64 for part in parts[:-1])
    transposed = getattr(A.T, f"to_{form}")()
    assert getattr(Matrix, f"from_{form}")(*transposed, nrows=5, ncols=4).isequal(A.T.new())


def test_dicts_dense_and_pairs(A):
    assert A.to_dicts() == {0: {1: 1, 4: 2}, 2: {2: 3}, 3: {0: 4}}
    assert Matrix.from_dicts(A.to_dicts(), ncols=5).isequal(A)
    assert Matrix.from_dicts(A.to_dicts("columnwise"), order="columnwise", nrows=4).isequal(A)
    assert Matrix.from_dense(A.to_dense(0), missing_value=0).isequal(A)
    assert Matrix.from_edgelist([(0, 1, 5), (1, 0, 6)]).to_dicts() == {0: {1: 5}, 1: {0: 6}}
    v = Vector.from_pairs([(3, 1.5), (0, 2.5)])
    assert v.to_dict() == {0: 2.5, 3: 1.5}
    assert Vector.from_dense(v.to_dense(-1), -1).isequal(v)
    assert Vector.from_dict({}, dtype=int).size == 0
    assert Matrix.from_scalar(7, 2, 3).to_dense().tolist() == [[7] * 3] * 2
    assert Vector.from_scalar(True, 10**12).nbytes < 1000
    with pytest.raises(TypeError, match="fill_value"):
        A.to_dense()


def test_arrays():
    v = Vector.from_dense([1.0, 2.0])
    assert np.asarray(v).tolist() == [1.0, 2.0]
    assert np.from_dlpack(v).tolist() == [1.0, 2.0]
    assert np.asarray(Matrix.from_dense([[1, 2], [3, 4]])).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TypeError, match="can't be directly converted to a numpy array"):
        np.asarray(Vector.from_coo([1], [1]))
    array = v.to_dense()
    array[0] = 99
    assert v[0].new() == 1.0


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Vector.from_coo([0, 1], [1, 2, 3]), ValueError),
        (lambda: Vector.from_coo([0, 0], [1, 2]), ValueError),
        (lambda: Vector.from_coo([0, 9], [1, 2], size=5), IndexOutOfBound),
        (lambda: Vector.from_coo([], []), ValueError),
        (lambda: Vector.from_coo([-1], [1]), (OverflowError, InvalidValue)),
        (lambda: Vector.from_coo(np.array([0.5]), [1]), ValueError),
        (lambda: Matrix.from_coo([0, 0], [1, 1], [1, 2]), ValueError),
        (lambda: Matrix.from_coo([0], [1, 1], [1, 2]), ValueError),
        (lambda: Matrix.from_coo([0, 0], [1, 1], 1, dup_op="plus"), ValueError),
        (lambda: Matrix.from_csr([0, 1, 2], [0, 5], [1, 2], ncols=3), InvalidObject),
        (lambda: Matrix.from_csr([0, 2, 1], [0, 1], [1, 2]), InvalidValue),
        (lambda: Matrix.from_csr([0, 1], [0], [1], nrows=3), ValueError),
        (lambda: Matrix.from_dense([1, 2]), ValueError),
        (lambda: Matrix.from_dense(5), TypeError),
        (lambda: Vector(int, -1), OverflowError),
        (lambda: Vector(int, 2**60 + 1), InvalidValue),
        (lambda: Vector(int, 1.5), TypeError),
        (lambda: Matrix.from_edgelist(np.zeros((2, 3), int)), ValueError),
        (lambda: Scalar.from_value("text"), TypeError),
        (lambda: Scalar.from_value([1]), TypeError),
        (lambda: Scalar.from_value(2**70), OverflowError),
    ],
)
def test_bad_input(make, error):
    with pytest.raises(error):
        make()


def test_duplicates_are_combined_in_order():
    assert Vector.from_coo([0, 0, 0], [1, 2, 3], dup_op="minus").to_dict() == {0: -4}
    assert Vector.from_coo([0, 0, 0], [1, 2, 3], dup_op="first").to_dict() == {0: 1}
    assert Matrix.from_coo([0, 0], [1, 1], [4, 5], dup_op="plus").to_dicts() == {0: {1: 9}}


@pytest.mark.parametrize("count", [1, 5, 100, 5000])
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint32", "int64", "uint64"])
def test_the_first_position_outside_is_refused(count, dtype):
    """Few indices and many are checked in different ways; of one byte and of eight as well."""
    size = min(count, 100) if dtype == "int8" else count
    inside = (np.arange(count) % size).astype(dtype)
    zeros = np.zeros(count, np.int64)
    gb.Vector(float, size).build(inside[:size], np.ones(size))
    for bad in (size, *([] if dtype[0] == "u" else [-1])):
        outside = inside.copy()
        outside[-1] = bad
        v, A = gb.Vector(float, size), gb.Matrix(float, size, size)
        for call in (
            lambda: v.build(outside, np.ones(count), dup_op="plus"),
            lambda: gb.Vector.from_coo(outside, 1.0, size=size),
            lambda: A.build(outside, zeros, np.ones(count), dup_op="plus"),
            lambda: A.build(zeros, outside, np.ones(count), dup_op="plus"),
            lambda: gb.Matrix.from_coo(zeros, outside, 1.0, nrows=1, ncols=size),
        ):
            with pytest.raises(IndexOutOfBound, match=rf"{bad} is out of bounds: it must be in 0 \.\. {size - 1}"):
                call()
        assert v.nvals == A.nvals == 0


def test_build_needs_an_empty_object(A):
    with pytest.raises(OutputNotEmpty):
        A.build([0], [0], [1])
    A.build([0], [0], [1], clear=True)
    assert A.to_dicts() == {0: {0: 1}}


def test_a_matrix_that_is_cleared_and_built_of_nothing_has_the_new_shape(A):
    A.build([], [], [], clear=True, nrows=A.nrows + 2, ncols=A.ncols + 4)
    assert A.nvals == 0 and A.T.new().shape == A.shape[::-1] and A.reduce_rowwise().new().size == A.nrows
    A[A.nrows - 1, A.ncols - 1] = 1
    assert A.T.new()[A.ncols - 1, A.nrows - 1] == 1


def test_elements_are_duplicated_as_another_type():
    A, v = gb.Matrix.from_coo([0], [1], [2.5]), gb.Vector.from_coo([1], [2.5])
    for element in (A[0, 1], v[1]):
        assert element.dup("INT8").dtype == "INT8" and element.dup("INT8") == 2
        assert element.dup().dtype == "FP64" and element.dup(clear=True).is_empty


def test_the_geometric_mean_is_computed_in_double_precision():
    v = gb.Vector.from_coo([0, 1, 2], [1.0, 2.0, 5.0], size=4)
    assert v.reduce(gb.agg.geometric_mean).new().value == pytest.approx(10 ** (1 / 3), rel=1e-14)


def test_resize_dup_clear(A):
    B = A.dup(float, name="B")
    assert (B.dtype, B.name) == (dtypes.FP64, "B")
    A.resize(3, 3)
    assert (A.shape, A.to_dicts()) == ((3, 3), {0: {1: 1}, 2: {2: 3}})
    A.clear()
    assert (A.nvals, B.nvals) == (0, 4)
    assert B.dup(mask=Matrix.from_coo([0], [1], True, nrows=4, ncols=5).S).nvals == 1
    assert B.dup(clear=True).shape == (4, 5)
    assert A.wait() is A
    with pytest.raises(ValueError, match="how"):
        A.wait("never")


def test_pickle(A):
    v = Vector.from_scalar(2.5, 10**9, name="v")
    for x in (A, v, A.S, ~v.V, Scalar.from_value(3), Scalar(bool), Matrix(int, 2**60, 2**60)):
        y = pickle.loads(pickle.dumps(x))
        assert type(y) is type(x)
        if hasattr(x, "parent"):
            x, y = x.parent, y.parent
        assert y.isequal(x, check_dtype=True) if x.ndim < 1 or x.nvals < 1e6 else y.nvals == x.nvals
        assert y.name == x.name
    assert pickle.loads(pickle.dumps(gb.replace)) is gb.replace


def test_recorder(A):
    with Recorder() as rec:
        C = A.mxm(A.T).new(name="C")
        C(A.mxm(A.T).new(name="M").S, "plus", gb.replace) << C.T
        C[0, 0] = 5
    assert rec.data == [
        "GrB_Matrix_new(&C, GrB_INT64, 4, 4);",
        "GrB_mxm(C, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, A, A, GrB_DESC_T1);",
        "GrB_Matrix_new(&M, GrB_INT64, 4, 4);",
        "GrB_mxm(M, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_INT64, A, A, GrB_DESC_T1);",
        "GrB_transpose(C, M, GrB_PLUS_INT64, C, GrB_DESC_RS);",
        "GrB_Matrix_setElement_INT64(C, 5, 0, 0);",
    ]
    assert not rec.is_recording
    A.mxm(A.T).new()
    assert len(rec.data) == 6
    assert "not recording" in repr(rec)


def test_names():
    count = next(Matrix._name_counter)
    assert Matrix(int, 1, 1).name == f"M_{count + 1}"
    assert Vector(int, 1, name="w").name == "w"
    assert Matrix(int, 1, 1, name="A").T.name == "A.T"
    assert Matrix(int, 1, 1, name="A").S.name == "A.S"
    assert Matrix(int, 1, 1, name="A_1")._name_html == "A<sub>1</sub>"


def test_scalar():
    s = Scalar.from_value(3)
    assert (s.value, s.dtype, s.nvals) == (3, dtypes.INT64, 1)
    assert (int(s), float(s), complex(s), bool(s)) == (3, 3.0, 3 + 0j, True)
    assert [10, 20, 30, 40][s] == 40
    s.value = None
    assert s.is_empty
    assert s.get("nothing") == "nothing"
    assert not s
    assert Scalar.from_value(1.5).isclose(1.5 + 1e-12)
    assert Scalar.from_value(3).dup(float).dtype == float
    assert Scalar.from_value(3) != 4
    assert not hasattr(Scalar.from_value(1.5), "__index__")
    assert Scalar.from_value(3).ewise_add(Scalar(int)).new() == 3
    assert Scalar.from_value(3).ewise_mult(Scalar(int)).new().is_empty


def test_config_has_donfigs_methods(monkeypatch):
    theirs = pytest.importorskip("graphblas").config
    absent = {"config_lock", "deprecations", "ensure_file", "env", "main_path", "paths", "serialize"}  # files, threads
    assert {n for n in dir(theirs) if n[0] != "_"} - set(dir(gb.config)) == absent
    with gb.config.set(gb.config.to_dict()):
        gb.config.update({"autocompute": False}, priority="old")
        assert gb.config.get(key="autocompute") is True
        gb.config.update({"autocompute": False})
        assert gb.config.to_dict()["autocompute"] is False and gb.config.config == gb.config.to_dict()
        gb.config.merge({"autocompute": True}, {"autocompute": False})
        assert not gb.config.get("autocompute")
        with pytest.raises(ValueError, match="priority"):
            gb.config.update({}, priority="mine")
        assert gb.config.collect(env={"GRAPHBLAS_MAPNUMPY": "False", "GRAPHBLAS_OTHER": "1", "PATH": ""}) == {
            "mapnumpy": False
        }
        monkeypatch.setenv("GRAPHBLAS_MAPNUMPY", "False")
        gb.config.update_defaults({"my_own": "$HOME"})
        gb.config.expand_environment_variables()
        assert gb.config.get("my_own") == os.environ["HOME"]
        gb.config.rename({"my_own": "renamed"})
        assert "my_own" not in gb.config and "renamed" in gb.config
        gb.config.refresh()
        assert gb.config.get("autocompute") is True and gb.config.get("mapnumpy") is False
        assert "renamed" not in gb.config and gb.config.get("my_own") == "$HOME"
        gb.config.clear()
        assert gb.config.get("mapnumpy") is True
    changed = gb.config.defaults
    del changed[-1]
    gb.config.update_defaults({"my_default": 7, "autocompute": False})
    assert gb.config.get("my_default") == 7 and gb.config.get("autocompute") is True
    del changed[-1]
    gb.config.refresh(env={})
    assert "my_default" not in gb.config
    code = "import grb_tile as gb; print(gb.config.get('autocompute'))"
    environment = {**os.environ, "GRAPHBLAS_AUTOCOMPUTE": "False"}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout.strip() == "False", run.stderr


def test_aggregators_of_suitesparse_are_listed(recwarn):
    """As python-graphblas lists them; listing warns of nothing."""
    assert {"argmax", "argmin", "first", "first_index", "last", "last_index"} <= set(dir(gb.agg))
    assert not recwarn


def test_arrays_are_copies_unless_views_are_asked_for():
    for x in (Vector.from_dense(np.arange(5.0)), Matrix.from_dense(np.ones((2, 2)) + np.eye(2))):
        for copied in (x.__array__(), x.__array__(copy=True), np.array(x), np.array(x, dtype=np.float32)):
            copied[...] = 9
            assert not (x.to_dense() == 9).any()
        view = x.__array__(copy=False)
        assert not view.flags.writeable and np.shares_memory(view, x.__array__(copy=False))


def test_a_mask_or_an_object_selects_without_a_thunk(A):
    for chosen in (A.S, A, A.V):
        with pytest.raises(TypeError, match="thunk argument not None"):
            A.select(chosen, 3)


def test_an_exported_bitmap_says_how_many_entries_it_has(A):
    v = A[0, :].new()
    assert v.ss.export("bitmap")["nvals"] == v.nvals == v.ss.export("bitmap", raw=True)["nvals"]


def test_each_status_has_its_exception():
    infos = {kind.info: kind for kind in vars(gb.exceptions).values() if getattr(kind, "info", None)}
    assert infos[-106] is gb.exceptions.EmptyObject and infos[-1001] is gb.exceptions.JitError
    for info, kind in infos.items():
        with pytest.raises(gb.exceptions.GraphblasException) as caught:
            gb.exceptions.check_status(info)
        assert type(caught.value) is kind


def test_names_in_html_are_escaped():
    kind = gb.dtypes.register_anonymous(np.dtype([("a<b", np.int32)]))
    for x in (Matrix(kind, 2, 2), Vector(kind, 3), Scalar(kind)):
        assert "a&lt;b" in x._repr_html_() and "a<b" not in x._repr_html_()


def test_sorted_results_have_their_names(A):
    assert [x.name for x in A.ss.sort()] == ["Values", "Permutation"]
    assert [x.name for x in A[0, :].new().ss.sort()] == ["values", "permutation"]


def test_config():
    assert gb.config.get("autocompute") is True
    with gb.config.set(autocompute=False, mapnumpy=False):
        assert not gb.config["autocompute"]
    assert gb.config["autocompute"]
    with pytest.raises(KeyError, match="unknown option"):
        gb.config.get("no_such_option")
    assert gb.config.get("no_such_option", 5) == 5


def test_ss(A):
    tiles = A.ss.split([2, 2])
    assert gb.ss.concat(tiles).isequal(A)
    assert [t.shape for t in tiles[0]] == [(2, 2), (2, 2), (2, 1)]
    v = Vector.from_coo([1, 3, 4, 6], [1, 4, 2, 0], size=8)
    assert gb.ss.concat(v.ss.split(3)).isequal(v)
    assert A.ss.reshape(2, 10).ss.reshape(4, 5).isequal(A)
    assert A.ss.flatten("F").ss.reshape(4, 5, "F").isequal(A)
    assert gb.ss.diag(gb.ss.diag(v, 2), 2).isequal(v)
    assert v.ss.scan().to_dict() == {1: 1, 3: 5, 4: 7, 6: 7}
    assert A.ss.scan("times").to_dicts() == {0: {1: 1, 4: 2}, 2: {2: 3}, 3: {0: 4}}
    assert v.ss.selectk("largest", 2).to_dict() == {3: 4, 4: 2}
    assert v.ss.compactify("smallest", asindex=True).to_dict() == {0: 6, 1: 1, 2: 4, 3: 3}
    nearer = gb.binary.register_anonymous(lambda x, y: abs(x) < abs(y))  # equal ones stay in order
    w, p = Vector.from_dense(np.array([3, -1, 1, 2, -2])).ss.sort(nearer)
    assert w.to_dense().tolist() == [-1, 1, 2, -2, 3] and p.to_dense().tolist() == [1, 2, 3, 4, 0]
    w, p = v.ss.sort(">")
    assert (w.to_dict(), p.to_dict()) == ({0: 4, 1: 2, 2: 1, 3: 0}, {0: 3, 1: 4, 2: 1, 3: 6})
    assert A.ss.selectk("first", 1).to_dicts() == {0: {1: 1}, 2: {2: 3}, 3: {0: 4}}
    assert A.ss.compactify("last").to_dicts() == {0: {0: 2, 1: 1}, 2: {0: 3}, 3: {0: 4}}
    assert list(A.ss.iteritems(-1)) == [(3, 0, 4)]
    assert list(v.ss.iterkeys()) == [1, 3, 4, 6]
    assert Vector.from_scalar(5, 3).ss.iso_value == 5
    with pytest.raises(ValueError, match="not iso"):
        v.ss.iso_value


@pytest.mark.parametrize(
    "form", ["csr", "csc", "hypercsr", "hypercsc", "bitmapr", "bitmapc", "coo", "coor", "cooc", None]
)
@pytest.mark.parametrize("iso", [False, True])
def test_import_of_export(A, form, iso):
    if iso:
        A(A.S) << 7
    info = A.ss.export(form)
    assert info["is_iso"] == iso
    assert Matrix.ss.import_any(**info).isequal(A, check_dtype=True)
    if form is not None:
        assert getattr(Matrix.ss, f"import_{form}")(**info).isequal(A)
    B = A.dup(clear=True)
    B.ss.pack_any(**info)
    assert B.isequal(A)
    assert B.ss.unpack("csr")["nrows"] == 4
    assert B.nvals == 0
    for kind in ("sparse", "bitmap"):
        v = A[0, :].new()
        assert Vector.ss.import_any(**v.ss.export(kind)).isequal(v)
    with pytest.raises(InvalidValue, match="everywhere"):
        A.ss.export("fullr")
    assert Matrix.ss.import_fullc(np.asfortranarray([[1, 2], [3, 4]])).to_dense().tolist() == [[1, 2], [3, 4]]


def test_viz(A, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    square = A.dup()
    square.resize(4, 4)
    assert isinstance(gb.viz.spy(A), pyplot.Figure)  # as python-graphblas's, which draws into the current axes, too
    pyplot.close("all")
    for picture in (lambda: gb.viz.spy(A), lambda: gb.viz.draw(square), lambda: gb.viz.datashade(A, "sum")):
        picture()
        pyplot.gcf().savefig(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").stat().st_size > 1000
        pyplot.close("all")
    assert gb.viz.draw(square) is None
    pyplot.close("all")
    with pytest.raises(ValueError, match="square"):
        gb.viz.draw(A)


def test_importing_core_imports_nothing_heavy():
    code = (
        "import sys, grb_tile as gb; gb.Matrix(int, 2, 2); gb.semiring.min_plus; repr(gb.Vector(int, 3))\n"
        "print([m for m in ('numba', 'scipy', 'pandas', 'matplotlib', 'networkx', 'cupy') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_objects_hash_by_identity(A):
    v = Vector.from_coo([1], [2], size=5)
    for x in (A, v, A.T, A.apply(gb.unary.abs), A & A, A @ v, A[0, :], v[[1, 2]]):
        assert {x: 1}[x] == 1 and len({x, x}) == 1
    assert len({A, A.dup()}) == 2
    assert functools.lru_cache(lambda x: x.nvals)(A) == A.nvals


def test_no_dimension_passes_the_limit():
    """Results beyond 2^60 are refused where they are asked for; indices would wrap."""
    wide = Matrix.from_coo([2**39], [0], [1.0], nrows=2**40, ncols=2)
    other = Matrix.from_coo([2**29], [0], [1.0], nrows=2**30, ncols=2)
    for call, name in (
        (lambda: wide.kronecker(other, gb.binary.times), "kronecker"),
        (lambda: gb.ss.concat([[Matrix(int, 2**60, 1)], [Matrix(int, 1, 1)]]), "concat"),
        (lambda: gb.ss.concat([Vector(int, 2**60), Vector(int, 1)]), "concat"),
        (lambda: Vector(int, 5).diag(2**60), "diag"),
    ):
        with pytest.raises(InvalidValue, match=rf"{name}: the result would be .* at most 2\^60"):
            call()


def test_a_scalar_csr_of_no_entries_holds_no_value(A):
    empty = gb.io.from_csr([0, 0], [], 5, ncols=3)
    assert empty.nvals == 0 and empty._store.values.shape[0] == 0
    assert pickle.loads(pickle.dumps(empty)).isequal(empty)


def test_options_are_set_together_or_not_at_all():
    before = gb.config.get("mapnumpy"), gb.config.get("backend")
    with pytest.raises(gb.exceptions.InvalidValue, match="backend"):
        gb.config.set(mapnumpy=not before[0], backend="no such backend")
    assert (gb.config.get("mapnumpy"), gb.config.get("backend")) == before
    with gb.config.set(mapnumpy=not before[0], autocompute=False):
        assert gb.config.get("mapnumpy") != before[0]
    assert gb.config.get("mapnumpy") == before[0] and gb.config.get("autocompute")


def test_compactify_of_ties():
    """Each order; equal values by position, the last first where the order is the other way round."""
    v = Vector.from_coo([1, 3, 4, 6], [5, 1, 5, 3], size=8)
    orders = {"first": [1, 3, 4, 6], "last": [6, 4, 3, 1], "smallest": [3, 6, 1, 4], "largest": [4, 1, 6, 3]}
    for how, at in orders.items():
        assert v.ss.compactify(how, asindex=True).to_coo()[1].tolist() == at
        assert v.ss.compactify(how, 3).to_coo()[1].tolist() == [v[i].new().value for i in at[:3]]
    A = gb.Matrix.from_coo([0, 0, 0, 1, 1], [0, 1, 2, 1, 2], [5, 1, 5, 2, 3])
    assert A.ss.compactify("largest", 2, asindex=True).to_dicts() == {0: {0: 2, 1: 0}, 1: {0: 2, 1: 1}}
