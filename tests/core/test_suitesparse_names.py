"""What `gb.ss`, `A.ss` and `gb.agg` offer beyond computing: settings, bytes, user-made aggregators; and what
expressions list."""

import inspect
import warnings

import graphblas as oracle
import numpy as np
import pytest

import grb_tile as gb
from grb_tile.exceptions import InvalidObject, InvalidValue, NotImplementedException


@pytest.fixture
def A():
    return gb.Matrix.from_coo([0, 1, 3], [1, 0, 2], [1.5, -2.0, 4.0], nrows=4, ncols=3, name="A")


@pytest.mark.parametrize(
    "compression, level", [(None, None), ("none", None), ("lz4", None), ("lz4hc", 9), ("zstd", 19)]
)
def test_serialize(A, compression, level):
    data = A.ss.serialize(compression, level, nthreads=2)
    assert data.dtype == np.uint8
    for form in (data, data.tobytes()):
        B = gb.Matrix.ss.deserialize(form, name="B")
        assert B.isequal(A, check_dtype=True) and B.name == "B"
    assert gb.Matrix.ss.deserialize(data, "FP32").dtype == "FP32"
    v = A[0, :].new()
    assert gb.Vector.ss.deserialize(v.ss.serialize()).isequal(v, check_dtype=True)
    with pytest.raises(InvalidObject, match="Vector is expected"):
        gb.Vector.ss.deserialize(data)
    with pytest.raises(InvalidObject):
        gb.Matrix.ss.deserialize(data[:-5])


@pytest.mark.parametrize(
    "arguments, error",
    [(("bad",), ValueError), (("lz4", 3), TypeError), (("zstd", 0), ValueError), (("lz4hc", 10), ValueError)],
)
def test_serialize_refuses(A, arguments, error):
    with pytest.raises(error, match="argument"):
        A.ss.serialize(*arguments)


def test_object_config(A):
    assert A.ss.config["sparsity_status"] == "sparse"
    A.ss.config["sparsity_control"] = "hypersparse"
    assert A.ss.config["sparsity_status"] == "hypersparse" and A.ss.format == "hypercsr" and A.nvals == 3
    with pytest.raises(ValueError, match="read-only"):
        A.ss.config["sparsity_status"] = "sparse"
    A.ss.config["sparsity_control"] = "bitmap"
    assert A.ss.config["sparsity_status"] == "bitmap" and A.ss.format == "bitmapr" and A.nvals == 3
    assert A.ss.config["bitmap_switch"] == 0.06 and A.ss.config["format"] == "by_row"
    A.ss.config["format"] = "by_col"
    assert A.ss.format == "bitmapc" and A.ss.config["sparsity_status"] == "bitmap" and A.nvals == 3
    A.ss.config["format"] = "by_row"
    assert A.ss.format == "bitmapr"
    with pytest.raises(InvalidValue, match="needs an entry everywhere"):
        A.ss.config["sparsity_control"] = "full"
    with pytest.warns(UserWarning, match="no effect"):
        gb.Vector(int, 3).ss.config["sparsity_control"] = "hypersparse"
    with pytest.raises(KeyError):
        A.ss.config["sparsity_control"] = "dense"
    v = gb.Vector.from_coo([1], [5], size=4)
    v.ss.config["sparsity_control"] = {"bitmap"}
    assert v.ss.config["sparsity_status"] == "bitmap" and v.to_dict() == {1: 5}
    assert set(A.ss.config) - set(v.ss.config) == {"format", "hyper_switch"}


def test_global_config_warns_where_silence_would_mislead():
    config = gb.ss.config
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config["nthreads"] = 4
        config["burble"] = False
    assert config["nthreads"] == 4
    config["nthreads"] = None
    assert config["nthreads"] == 0
    for key, value in (("burble", True), ("format", "by_col"), ("print_1based", True)):
        with pytest.warns(UserWarning, match="no effect"):
            config[key] = value
        config[key] = None
    with pytest.raises(KeyError, match="known settings"):
        config["jit_c_control"] = "run"
    with pytest.raises(TypeError):
        del config["format"]
    assert gb.ss.about["library_name"] == "grb_tile"
    with pytest.raises(AttributeError, match="gb.explain"):
        gb.ss.burble  # noqa: B018


def test_aggregators_can_be_made(A):
    product = gb.agg.Aggregator("product", monoid=gb.monoid.times)
    cubes = gb.agg.Aggregator("cubes", initval=3, semiring=gb.semiring.plus_pow, semiring2=gb.semiring.plus_first)
    spread = gb.agg.Aggregator(
        "spread",
        composite=[gb.agg.max, gb.agg.min],
        finalize=lambda x, y, opts: gb.binary.minus(x & y),
        types=[gb.agg.max],
    )
    assert A.reduce_scalar(product).new() == 1.5 * -2.0 * 4.0
    assert A.reduce_scalar(cubes).new() == 1.5**3 + -(2.0**3) + 4.0**3
    assert A.reduce_rowwise(cubes).new().to_dict() == {0: 1.5**3, 1: -(2.0**3), 3: 4.0**3}
    assert A.reduce_scalar(spread).new() == 6.0
    assert A.reduce_columnwise(spread).new().to_dict() == {0: 0.0, 1: 0.0, 2: 0.0}
    assert spread["FP64"].return_type == "FP64" and isinstance(gb.agg.sum, gb.agg.Aggregator)
    with pytest.raises(NotImplementedException, match="composite"):
        gb.agg.Aggregator("x", custom=lambda *args: None, types=[gb.agg.max])
    with pytest.raises(TypeError, match="needs a"):
        gb.agg.Aggregator("x")


