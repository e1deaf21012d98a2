"""Device functions of kernels/traversal by themselves, run as fibers: the cases that few graphs meet."""

import numpy as np
import pytest

from cuda_emulation.arrays import xp
from cuda_emulation.launcher import EmulatedLauncher
from support import seeds

SEARCH = """
namespace grb {
template <int = 0>
__global__ void search(const int32_t* row, int64_t begin, int64_t end, int32_t wanted, int32_t* found) {
  int who = -1;
  bool hit = first_match_by_warp<int64_t>(row, begin, end, who, [&](int u) { return u == wanted; });
  found[threadIdx.x] = hit ? who : -1;
}
}
"""
NUMBER = """
namespace grb {
template <int = 0>
__global__ void number(const int64_t* degree, int64_t* stop, int64_t* base, int32_t* vertex, int32_t* chunk) {
  int64_t mine = degree[threadIdx.x];
  word size = size_of_row(mine), sum = warp_inclusive_sum(size);
  number_edges(EdgeQueue<int64_t>{stop, base, chunk}, sum - size, int64_t(1000 * threadIdx.x), mine,
               [&](int64_t position) { vertex[position] = int32_t(threadIdx.x); });
}
}
"""
VISIT = """
namespace grb {
template <int = 0>
__global__ void visits(unsigned* bits, const int32_t* v, const bool* take, bool* fresh, int64_t n) {
  for (int64_t i = threadIdx.x; i < n; i += 32) fresh[i] = visit_by_warp(bits, v[i], take[i]);
}
}
"""
RAISED = """
namespace grb {
template <class K, bool REAL> __global__ void raised(const K* bound, const K* step, K* out, int64_t n) {
  GRB_EACH(i, n) out[i] = path_raised<K, REAL>(bound[i], step[i]);
}
}
"""
HOOK = """
#include "graph/level_loop.cuh"
namespace grb {
unsigned *arrived, loads[2];                   // of each block in this turn
template <class T> T load_together(const T* p) {           // both blocks do their third load before either goes on
  T value = load_l2(p);
  if (++loads[blockIdx.x] == 3) {
    unsigned goal = (atomicAdd(arrived, 1u) / 2 + 1) * 2;
    for (int k = 0; k < 1000000 && atomicAdd(arrived, 0u) < goal; k++) __nanosleep(20);
  }
  return value;
}
}
#define load_l2 load_together
#include "graph/components.cuh"
#undef load_l2
namespace grb {
template <int = 0>
__global__ void hook(int32_t* tree, int64_t turns, unsigned* counter) {
  arrived = counter;
  for (int64_t k = 0; k < turns; k++) {
    loads[blockIdx.x] = 0;
    link(tree, int(3 * k + 2), int(3 * k + blockIdx.x));
  }
}
}
"""


def kernel(header, name, source, template=()):
    return EmulatedLauncher().kernel(f"graph/{header}.cuh", name, source, template)


def test_a_warp_searches_each_entry_of_a_row():
    """The match is found wherever it lies, and not one before the row, nor one behind it."""
    row, search = xp.arange(200, dtype=np.int32), kernel("pull", "search", SEARCH)
    found = xp.zeros(32, np.int32)
    for begin, end in ((0, 200), (3, 131), (5, 69), (7, 40), (9, 9)):
        for wanted in range(200):
            search(1, 32, (row, begin, end, np.int32(wanted), found))
            assert found.tolist() == [wanted if begin <= wanted < end else -1] * 32, (begin, end, wanted)


