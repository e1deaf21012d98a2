"""`grb-tile bench`: figures and their lines of JSON, graphs made on the spot, and checks that find wrong results."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

import grb_tile as gb
from grb_tile import algorithms
from grb_tile.cli import bench_verify, generate
from grb_tile.cli.bench_verify import WrongResult
from grb_tile.cli.main import BAD_INPUT, INTERNAL, OK, main
from support import seeds

KARATE = str(Path(__file__).resolve().parents[2] / "examples" / "data" / "karate.txt")
QUICK = ["--repeat", "1", "--sources", "2", "--quiet"]


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch):
    monkeypatch.setattr("grb_tile.cli.bench_measure.WARM_SECONDS", 0)


@pytest.fixture
def run(capsys):
    def call(*args):
        code = main(["bench", *map(str, args), *QUICK])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return call


def scipy_of(store):
    return scipy.sparse.csr_array((np.ones(store.nvals), store.indices, store.indptr), shape=store.shape)


# ---------------------------------------------------------------------- figures


LINE = {
    "command",
    "graph",
    "backend",
    "device",
    "seed",
    "figure",
    "ms",
    "best_ms",
    "worst_ms",
    "first_ms",
    "queued_ms",
    "runs",
    "edges",
    "gteps",
    "gb_per_second",
    "plan",
    "verified",
}


def test_products_with_full_matrices(run):
    code, out, err = run(KARATE, "--undirected", "--base", 1, "--parts", "spmm,sddmm", "--columns", "3,16", "--types",
                         "FP32", "--semiring", "plus_times,max_plus", "--repeat", 1, "--json", "-")  # fmt: skip
    assert code == OK and err == ""
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["figure"] for line in lines] == [
        f"{part} {columns} {name} FP32"
        for name in ("plus_times", "max_plus")
        for part in ("spmm", "sddmm")
        for columns in (3, 16)
    ]
    assert all(line["verified"] and line["edges"] == 156 for line in lines)
    assert lines[0]["bytes"] == 156 * 8 + 34 * 8 + 68 * 3 * 4
    code, _, err = run(KARATE, "--parts", "spmm", "--columns", "3,x")
    assert code != OK and "--columns" in err


def test_products_of_matrices_blocks_and_triangles(run):
    parts = "triangles,blocks,spgemm,masked"
    code, out, err = run(KARATE, "--undirected", "--base", 1, "--parts", parts, "--types", "FP32",
                         "--semiring", "plus_times,max_first", "--json", "-")  # fmt: skip
    assert code == OK and err == ""
    lines = [json.loads(line) for line in out.splitlines()]
    figures = [f"{part} {name} FP32" for name in ("plus_times", "max_first") for part in ("blocks", "spgemm", "masked")]
    assert [line["figure"] for line in lines] == ["triangles", *figures]
    degrees = np.bincount(np.loadtxt(KARATE, int, comments="#").ravel())
    assert all(line["verified"] and line["peers"] == {} for line in lines) and lines[0]["edges"] == 78
    assert lines[2]["edges"] == lines[3]["edges"] == (degrees**2).sum() and lines[1]["plan"]["format"] == "bitblock"
    assert lines[1]["bytes_per_entry"] > 4


def test_other_libraries_are_timed_where_asked(run):
    parts = "spmv,spmspv,spmm,sddmm,spgemm,masked,blocks"
    code, out, _ = run("--generate", "grid:5", "--parts", parts, "--types", "FP64", "--columns", 3, "--densities", 0.2,
                       "--semiring", "plus_times,min_plus", "--peers", "--json", "-")  # fmt: skip
    assert code == OK
    for line in map(json.loads, out.splitlines()):
        scipy_has_it = "plus_times" in line["figure"] and line["figure"].split()[0] not in ("sddmm", "masked")
        names = ["SciPy"] * scipy_has_it + ["SuiteSparse"]
        assert [name.split()[0] for name in line["peers"]] == names and min(line["peers"].values()) > 0
    table = run("--generate", "grid:5", "--parts", "spmv", "--types", "FP64", "--peers")[1]
    assert "SciPy ms" in table and "peers      medians of 1 calls of SciPy " in table


PLAN = {"operation", "method", "format", "rule", "reason", "engine", "kernel", "kernel_reason", "note", "ms",
        "precision"}  # fmt: skip


def test_a_line_of_json_for_each_figure(run, tmp_path):
    target = tmp_path / "figures.jsonl"
    code, out, err = run(
        KARATE,
        "--undirected",
        "--base",
        1,
        "--parents",
        "--semiring",
        "plus_times,min_plus,lor_land",
        "--types",
        "FP32",
        "--densities",
        "0.5,0.1",
        "--json",
        target,
    )
    assert code == OK and err == ""
    lines = [json.loads(line) for line in target.read_text().splitlines()]
    assert [line["figure"] for line in lines] == [
        "bfs levels",
        "bfs levels and parents",
        *(
            f"{what} {name} FP32"
            for name in ("plus_times", "min_plus", "lor_land")
            for what in ("spmv", "spmspv 0.5", "spmspv 0.1")
        ),
    ]
    for line in lines:
        assert line.keys() >= LINE and line["plan"].keys() == PLAN and line["verified"] is True
        assert 0 < line["best_ms"] <= line["ms"] <= line["worst_ms"] and line["first_ms"] > 0
        assert line["queued_ms"] is None, "only a device has a queue"
        assert line["backend"] == "cpu" and line["graph"]["entries"] == 156 and line["graph"]["symmetric"] is True
        if "bfs" in line["figure"]:  # every source reaches all of the graph
            assert (
                0.999 * line["edges"] / line["worst_ms"] / 1e6
                <= line["gteps"]
                <= 1.001 * line["edges"] / line["best_ms"] / 1e6
            )
        else:
            assert line["gteps"] == pytest.approx(line["edges"] / line["ms"] / 1e6)
        assert line["figure"] in out
    assert lines[0]["edges"] == 156 and lines[0]["levels"] >= 3 and lines[0]["gb_per_second"] is None
    spmv = next(line for line in lines if line["figure"] == "spmv plus_times FP32")
    assert spmv["bytes"] == 156 * 8 + 34 * (8 + 4) + 34 * 4
    assert spmv["gb_per_second"] == pytest.approx(spmv["bytes"] / spmv["ms"] / 1e6)


def test_json_alone_on_stdout(run):
    code, out, _ = run("--generate", "grid:6", "--parts", "bfs", "--json", "-")
    assert code == OK and json.loads(out)["graph"]["name"] == "grid:6"


def test_the_table(run):
    code, out, err = run("--generate", "fem:3", "--parts", "spmv", "--types", "FP64", "--seed", 7)
    assert code == OK and err == ""
    assert "fem:3: 81 by 81" in out and "undirected; made in" in out and "seed 7, verified" in out
    assert "GB/s" in out and "first ms" in out and "rows over csr" in out and "queued" not in out
    assert "not verified" in run("--generate", "grid:4", "--parts", "bfs", "--no-verify")[1]


def test_directed_graphs_and_their_own_values(run, tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 2\n2 4 3\n3 2 -5\n3 4 1\n")
    code, out, _ = run(path, "--parts", "spmv,spmspv", "--densities", 1, "--types", "FP64", "--json", "-")
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == OK and lines[0]["graph"]["symmetric"] is False and lines[1]["edges"] == 4
    path.write_text("0 1\n1 2\n2 0\n2 3\n")
    code, out, _ = run(path, "--directed", "--format", "edges", "--parts", "bfs", "--parents", "--json", "-")
    assert code == OK and json.loads(out.splitlines()[1])["edges"] == 4


def test_progress_on_a_terminal_only(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    options = ["bench", "--generate", "grid:4", "--parts", "bfs", "--repeat", "1", "--sources", "2"]
    assert main(options) == OK
    err = capsys.readouterr().err
    assert "bench: bfs levels: source 2 of 2" in err and err.endswith("\r")
    assert main([*options, "--quiet"]) == OK and capsys.readouterr().err == ""


# ---------------------------------------------------------------------- checks that can fail


def searched(text="kron:7:4", source=None):
    store = generate.matrix(text, seeds.SEED % 1000)._store
    source = int(np.argmax(np.diff(store.indptr))) if source is None else source
    found = algorithms.bfs(gb.Matrix._from_store(store, store.dtype), source, parents=True)
    return store, source, found.levels.to_dense(-1), found.parents.to_dense(-1)


def test_a_right_search_passes_whatever_the_chunk(monkeypatch):
    for chunk in (7, 1 << 20):
        monkeypatch.setattr(bench_verify, "CHUNK", chunk)
        bench_verify.search("bfs", *searched())


@pytest.mark.parametrize(
    "what", ["deeper", "shallower", "lost", "invented", "source", "parent", "no parent", "foreign parent"]
)
def test_wrong_searches_are_found(what):
    store, source, levels, parents = searched()
    random = np.random.default_rng(seeds.SEED)
    v = int(random.choice(np.flatnonzero(levels >= 1)))
    far = np.flatnonzero(levels == levels.max())
    if what == "deeper":
        levels[v] += 1
    elif what == "shallower":
        levels[far[0]] -= 1
    elif what == "lost":
        levels[v] = parents[v] = -1
    elif what == "invented":
        lonely = np.flatnonzero(levels < 0)
        levels[lonely[0]], parents[lonely[0]] = 1, source
    elif what == "source":
        levels += levels >= 0
    elif what == "parent":
        parents[v] = v
    elif what == "no parent":
        parents[v] = -1
    else:  # one level above, but no neighbour
        for w in np.flatnonzero(levels >= 2):
            strangers = np.setdiff1d(
                np.flatnonzero(levels == levels[w] - 1), store.indices[store.indptr[w] : store.indptr[w + 1]]
            )
            if len(strangers):
                parents[w] = strangers[0]
                break
    with pytest.raises(WrongResult, match=f"bfs, source {source}: "):
        bench_verify.search("bfs", store, source, levels, parents)


@pytest.mark.parametrize("what", ["value", "missing", "extra", "nan"])
@pytest.mark.parametrize("name", ["plus_times", "min_plus", "any_first"])
def test_wrong_products_are_found(what, name):
    A = gb.Matrix.from_coo([0, 0, 1, 3], [0, 1, 2, 3], [1.0, 2.0, 3.0, 4.0], "FP32", nrows=4, ncols=4)
    x = gb.Vector.from_coo([0, 1, 3], [1.0, 0.5, 2.0], "FP32", size=4)
    semiring = getattr(gb.semiring, name)["FP32"]
    w = A.mxv(x, semiring).new()
    assert w.nvals == 2
    bench_verify.product("spmv", A._store, semiring, x, w, 1)
    if what == "missing":
        del w[0]
    elif what == "extra":
        w[1] = 1.0
    else:
        w[3] = float("nan") if what == "nan" else w.get(3) * 1.001
    with pytest.raises(WrongResult, match="spmv: row "):
        bench_verify.product("spmv", A._store, semiring, x, w, 1)


@pytest.mark.parametrize("masked", [False, True])
def test_wrong_products_of_matrices_are_found(masked):
    A = generate.matrix("kron:6:4", seeds.SEED % 1000).apply("plus", right=0.5).new("FP32")
    semiring = gb.semiring.plus_times["FP32"]
    C = A.mxm(A, semiring).new(mask=A.S if masked else None)
    bench_verify.square("spgemm", A._store, semiring, C._store, masked, 1)
    wrong = C.apply("times", right=1.01).new(), C.select("tril", -3).new(), A.mxm(A.T, "min_plus").new()
    for D in wrong:
        with pytest.raises(WrongResult, match="spgemm: (row|entry)"):
            bench_verify.square("spgemm", A._store, semiring, D._store, masked, 1)


def test_entries_beside_the_mask_are_found():
    """Each row has as many entries as the mask's, in other columns."""
    A = gb.Matrix.from_coo([0, 1], [1, 0], 3.0, "FP32", nrows=2, ncols=2)
    right, wrong = (gb.Matrix.from_coo([0, 1], columns, 3.0, "FP32", nrows=2, ncols=2) for columns in ([1, 0], [0, 1]))
    X = np.ones((2, 3))
    bench_verify.at_mask("sddmm", A, "plus_times", X, X, right, 1)
    with pytest.raises(WrongResult, match="not at those of the mask"):
        bench_verify.at_mask("sddmm", A, "plus_times", X, X, wrong, 1)