def test_counts_take_the_type_that_is_asked_for(A):
    assert A.dup("INT8").reduce_scalar(gb.agg.count).new().dtype == "INT64"
    assert A.reduce_scalar(gb.agg.count["INT16"]).new().dtype == "INT16"


def test_expressions_list_what_they_compute_to(A):
    for expr, kind in ((A.apply("abs"), gb.Matrix), (A.reduce_rowwise(), gb.Vector), (A.reduce_scalar(), gb.Scalar)):
        wanted = {n for n in dir(kind) if n[0] != "_" and not n.startswith("from_")}
        wanted -= {"build", "clear", "resize", "setdiag", "update"}
        assert wanted <= set(dir(type(expr)))
        assert not hasattr(expr, "from_coo") and not hasattr(expr, "clear")
        members = dict(inspect.getmembers(expr))
        assert members["nvals"] == expr.new().nvals
        assert inspect.signature(members["isequal"]) == inspect.signature(expr.new().isequal)


def test_values_of_sub_array_types():
    v = gb.Vector("INT64[2]", size=3)
    v[0] = [1, 2]
    v[1:] << [3, 4]
    assert v.to_dense().tolist() == [[1, 2], [3, 4], [3, 4]]
    v[[0, 2]] = [(5, 6), (7, 8)]
    assert v[2].new().value.tolist() == [7, 8]
    assert v.isequal(gb.Vector.from_dense(v.to_dense()), check_dtype=True)
    assert gb.indexunary.index(v).new().to_dense().tolist() == [0, 1, 2]
    A = gb.Matrix(np.dtype([("x", np.int64), ("y", np.int64)]), 2, 2)
    A[[0, 1], 1] = [(2, 3), (4, 5)]
    assert A.to_coo()[2].tolist() == [(2, 3), (4, 5)]


TILES = {
    "nothing": lambda A, u, s: [], "no tuple": lambda A, u, s: None, "a dictionary": lambda A, u, s: {},
    "an empty row": lambda A, u, s: [[]], "empty rows": lambda A, u, s: [[], []],
    "tuples": lambda A, u, s: ((A,), (A,)), "an empty row last": lambda A, u, s: [[A], []],
    "an empty row first": lambda A, u, s: [[], [A]], "rows of two lengths": lambda A, u, s: [[A], [A, A]],
    "half nested": lambda A, u, s: [A, [A]], "not nested": lambda A, u, s: [A], "an object": lambda A, u, s: A,
    "a vector": lambda A, u, s: [u], "vector and scalar": lambda A, u, s: [u, s, s],
    "a nested vector": lambda A, u, s: [[u]], "a column beside": lambda A, u, s: [[u, A]],
    "a column beside each": lambda A, u, s: [[A, u], [A.T, u]], "a number": lambda A, u, s: [[A, 3]],
    "None": lambda A, u, s: [[A, None]], "a scalar below": lambda A, u, s: [[A], [s]],
    "scalars": lambda A, u, s: [[s, s], [s, s]], "vector and matrix": lambda A, u, s: [u, A],
    "nested twice": lambda A, u, s: [[[A]]], "a column below": lambda A, u, s: [[A], [u]],
    "columns below": lambda A, u, s: [[u], [u]], "expressions": lambda A, u, s: [[A @ A, A]],
    "a scalar": lambda A, u, s: [s], "an extract": lambda A, u, s: [u[:1].new(), u],
}  # fmt: skip


@pytest.mark.parametrize("name", TILES)
def test_tiles_of_every_shape(name):
    """ss.concat, as a function and as a method: what python-graphblas makes of them, or the class of its error."""

    def made(library, how):
        A = library.Matrix.from_coo([0, 1], [1, 0], [2, 3], nrows=2, ncols=2)
        u, s = library.Vector.from_coo([1], [5], size=2), library.Scalar.from_value(4)
        try:
            tiles = TILES[name](A, u, s)
            if how == "function":
                C = library.ss.concat(tiles)
            else:
                C = library.Vector(int, 4) if how == "vector" else library.Matrix(int, 2, 4)
                C.ss.concat(tiles)
        except Exception as error:
            return type(error).__name__
        return [*C.shape, *(x.tolist() for x in C.to_coo())]

    for how in ("function", "matrix", "vector"):
        assert made(gb, how) == made(oracle, how), how
