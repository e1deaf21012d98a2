"""Compiled rounds of local moves against the vote and the backend's composition of it."""

import numpy as np
import pytest
from samples import matrix
from test_communities import BOTH, planted

import grb_tile as gb
from grb_tile.algorithms import local_moves
from grb_tile.backends.cpu.graph import communities as compiled_communities
from grb_tile.backends.select import current
from grb_tile.graph import communities
from grb_tile.hashing import key_of


def weighted_graph(rng, n):
    """A symmetric matrix of sums without rounding, without diagonal; an array of int64 flags, some 0."""
    i, j = rng.integers(0, n, (2, 4 * n))
    w = rng.integers(1, 9, 4 * n) / 4
    A = gb.Matrix.from_coo(np.r_[i, j], np.r_[j, i], np.r_[w, w], nrows=n, ncols=n, dup_op=gb.binary.plus)
    return communities.symmetric_rows(gb.select.offdiag(A).new()), (rng.random(n) < 0.7).astype(np.int64)


def flags_of(store):
    """1 for the entries of a vector, of a store."""
    return gb.Vector._from_store(store).to_dense(False).astype(int).tolist()


def looked_at_next(B, wants, moves):
    """1 for nodes that want to move or are next to one that does, of words of bits."""
    n = B.nrows
    wants, moves = (np.unpackbits(x.view(np.uint8), bitorder="little")[:n].astype(np.int64) for x in (wants, moves))
    return ((wants + (B.to_dense(0.0) > 0) @ moves) > 0).astype(np.int64).tolist()


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("part", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_a_compiled_round_is_the_vote_and_the_moves(seed, part, shared, monkeypatch):
    """A compiled move_round, whose votes threads may share, against graph.best_move and the backend's move_half."""
    if shared:
        monkeypatch.setattr("grb_tile.planner.tuning.PARALLEL_ROWS", 0)
        monkeypatch.setattr("grb_tile.backends.cpu.jit.cache.thread_count", lambda: 3)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    with gb.config.set(backend="cpu"), gb.plan(force="numba"):
        B, active = weighted_graph(rng, n)
        k, x = B.reduce_rowwise("plus").new().to_dense(0.0), rng.integers(0, max(n // 2, 1), n)
        u, key = k / 64, 12345 + seed
        K, own = np.bincount(x, k, n), rng.integers(0, 9, n) / 4
        active = active if part else np.ones(n, np.int64)
        before = own.copy()
        rows = gb.Vector.from_coo(np.flatnonzero(active), True, size=n)
        found = current().local_round(B._store, x, u, k, own, rows._store if part else None, key)
        vote = [v._store for v in gb.graph.best_move(B, *map(gb.Vector.from_dense, (x, u, K, k)), rows=rows)]
        after, sums, wants, moves, numbers = current().move_half(x, K, vote, rows._store, before, u, k, key)
    assert found is not NotImplemented and found[0].tolist() == after.tolist()
    assert own.tolist() == before.tolist() and found[1].tolist() == sums.tolist()
    assert np.allclose(found[3:], numbers, rtol=1e-12)
    assert flags_of(found[2]) == looked_at_next(B, wants, moves)


def test_a_round_is_composed_where_its_second_function_is_refused(monkeypatch):
    B, n = weighted_graph(np.random.default_rng(1), 20)[0], 20
    plain, k = compiled_communities.run, np.ones(n)
    given = B, np.arange(n), k / n, k, np.zeros(n), None, 5
    with gb.config.set(backend="cpu"), gb.plan(force="numba"):
        wanted = communities.move_round(*given)
        monkeypatch.setattr(compiled_communities, "run", lambda *a: plain(*a) if len(a) == 4 else NotImplemented)
        found = communities.move_round(*given)
    assert found.moving == wanted.moving and found.labels.tolist() == wanted.labels.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_compiled_rounds_of_joins_are_votes_and_joins(seed):
    """A compiled join_rounds against graph.best_move and the backend's join_half, round by round until none joins."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    with gb.config.set(backend="cpu"), gb.plan(force="numba"):
        B, _ = weighted_graph(rng, n)
        k, x = B.reduce_rowwise("plus").new().to_dense(0.0), rng.integers(0, 3, n)
        scale = 2.0 ** -np.ceil(np.log2(k.sum() + 1))  # about 1 / 2m, and products with it are exact
        u = k * scale
        E = communities.inside(B, x)
        within = E.reduce_rowwise("plus").new().to_dense(0.0)
        whole = np.bincount(x, k, n)[x]
        level = u, k, within, whole, within >= scale * k * (whole - k), scale
        first = int(rng.integers(0, 2**40))
        found = current().join_rounds(B._store, x, level, seed + 2**63, first)
        assert found is not NotImplemented
        y, own, active, rounds, wanting = np.arange(n), np.zeros(n), np.ones(n, np.int64), 0, 1
        while wanting:
            rounds += 1
            K, size = np.bincount(y, k, n), np.bincount(y, minlength=n)
            rows = gb.Vector.from_coo(np.flatnonzero(active), True, size=n)
            vote = [v._store for v in gb.graph.best_move(E, *map(gb.Vector.from_dense, (y, u, K, k)), rows=rows)]
            key = key_of(seed + 2**63, first + rounds)
            y, own, wants, moves, (wanting, _) = current().join_half(y, K, size, vote, rows._store, own, level, key)
            active = np.array(looked_at_next(E, wants, moves))
    assert found[0].tolist() == y.tolist() and found[1] == rounds


@BOTH
@pytest.mark.parametrize("seed", range(3))
def test_code_that_is_compiled_meanwhile_changes_nothing(method, seed, monkeypatch):
    """Rounds take turns between compiled loops and loops of calls, as when a kernel becomes ready on the way."""
    A = matrix(planted(5, 12, 0.5, 0.1, seed))
    wanted = method(A, seed=seed).to_numpy().tolist()
    rng = np.random.default_rng(seed)
    for name in ("local_round", "join_rounds"):
        plain = getattr(current(), name)
        monkeypatch.setitem(
            vars(current()), name, lambda *a, plain=plain: NotImplemented if rng.random() < 0.5 else plain(*a)
        )
    for few in (0, local_moves.FEW_ENTRIES):
        monkeypatch.setattr(local_moves, "FEW_ENTRIES", few)
        found = [method(A, seed=seed).to_numpy().tolist() for _ in range(3)]
        assert found[0] == found[1] == found[2]
    assert found[0] == wanted
