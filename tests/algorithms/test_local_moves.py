"""Rounds of local moves: compiled loops against their composition, and a round against plain loops."""

import numpy as np
import pytest
from samples import matrix
from test_communities import BOTH, planted

import grb_tile as gb
from grb_tile import community_rounds as rounds
from grb_tile.backends.cpu.graph import communities as compiled_communities
from grb_tile.backends.select import current
from grb_tile.graph import communities, local_moves
from grb_tile.hashing import key_of, mixed_by

LOOPS = "move_rounds", "join_rounds", "settle", "quotient"


def weighted_graph(rng, n):
    """A symmetric matrix of sums without rounding, without diagonal."""
    i, j = rng.integers(0, n, (2, 3 * n))
    w = rng.integers(1, 9, 3 * n) / 4
    A = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.r_[w, w], nrows=n, ncols=n, dup_op=gb.binary.plus)
    return communities.symmetric_rows(gb.select.offdiag(A).new())


def level(seed, most=60):
    """(rng, B, k, u, Measure) of a random graph; scores are exact."""
    rng = np.random.default_rng(seed)
    B = weighted_graph(rng, int(rng.integers(2, most)))
    k = B.reduce_rowwise("plus").new().to_dense(0.0)
    total = 2.0 ** np.ceil(np.log2(k.sum() + 1))
    return rng, B, k, k / total, rounds.Measure(0.0, total, 1.0)


def without_loops(monkeypatch):
    """The backend in use has none of the loops."""
    for name in LOOPS:
        monkeypatch.setitem(vars(current()), name, lambda *a, **more: NotImplemented)


def confirmed(right):
    assert right


