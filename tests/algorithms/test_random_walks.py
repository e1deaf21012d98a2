"""Random walks: edges exist, seeds decide, frequencies are those of the definition (chi-square)."""

import sys

import numpy as np
import pytest
from samples import edges, karate, pair
from scipy import stats

import grb_tile as gb
from grb_tile.algorithms import Graph, random_walks

walks_module = sys.modules["grb_tile.algorithms.random_walks"]

WRITTEN_DOWN = [[0, 19, 1, 2, 1, 0, 8], [33, 20, 32, 8, 2, 9, 33]]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"p": 0.25, "q": 4.0}, {"restart": 0.3}])
def test_every_step_is_an_edge(seed, options, base_seed):
    A, N = pair(base_seed * 1000 + seed, True, weights="float")
    starts = list(range(A.nrows)) * 2
    walks = random_walks(A, starts, 9, seed=seed, **options).walks
    assert walks.shape == (len(starts), 10) and walks[:, 0].tolist() == starts
    for walk in walks.tolist():
        for u, v in zip(walk, walk[1:], strict=False):
            if u < 0:
                assert v == -1
            elif v < 0:
                assert N.out_degree(u) == 0
            else:
                assert N.has_edge(u, v) or "restart" in options and v == walk[0]


def test_seeds_decide_and_walks_are_independent_of_one_another():
    A = karate()
    one, same, other = (random_walks(A, [0, 5, 0], 20, seed=seed).walks for seed in (7, 7, 8))
    assert (one == same).all() and (one != other).any() and (one[0] != one[2]).any()
    # A walk does not change with those behind it, nor with the length.
    assert (random_walks(A, [0, 5], 10, seed=7).walks == one[:2, :11]).all()
    drawn = random_walks(A, [0], 20)
    assert (random_walks(A, [0], 20, seed=drawn.seed).walks == drawn.walks).all()


def test_the_generator_is_the_documented_one():
    """The same numbers on every machine and backend: written down once."""
    found = random_walks(karate(), [0, 33], 6, seed=2026).walks.tolist()
    assert found == WRITTEN_DOWN


def frequencies(walks, vertices):
    return np.array([(walks == v).sum() for v in vertices])


@pytest.mark.parametrize("seed", range(3))
def test_steps_are_uniform_and_weighted(seed):
    star = edges([(0, i) for i in range(1, 6)], 6, [1.0, 2.0, 3.0, 0.0, 4.0])
    n = 20000
    to = random_walks(star, [0] * n, 1, seed=seed).walks[:, 1]
    assert stats.chisquare(frequencies(to, range(1, 6))).pvalue > 1e-4
    to = random_walks(star, [0] * n, 1, weighted=True, seed=seed).walks[:, 1]
    found = frequencies(to, range(1, 6))
    assert found[3] == 0
    assert stats.chisquare(found[[0, 1, 2, 4]], n * np.array([0.1, 0.2, 0.3, 0.4])).pvalue > 1e-4


@pytest.mark.parametrize("large", [1e12, 1e15, 1e17, 1e308])
def test_small_weights_beside_large_ones_of_other_rows(large):
    """The weights of a row are drawn by their shares of that row, and its edge of weight 0 is not taken."""
    pairs = [(0, 1), (0, 2), (2, 0), (2, 1), (2, 2), (4, 0), (4, 1)]
    A = edges(pairs, 5, [large, large, 1e-4, 0.0, 3e-4, 5e-324, 5e-324])
    n = 20000
    to = random_walks(A, [2] * n, 1, weighted=True, seed=0).walks[:, 1]
    found = frequencies(to, range(5))
    assert found[[1, 3, 4]].sum() == 0 and found.sum() == n
    assert stats.binomtest(int(found[0]), n, 0.25).pvalue > 1e-4
    for start in (0, 4):  # sums beyond FP64, and weights of one bit
        found = frequencies(random_walks(A, [start] * n, 1, weighted=True, seed=0).walks[:, 1], range(5))
        assert found.sum() == n and stats.binomtest(int(found[1]), n, 0.5).pvalue > 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_running_sums_are_those_of_each_row(seed, base_seed):
    """Rows of many lengths, summed together and one by one, against a sum of each row by itself."""
    rng = np.random.default_rng(base_seed * 1000 + seed)
    lengths = rng.integers(0, [3, 30, 300, 3000][seed], 200)
    x = np.where(rng.random(lengths.sum()) < 0.2, 0.0, 10.0 ** rng.integers(-300, 300, lengths.sum()))
    found = walks_module._running_sums(*walks_module._parts(x), lengths)
    for row, sums in zip(np.split(x, np.cumsum(lengths)[:-1]), np.split(found, np.cumsum(lengths)[:-1]), strict=True):
        greatest = row.max(initial=0.0)
        wanted = np.cumsum(np.ldexp(row, -np.frexp(greatest)[1]))
        assert (sums == wanted).all() and (greatest == 0 or sums[-1] >= 0.5)