def test_products_of_one_value_are_verified():
    A = generate.matrix("kron:6:4", seeds.SEED % 1000).apply("plus", right=0.5).new("FP32")
    A[0, 1] = 7  # A is not iso, A any.pair A is
    C = A.mxm(A, gb.semiring.any_pair["FP32"]).new()
    assert C._store.iso and not A._store.iso
    bench_verify.square("spgemm", A._store, gb.semiring.any_pair["FP32"], C._store, False, 1)


def test_wrong_counts_of_triangles_are_found():
    G = algorithms.Graph(generate.matrix("kron:6:4", 3), directed=False)
    count = algorithms.triangle_count(G)
    bench_verify.triangles("triangles", G.A._store, count)
    for wrong in (count + 1, 0, 6 * count):
        with pytest.raises(WrongResult, match="triangles: .* expected"):
            bench_verify.triangles("triangles", G.A._store, wrong)


def test_what_parts_need(run, tmp_path):
    path = tmp_path / "wide.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n")
    for part, needed in (("spgemm", "a square matrix"), ("masked", "a square matrix"), ("triangles", "undirected")):
        code, _, err = run(path, "--parts", part)
        assert code == BAD_INPUT and f"--parts {part} needs" in err and needed in err


def test_numbers_that_run_out_of_their_type_are_right():
    n = 400
    A = gb.Matrix.from_dense(np.full((2, n), 1.5, np.float32))
    x = gb.Vector.from_dense(np.full(n, 2.0, np.float32))
    semiring = gb.semiring.times_times["FP32"]
    w = A.mxv(x, semiring).new()
    assert w.get(0) == np.inf
    bench_verify.product("spmv", A._store, semiring, x, w, 1)
    w[0] = 1e30
    with pytest.raises(WrongResult, match="spmv: row 0 is 1"):
        bench_verify.product("spmv", A._store, semiring, x, w, 1)