def listed(steps):
    """What a loop yields, as lists."""
    return [[x.tolist() if isinstance(x, np.ndarray) else x for x in step] for step in steps]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_compiled_rounds_are_votes_and_moves(seed, alone, shared, monkeypatch):
    """A compiled move_rounds, whose votes threads may share, round by round."""
    if shared:
        monkeypatch.setattr(compiled_communities, "SHARED", 0)
        monkeypatch.setattr("grb_tile.backends.cpu.jit.cache.thread_count", lambda: 3)
    with gb.config.set(backend="cpu"), gb.plan(force="numba"):
        rng, B, k, u, measure = level(seed)
        x = None if alone else rng.integers(0, max(B.nrows // 2, 1), B.nrows)
        given = B, x, u, k, (measure, 1e-7, 1e-3), seed + 2**63, int(rng.integers(0, 2**40))
        assert current().move_rounds(B._store, *given[1:], True) is not NotImplemented
        found = listed(local_moves.move_rounds(*given, each=True))
        whole = listed(local_moves.move_rounds(*given))
        without_loops(monkeypatch)
        wanted = listed(local_moves.move_rounds(*given, each=True))
    assert [step[2] for step in found if step[2]] == [step[2] for step in wanted if step[2]]
    assert found[-1][:2] == wanted[-1][:2] == whole[-1][:2] and sum(len(step[2]) for step in found) > 0
    assert [record for step in whole for record in step[2]] == [record for step in wanted for record in step[2]]
    assert [step[0] for step in found[: len(wanted)]] == [step[0] for step in wanted[: len(found)]]


@pytest.mark.parametrize("seed", range(12))
def test_compiled_joins_are_votes_and_joins(seed, monkeypatch):
    with gb.config.set(backend="cpu"), gb.plan(force="numba"):
        rng, B, k, _, measure = level(seed)
        x = rng.integers(0, 3, B.nrows)
        given = B, x, k, 1 / measure.total, seed, int(rng.integers(0, 2**40))
        assert current().join_rounds(B._store, *given[1:]) is not NotImplemented
        y, count = local_moves.join_rounds(*given)
        without_loops(monkeypatch)
        wanted, wanted_count = local_moves.join_rounds(*given)
    assert y.tolist() == wanted.tolist() and count == wanted_count
    assert all(x[i] == x[y[i]] and y[y[i]] == y[i] for i in range(B.nrows))


@pytest.mark.parametrize("seed", range(12))
def test_compiled_settling_is_its_rounds(seed, monkeypatch):
    with gb.config.set(backend="cpu"), gb.plan(force="numba"):
        rng, B, k, u, measure = level(seed, 40)
        x = rng.integers(0, max(B.nrows // 3, 1), B.nrows)
        given = B, x, u, k, (measure, 1e-7 * measure.total, 2.0, confirmed)
        assert current().settle(B._store, *given[1:], True) is not NotImplemented
        found, whole = listed(local_moves.settle(*given, each=True)), listed(local_moves.settle(*given))
        without_loops(monkeypatch)
        wanted = listed(local_moves.settle(*given, each=True))
    records = [record for step in wanted for record in step[1]]
    for ours in (found, whole):
        ended = [record for step in ours for record in step[1]]
        assert [moved for _, moved in ended] == [moved for _, moved in records]
        assert np.allclose([q for q, _ in ended], [q for q, _ in records], rtol=0, atol=1e-12)
    assert found[-1][0] == whole[-1][0] == wanted[-1][0]


@pytest.mark.parametrize("seed", range(6))
def test_the_compiled_quotient_is_the_product(seed, monkeypatch):
    with gb.config.set(backend="cpu"), gb.plan(force="numba"):
        rng, B, *_ = level(seed)
        y, count = communities.labels_in_order(rng.integers(0, max(B.nrows // 2, 1), B.nrows))
        plus = gb.binary.plus["FP64"]
        assert current().quotient(B._store, y, count, plus, False) is not NotImplemented
        found = communities.quotient(B, y, count, inner=False)
        without_loops(monkeypatch)
        assert found.isequal(communities.quotient(B, y, count, inner=False))
        assert found.isequal(gb.select.offdiag(communities.quotient(B, y, count)).new())


@pytest.mark.parametrize("seed", range(8))
def test_a_round_by_plain_loops(seed):
    """Who moves, sums, the slack and what is looked at next, of random votes."""
    rng, B, k, _, _ = level(seed, 30)
    n, W = B.nrows, B.to_dense(0.0)
    x, best = rng.integers(0, 4, (2, n))
    at, gain = np.flatnonzero(rng.random(n) < 0.7), rng.integers(-9, 9, n).astype(float)
    slack, used, key = rng.integers(0, 5, n).astype(float), rng.integers(0, 3, n).astype(float), key_of(seed, 5)
    K = np.bincount(x, k, n)
    with gb.config.set(backend="cpu"):
        found = current().move_half(B._store, x, K, at, (best[at], gain[at]), slack, used, k, key)
    wants = [i for i in at if gain[i] > 0]
    stay = [i for i in wants if int(mixed_by(np.array([i], np.uint64), key)[0]) >> 61 == 7]
    movers = [i for i in wants if i not in stay]
    after, slack, used = x.copy(), slack.copy(), used.copy()
    for i in at:
        slack[i], used[i] = -gain[i], 0.0
    for i in movers:
        after[i], slack[i] = best[i], 0.0
    for i in movers:
        for j in range(n):
            if j not in movers and W[i, j] and x[j] != after[i]:
                used[j] += W[i, j] * (1 + (x[i] == x[j]))
    near = {j for i in movers for j in range(n) if W[i, j] and j not in movers and used[j] > slack[j]}
    near = {j for j in near if any(W[i, j] and after[i] != x[j] for i in movers)} | set(stay)
    within = [float(W[y[:, None] == y[None, :]].sum()) for y in (x, after)]
    names = "labels", "K", "slack", "used", "near"
    for name, ours, theirs in zip(names, found, (after, np.bincount(after, k, n), slack, used, None), strict=False):
        if theirs is not None:
            assert ours.tolist() == theirs.tolist(), name
    assert set(np.flatnonzero(found[4]).tolist()) == {int(j) for j in near}
    assert found[5] == within[1] - within[0] and found[6:] == (len(wants), len(movers))


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_code_that_is_compiled_meanwhile_changes_nothing(method, seed, monkeypatch):
    """Compiled loops and loops of calls take turns, as when a kernel becomes ready on the way."""
    if current().on_device:
        pytest.skip("a device has these loops whole")
    A = matrix(planted(5, 12, 0.5, 0.1, seed))
    wanted = method(A, seed=seed).to_numpy().tolist()
    rng = np.random.default_rng(seed)
    for name in LOOPS:
        plain = getattr(current(), name)
        monkeypatch.setitem(
            vars(current()), name, lambda *a, plain=plain: NotImplemented if rng.random() < 0.5 else plain(*a)
        )
    for _ in range(4):
        assert method(A, seed=seed).to_numpy().tolist() == wanted