def test_running_sums_of_numbers_below_every_float():
    """Products of tiny weights: 0 beside them is below them, too."""
    m, e = walks_module._parts(np.array([0.0, 5e-324, 0.0, 3e-310]))
    e[[1, 3]] -= 3000
    sums = walks_module._running_sums(m, e, np.array([2, 0, 2]))
    assert sums.tolist() == [0.0, 0.5, 0.0, np.frexp(3e-310)[0]]


def test_an_edge_of_weight_0_is_never_chosen():
    """Not even by a number that is exactly the sum before it."""
    sums = walks_module._pairs(np.arange(2), np.array([4, 3]), np.array([0.0, 0.5, 0.5, 1.0, 0.0, 0.0, 0.25]))
    wanted = [(0, 0.0), (0, 0.25), (0, 0.5), (0, 0.75), (1, 0.0), (1, 0.125)]
    rows, numbers = np.array(wanted).T
    assert walks_module._chosen(sums, rows, numbers).tolist() == [1, 1, 3, 3, 6, 6]


def test_restarts_have_their_probability():
    n = 20000
    circle = edges([(i, (i + 1) % 50) for i in range(50)], 50)
    walks = random_walks(circle, [0] * n, 3, restart=0.25, seed=3).walks
    back = (walks[:, 3] == 0).sum()
    assert stats.binomtest(int(back), n, 0.25).pvalue > 1e-4


def test_restarts_do_not_depend_on_the_edge_drawn():
    """From 0 to 1 .. 5: of the walks that do not return, as many are at each."""
    star = edges([(0, i) for i in range(1, 6)], 6)
    ends = random_walks(star, [0] * 20000, 1, restart=0.5, seed=3).walks[:, 1]
    assert stats.chisquare(frequencies(ends, range(1, 6))).pvalue > 1e-4


@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (4.0, 0.5), (1.0, 3.0)])
def test_node2vec_biases(p, q):
    """From 0 -> 1 the next is 0 (back), 2 (a neighbour of 0) or 3 (away): 1/p, 1, 1/q."""
    A = edges([(0, 1), (1, 0), (1, 2), (1, 3), (0, 2)], 4)
    n = 60000
    walks = random_walks(A, [0] * n, 2, p=p, q=q, seed=5).walks
    walks = walks[walks[:, 1] == 1]
    shares = np.array([1 / p, 1, 1 / q])
    expected = walks.shape[0] * shares / shares.sum()
    assert stats.chisquare(frequencies(walks[:, 2], [0, 2, 3]), expected).pvalue > 1e-4


def second_step(A, before, at, p, q, weighted):
    """The distribution of the step after before -> at, by the definition."""
    D = A.to_dense(0.0)
    near = A.apply(gb.unary.one).new().to_dense(0) > 0
    bias = np.where(np.arange(A.nrows) == before, 1 / p, np.where(near[before], 1.0, 1 / q))
    share = (D[at] if weighted else near[at]) * bias
    return share / share.sum()


