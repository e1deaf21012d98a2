"""Faults of the CUDA kernels of whole loops; tests/backends/cuda runs their source by the CPU emulation."""

from . import Fault

CUDA = "tests/backends/cuda/"
BFS = (CUDA + "test_bfs.py",)
SMALL_LEVELS = (CUDA + "test_bfs_small_levels.py",)
SMALL_ROUNDS = (CUDA + "test_sssp_small_rounds.py",)
MULTI = (CUDA + "test_bfs_multi.py",)
SSSP = (CUDA + "test_sssp.py",)
COMPONENTS = (CUDA + "test_components.py",)
FUNCTIONS = (CUDA + "test_traversal_functions.py",)
TESTS = BFS

FAULTS = [
    Fault(
        "kernels/graph/frontier.cuh",
        "a vertex of exactly 33 chunks has no owner entries",
        "  for_each_lane(last - c >= 32, [&](int lane) {",
        "  for_each_lane(last - c > 32, [&](int lane) {",
        FUNCTIONS + BFS,
    ),
    Fault(
        "kernels/graph/frontier.cuh",
        "the edge at a row's end belongs to the next vertex",
        "my_stop < e0 + 32 ? 1u << (my_stop - e0) : 0u",
        "my_stop < e0 + 31 ? 1u << (my_stop - e0 + 1) : 0u",
        BFS,
    ),
    Fault(
        "kernels/graph/pull.cuh",
        "a pull by a warp skips entry 32",
        "P a = i + lane_number(), b = a + 32;",
        "P a = i + lane_number(), b = a + 33;",
        FUNCTIONS + BFS,
    ),
    Fault(
        "kernels/graph/pull.cuh",
        "a lane reads past the row's end",
        "near[k] = in[i + k < end ? i + k : i];",
        "near[k] = in[i + k];",
        BFS,
    ),
    Fault(
        "kernels/graph/bfs_pull.cuh",
        "each segment of a hub's row loses its last entry",
        "end = P(first + length * (k + 1) / segments);",
        "end = P(first + length * (k + 1) / segments - 1);",
        BFS,
    ),
    Fault(
        "kernels/graph/pull_four.cuh",
        "the next-highest neighbours: the fourth is not looked at",
        "unsigned among = there(few.x, 0) | there(few.y, 1) | there(few.z, 2) | there(few.w, 3);",
        "unsigned among = there(few.x, 0) | there(few.y, 1) | there(few.z, 2);",
        survives="the search of the row that follows finds that neighbour: any visited one may be the parent",
    ),
    Fault(
        "kernels/graph/bfs_push.cuh",
        "a full staging queue loses its vertices",
        "    if (!__any_sync(ALL_LANES, over)) return;\n    enqueue(q, over, v, [&](word size) {",
        "    if (__any_sync(ALL_LANES, over)) return;\n    enqueue(q, over, v, [&](word size) {",
        BFS,
    ),
    Fault(
        "kernels/graph/bfs_push.cuh",
        "from pull to push: the last words of the bitmap are left out",
        "    int64_t count = (g.n + 31) >> 5;\n    for (int64_t w0 = warp * 32;",
        "    int64_t count = g.n >> 5;\n    for (int64_t w0 = warp * 32;",
        BFS,
    ),
    Fault(
        "kernels/graph/bfs_small.cuh",
        "a vertex that does not fit into the block's queue is lost",
        "push.stage(takes && !fits, near, q);",
        "push.stage(false, near, q);",
        SMALL_LEVELS,
    ),
    Fault(
        "kernels/graph/bfs_small.cuh",
        "the grid does not get the last vertex of the block's queue",
        "const unsigned held = count < SMALL_VERTICES ? count : SMALL_VERTICES;",
        "const unsigned held = count < SMALL_VERTICES ? count - 1 : SMALL_VERTICES;",
        SMALL_LEVELS,
    ),
    Fault(
        "kernels/graph/bfs_small.cuh",
        "an edge at a row's end belongs to the vertex before",
        "if (stop[middle] <= e) low = middle + 1; else high = middle;",
        "if (stop[middle] < e) low = middle + 1; else high = middle;",
        SMALL_LEVELS,
    ),
    Fault(
        "kernels/graph/bfs.cuh",
        "small levels: the edges that were pushed do not count as explored",
        "        s.explored += s.edges;\n        search.depth",
        "        search.depth",
        SMALL_LEVELS,
    ),
    Fault(
        "kernels/graph/bfs.cuh",
        "small levels go on beyond the target",
        "s.depth > a.max_level || made.hit || !is_small()",
        "s.depth > a.max_level || !is_small()",
        SMALL_LEVELS,
    ),
    Fault(
        "kernels/graph/bfs_small.cuh",
        "a path's level: of equal ends each lane takes its own",
        "won = won && __ffs(int(peers)) - 1 == int(e);",
        "won = won && __ffs(int(peers)) - 1 <= int(e);",
        SMALL_LEVELS,
    ),
    Fault(
        "kernels/graph/bfs_small.cuh",
        "a path's level: an edge at a row's end belongs to the vertex before",
        "__popc(ended & ((2u << e) - 1))",
        "__popc(ended & ((1u << e) - 1))",
        SMALL_LEVELS,
    ),
    Fault(
        "kernels/graph/sssp_relax.cuh",
        "a path's round: of equal ends the farthest is kept",
        "(theirs < there || (theirs == there && other < int(lane)))",
        "(theirs > there || (theirs == there && other < int(lane)))",
        SMALL_ROUNDS,
    ),
    Fault(
        "kernels/graph/sssp_relax.cuh",
        "a path's round: vertices do not become active",
        "        active[rank_in(starts)] = v;",
        "",
        SMALL_ROUNDS,
    ),
    Fault(
        "kernels/graph/sssp.cuh",
        "small rounds: a queue that is not small is forgotten",
        "        leaves = count || !listed",
        "        if (alone) count = 0;\n        leaves = count || !listed",
        SMALL_ROUNDS,
    ),
    Fault(
        "kernels/graph/level_loop.cuh",
        "counters of the third slot stay for the next traversal",
        "for (int k = 0; k < 3; k++) control->slot[k] = Slot{};",
        "for (int k = 0; k < 2; k++) control->slot[k] = Slot{};",
        BFS,
    ),
    Fault(
        "kernels/graph/level_loop.cuh",
        "the next slot is not zeroed",
        "if (block == 0 && threadIdx.x == 0) control->slot[(phase + 1) % 3] = Slot{};",
        "if (block == 0 && threadIdx.x == 0 && phase < 2) control->slot[(phase + 1) % 3] = Slot{};",
        BFS,
    ),
    Fault(
        "kernels/graph/brandes.cuh",
        "shares are added to the wrong vertex of a warp",
        "const bool last = lane == 31 || (heads >> (lane + 1) & 1);\n  if (last && share != 0)",
        "const bool last = lane == 31 || (heads >> lane & 1);\n  if (last && share != 0)",
        (CUDA + "test_brandes.py",),
    ),
    Fault(
        "kernels/graph/brandes.cuh",
        "an edge within a level counts",
        "if (near[i] >= 0 && load_l2(depth + near[i]) != k + 1) near[i] = -1;",
        "if (near[i] >= 0 && load_l2(depth + near[i]) < k) near[i] = -1;",
        (CUDA + "test_brandes.py",),
    ),
    Fault(
        "kernels/graph/visited.cuh",
        "visit_by_warp: a lane's own earlier neighbour is forgotten",
        "return take && !((old | before) & bit);",
        "return take && !(old & bit);",
        FUNCTIONS + BFS,
    ),
    Fault(
        "kernels/graph/visited.cuh",
        "the other visited set is not cleaned",
        "    zeros[i] = 0;\n",
        "",
        BFS,
    ),
    Fault(
        "kernels/graph/components.cuh",
        "hooking by a plain store",
        "(above == high && atomicCAS(&tree[high], high, low) == high)) return low;",
        "(above == high && (tree[high] = low, true))) return low;",
        FUNCTIONS + COMPONENTS,
    ),
    Fault(
        "kernels/graph/components.cuh",
        "of long rows only the first 32 neighbours are linked",
        "__any_sync(ALL_LANES, k < stop); k += 32) {",
        "__any_sync(ALL_LANES, k < stop); k = stop) {",
        COMPONENTS,
    ),
    Fault(
        "kernels/graph/components.cuh",
        "rows of the other direction are not linked",
        "    if (more != nullptr) link_rows(more_start, more, skip);\n",
        "",
        COMPONENTS,
    ),
    Fault(
        "kernels/graph/bfs_multi.cuh",
        "a fifth digit of the levels is not cleared",
        "      GRB_EACH(k, a.n * 4) group[k] = 0;\n",
        "",
        MULTI,
    ),
    Fault(
        "kernels/graph/bfs_multi.cuh",
        "the last segment of four short rows is pushed by three lanes",
        "for (P k = begin + 4 * (lane & 7); mine && k < stop; k += 32) push_four(theirs, k);",
        "for (P k = begin + 4 * (lane & 7); mine && k + 4 < stop; k += 32) push_four(theirs, k);",
        MULTI,
    ),
    Fault(
        "kernels/graph/sssp_relax.cuh",
        "entries as heavy as the bound stay out of the next segment",
        "      if (REAL ? s < limit : s <= limit) from = row.end[k];",
        "      from = row.end[k];",
        SSSP,
    ),
    Fault(
        "kernels/graph/sssp_relax.cuh",
        "vertices with more entries do not stay active",
        "(to < row.length() || sum(d, out[first + row.length() - 1].weight(shift)) >= bound);",
        "to < row.length();",
        SSSP,
    ),
    Fault(
        "kernels/graph/sssp_relax.cuh",
        "an improved vertex keeps its membership bit",
        "        atomicAnd(&g.in_list[v >> 5], ~bit);\n",
        "",
        SSSP,
    ),
    Fault(
        "kernels/graph/sssp_tree.cuh",
        "long rows are searched without their first entries' order",
        "        if (hits || !__all_sync(ALL_LANES, lighter)) break;",
        "        break;",
        SSSP,
    ),
    Fault(
        "kernels/graph/sssp_state.cuh",
        "the bound wraps around",
        "    return s < bound ? ~K(0) : s;",
        "    return s;",
        FUNCTIONS + SSSP,
    ),
]