def test_each_chunk_of_the_edges_gets_its_owner():
    """Rows of 32, 33 and 34 chunks, where the warp takes over from the lane, and short ones between them."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 33])
    number = kernel("frontier", "number", NUMBER)
    exact = np.zeros(32, np.int64)
    exact[:3] = 100, 4200, 50  # the second owns exactly the chunks 1 to 33
    for degree in (exact, rng.integers(31 * 128, 35 * 128, 32), rng.integers(0, 3, 32) * rng.integers(0, 5000, 32)):
        held, ends = np.flatnonzero(degree), np.cumsum(degree[degree > 0])
        chunks = -(-int(ends[-1]) // 128)
        stop, base, vertex = xp.zeros(32, np.int64), xp.zeros(32, np.int64), xp.zeros(32, np.int32)
        chunk = xp.asarray(np.full(chunks + 1, -1, np.int32))
        number(1, 32, (xp.asarray(degree), stop, base, vertex, chunk))
        assert vertex.tolist()[: held.size] == held.tolist() and stop.tolist()[: held.size] == ends.tolist()
        assert base.tolist()[: held.size] == (1000 * held - (ends - degree[held])).tolist()
        owners = np.searchsorted(ends, 128 * np.arange(chunks), side="right")
        assert chunk.tolist() == [*owners.tolist(), -1]


def test_a_vertex_that_a_warp_meets_twice_is_visited_once():
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 34])
    count = 32 * 40
    v = np.sort(rng.integers(0, 300, (40, 32)), axis=1).astype(np.int32)
    v[::4] = v[::4] // 40 * 40  # few vertices, many lanes each
    take, before = rng.random((40, 32)) < 0.8, rng.integers(0, 2**32, 10, np.uint32) & np.uint32(0x11111111)
    bits, fresh = xp.asarray(before.copy()), xp.zeros(count, bool)
    visits = kernel("visited", "visits", VISIT)
    visits(1, 32, (bits, xp.asarray(v.ravel()), xp.asarray(take.ravel()), fresh, count))
    held = np.unpackbits(before.view(np.uint8), bitorder="little").astype(bool)
    taken = np.unique(v[take])
    new = v.ravel()[fresh.get()]
    assert sorted(new.tolist()) == taken[~held[taken]].tolist()  # each once
    held[taken] = True
    assert np.unpackbits(bits.get().view(np.uint8), bitorder="little").astype(bool).tolist() == held.tolist()


@pytest.mark.parametrize(("key", "real"), [("unsigned", False), ("word", False), ("unsigned", True), ("word", True)])
@pytest.mark.sampled(1)
def test_a_bound_beyond_the_type_is_no_bound(key, real):
    type_ = np.dtype(np.uint32 if key == "unsigned" else np.uint64)
    numbers = np.dtype(np.float32 if key == "unsigned" else np.float64) if real else type_
    most = np.finfo(numbers).max if real else np.iinfo(numbers).max - 1
    bound = np.array([1, most, most, 7, most // 2 + 3], numbers)
    step = np.array([2, 1 if not real else most, most, 0, most // 2 + 3], numbers)
    out = xp.zeros(5, type_)
    raised = kernel("sssp_state", "raised", RAISED, (key, "true" if real else "false"))
    raised(1, 32, (xp.asarray(bound.view(type_)), xp.asarray(step.view(type_)), out, 5))
    with np.errstate(over="ignore"):
        sums = bound + step
        wanted = np.where(~np.isfinite(sums) if real else sums < bound, type_.type(-1 % 2 ** (8 * type_.itemsize)),
                          sums.view(type_))  # fmt: skip
    assert out.tolist() == wanted.tolist()
    assert (wanted == np.iinfo(type_).max).any()


def test_two_threads_that_hook_the_same_root():
    """Two blocks link a root with two smaller vertices; both see that it is a root before either hooks it."""
    turns = 50
    tree = xp.arange(3 * turns, dtype=np.int32)
    hook = EmulatedLauncher().kernel(None, "hook", HOOK)
    hook(2, 1, (tree, turns, xp.zeros(1, np.uint32)), cooperative=True)
    roots = tree.get().reshape(turns, 3) - 3 * np.arange(turns, dtype=np.int32)[:, None]
    roots = np.take_along_axis(roots, np.take_along_axis(roots, roots, 1), 1)
    assert not roots.any()  # no link is lost