@pytest.mark.parametrize("proposals", [1, 3, 64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("p", "q"), [(0.25, 4.0), (30.0, 0.02), (1e-3, 1.0), (50.0, 30.0), (0.03, 0.1)])
def test_node2vec_has_the_distribution_of_its_definition(proposals, weighted, p, q, monkeypatch, base_seed):
    """Few proposals are kept, so that edges are weighed, in pieces of a few walks."""
    monkeypatch.setattr(walks_module, "PROPOSALS", proposals)
    monkeypatch.setattr(walks_module, "EDGES_TOGETHER", 1000)
    A, _ = pair(base_seed * 1000 + 77, True, weights="float")
    n, most = 40000, A.nrows
    start = int(np.argmax(np.bincount(A.to_coo(values=False)[0], minlength=most)))
    walks = random_walks(A, [start] * n, 2, p=p, q=q, weighted=weighted, seed=5).walks
    for at in np.unique(walks[:, 1]):
        to = walks[walks[:, 1] == at, 2]
        if to[0] < 0:
            continue
        expected = to.size * second_step(A, start, at, p, q, weighted)
        found = frequencies(to, range(most))
        assert found[expected == 0].sum() == 0
        usual = expected > 5
        rest = to.size - found[usual].sum(), to.size - expected[usual].sum()
        pairs_of = [(*found[usual], rest[0]), (*expected[usual], rest[1])] if rest[1] > 5 else None
        if pairs_of is not None:
            assert stats.chisquare(*pairs_of).pvalue > 1e-5
        elif usual.sum() > 1:
            wanted = expected[usual] * (found[usual].sum() / expected[usual].sum())
            assert stats.chisquare(found[usual], wanted).pvalue > 1e-5


@pytest.mark.parametrize(("p", "q"), [(1e-9, 1.0), (5e-324, 1.0), (1.0, 1e-9), (1e300, 1e-300), (1e300, 1e300)])
def test_every_p_and_q_ends(p, q):
    """Between triangles and a path: what is preferred beyond measure is taken wherever it is there."""
    A = edges([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)], 5, both=True)
    walks = random_walks(A, [0, 3] * 200, 12, p=p, q=q, seed=1).walks
    assert (walks >= 0).all()
    for t, v, x in zip(walks[:, :-2].ravel(), walks[:, 1:-1].ravel(), walks[:, 2:].ravel(), strict=True):
        shares = {}
        for y in A[int(v), :].new().to_coo(values=False)[0].tolist():
            shares[y] = -np.log(p) if y == t else 0.0 if (t, y) in A else -np.log(q)
        assert shares[int(x)] > max(shares.values()) - 700


def test_conversions():
    G = Graph(edges([(0, 1), (1, 2)], 3), labels=["a", "b", "c"])
    found = random_walks(G, [0, 1, 2], 3, seed=0)
    assert found.paths() == [["a", "b", "c"], ["b", "c"], ["c"]]
    assert found.to_dict() == {"a": 1, "b": 2, "c": 3} and found.top(1) == [("c", 3)]
    frame = found.to_pandas()
    assert frame.columns.tolist() == ["walk", "step", "vertex"] and frame.vertex.tolist() == list("abcbcc")


def test_edge_cases_and_arguments():
    assert random_walks(gb.Matrix(bool, 0, 0), [], 3, seed=1).walks.shape == (0, 4)
    assert random_walks(edges([], 2), [1], 2, seed=1).walks.tolist() == [[1, -1, -1]]
    assert random_walks(edges([(0, 0)], 1), [0], 2, p=2, seed=1).walks.tolist() == [[0, 0, 0]]
    assert random_walks(karate(), [4], 0, seed=1).walks.tolist() == [[4]]
    assert random_walks(edges([(0, 1)], 2, 0.0), [0], 2, weighted=True, seed=1).walks.tolist() == [[0, -1, -1]]
    stopped = random_walks(karate(), [0], 9, seed=1, callback=lambda record: record["iteration"] == 2)
    assert (stopped.walks[0] >= 0).sum() == 3 and stopped.report.stopped_by == "callback"
    for options, error, message in (
        ({"starts": [34]}, IndexError, r"starts\[0\]: 34 is out of range"),
        ({"length": -1}, ValueError, "length: expected 0 or more, got -1"),
        ({"p": 0}, ValueError, "p: expected a number above 0, got 0"),
        ({"q": -1.0}, ValueError, "q: expected a number above 0, got -1.0"),
        ({"restart": 1.0}, ValueError, "restart: expected a number from 0 up to but without 1"),
        ({"seed": -1}, ValueError, "seed: expected 0 or more, got -1"),
        ({"seed": "x"}, TypeError, "seed: expected an int, got 'x'"),
    ):
        with pytest.raises(error, match=message):
            random_walks(karate(), **({"starts": [0], "length": 2} | options))
    for weight in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="weighted=True: expected finite weights >= 0, got .* to vertex 1"):
            random_walks(edges([(0, 1)], 2, weight), [0], 1, weighted=True)
    with pytest.raises(TypeError, match="weighted=True: weights must be real, got FC64"):
        random_walks(edges([(0, 1)], 2, 1j), [0], 1, weighted=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("more", [{}, {"p": 0.5, "q": 2.0}, {"restart": 0.5}])
def test_walks_in_a_graph_without_edges_end_where_they_begin(weighted, more):
    for n, sources in ((3, [0, 2, 0]), (1, [0])):
        walks = random_walks(gb.Matrix(float, n, n), sources, 3, weighted=weighted, seed=1, **more).walks
        assert walks[:, 0].tolist() == sources and ("restart" in more or (walks[:, 1:] == -1).all())
