"""Repeated edges in an edge list: one rule for files, data frames and the command, and its messages."""

import io
import json
import warnings

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import io as grb_io
from grb_tile.cli.main import BAD_INPUT, OK, main
from support import seeds

pd = pytest.importorskip("pandas")
RULES = {"min": min, "max": max, "plus": sum, "first": lambda found: found[0]}


def drawn(count, n, seed):
    rng = np.random.default_rng([seeds.SEED, seed])
    return [(int(u), int(v), int(w)) for u, v, w in zip(*rng.integers(0, n, (2, count)), rng.integers(-9, 99, count))]


def expected(edges, rule, directed):
    """{(u, v): weight} by a dictionary, and how many edges an earlier line has."""
    found = {}
    for u, v, w in edges:
        found.setdefault((u, v) if directed else (min(u, v), max(u, v)), []).append(w)
    repeated = len(edges) - len(found)
    weights = {ends: rule(each) for ends, each in found.items()}
    if not directed:
        weights |= {(v, u): w for (u, v), w in weights.items()}
    return weights, repeated


def from_text(edges, n, directed, **options):
    text = "".join(f"{u} {v} {w}\n" for u, v, w in edges)
    return grb_io.read_edge_list(io.StringIO(text), base=0, size=n, directed=directed, **options).matrix


def from_frame(edges, n, directed, **options):
    """In the order of the labels, which are those of the nodes that occur."""
    df = pd.DataFrame(edges, columns=["source", "target", "w"])
    A, labels = grb_io.from_pandas_edgelist(df, weight="w", directed=directed, **options)
    i, j, w = A.to_coo()
    return gb.Matrix.from_coo(labels[i].to_numpy(np.int64), labels[j].to_numpy(np.int64), w, nrows=n, ncols=n)


READERS = pytest.mark.parametrize("read", [from_text, from_frame])


def entries(A):
    return dict(zip(zip(*(each.tolist() for each in A.to_coo()[:2])), A.to_coo()[2].tolist()))


@READERS
@pytest.mark.parametrize("directed", [True, False])
def test_the_least_weight_counts_and_a_warning_has_the_number(read, directed):
    for seed, (count, n) in enumerate([(2, 1), (5, 2), (40, 6), (3000, 40)]):
        edges = drawn(count, n, seed)
        weights, repeated = expected(edges, min, directed)
        assert repeated
        with pytest.warns(grb_io.RepeatedEdges) as caught:
            A = read(edges, n, directed)
        assert entries(A) == weights
        assert [(each.message.repeated, each.message.edges) for each in caught] == [(repeated, count)]
        assert f"{repeated:,} of {count:,} edges" in str(caught[0].message)


@READERS
@pytest.mark.parametrize("directed", [True, False])
def test_a_rule_that_is_given_says_nothing(read, directed):
    edges = drawn(200, 8, 9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name, rule in RULES.items():
            for op in (name, getattr(gb.binary, name)):
                assert entries(read(edges, 8, directed, dup_op=op)) == expected(edges, rule, directed)[0]
        with pytest.raises(ValueError, match="uplicate"):
            read(edges, 8, directed, dup_op="error")
        once = list({(u, v): (u, v, 1) for u, v, _ in edges if u <= v}.values())
        for dup_op in (None, "error"):
            assert len(entries(read(once, 8, True, dup_op=dup_op))) == len(once)


def test_without_weights_and_with_complex_ones():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert grb_io.read_edge_list(io.StringIO("0 1\n0 1\n1 0\n")).matrix.nvals == 2
        df = pd.DataFrame({"source": [0, 0], "target": [1, 1]})
        assert grb_io.from_pandas_edgelist(df).matrix.nvals == 1
    with pytest.raises(ValueError, match="dup_op"):  # of complex numbers none is the least
        grb_io.read_edge_list(io.StringIO("0 1 1+2j\n0 1 2j\n"))


def test_the_command_counts_them_too(tmp_path, capsys):
    path = tmp_path / "g.txt"
    path.write_text("0 1 5\n0 1 2\n1 2 1\n0 1 9\n")
    base = ["sssp", str(path), "--source", "0", "--json"]
    remark = "2 of the 4 edges in"
    for options, longest, said in (
        ([], 3, True), (["--quiet"], 3, False), (["--duplicates", "min"], 3, False),
        (["--duplicates", "plus"], 17, False), (["--duplicates", "first"], 6, False),
    ):  # fmt: skip
        assert main(base + options) == OK
        out, err = capsys.readouterr()
        assert json.loads(out)["longest"] == longest and (remark in err) is said and (err == "") is not said
    assert main([*base, "--duplicates", "error"]) == BAD_INPUT
    assert "uplicate" in capsys.readouterr().err