def test_a_wrong_backend_is_caught_unless_nobody_looks(run, monkeypatch):
    right = algorithms.bfs

    def wrong(G, source, **options):
        found = right(G, source, **options)
        found.levels[source] = 1
        return found

    monkeypatch.setattr(algorithms, "bfs", wrong)
    options = ("--generate", "grid:5", "--parts", "bfs")
    code, out, err = run(*options)
    assert code == INTERNAL and out == "" and "WrongResult: bfs levels, source " in err and err.count("\n") == 1
    assert run(*options, "--no-verify")[0] == OK


# ---------------------------------------------------------------------- what cannot be done


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "name one graph"),
        ([KARATE, "--generate", "grid:5"], "name one graph"),
        (["--generate", "cube:4"], "--generate cube:4"),
        (["--generate", "kron:31"], "31 is out of range, expected 1 to 30"),
        (["--generate", "grid"], "kron:SCALE[:EDGE_FACTOR]"),
        (["--generate", "grid:5:5"], "expected one of"),
        (["--generate", "kron:0"], "0 is out of range"),
        (["--generate", "grid:x"], "expected one of"),
        (["--generate", "grid:1"], "has no entries"),
        (["--generate", "grid:5", "--parts", "bfs,gemm"], "--parts gemm"),
        (["--generate", "grid:5", "--parts", ""], "--parts (none)"),
        (["--generate", "grid:5", "--types", "INT8"], "--types INT8"),
        (["--generate", "grid:5", "--semiring", "plus_tims"], "plus_tims"),
        (["--generate", "grid:5", "--semiring", "any_secondi"], "--semiring any_secondi"),
        (["--generate", "grid:5", "--densities", "0"], "--densities 0"),
        (["--generate", "grid:5", "--densities", "x"], "expected numbers"),
        (["--generate", "grid:5", "--sources", "0"], "--sources 0"),
        (["--generate", "grid:5", "--repeat", "0"], "--repeat 0"),
        (["--generate", "grid:5", "--seed", "-1"], "--seed -1"),
        (["nothing.mtx"], "nothing.mtx: no such file"),
        (["--generate", "grid:5", "--backend", "abacus"], "--backend"),
    ],
)
def test_bad_arguments(capsys, args, message):
    code = main(["bench", *args])
    out, err = capsys.readouterr()
    assert code == BAD_INPUT and message in err and out == "", err


def test_searches_need_a_square_matrix(run, tmp_path):
    path = tmp_path / "wide.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n")
    code, _, err = run(path)
    assert code == BAD_INPUT and "2 by 3" in err and "--parts spmv,spmspv" in err


def test_the_backend_is_set_for_the_command_only(run, monkeypatch):
    before = gb.config.get("backend")
    seen = []
    monkeypatch.setattr("grb_tile.cli.bench.run", lambda args: seen.append(gb.config.get("backend")))
    assert run(KARATE, "--backend", "numpy")[0] == BAD_INPUT
    assert run(KARATE, "--backend", "auto")[0] == OK
    assert seen == ["auto"] and gb.config.get("backend") == before
