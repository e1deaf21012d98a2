"""Faults of the CUDA kernels of labels of rows, cores, strong components and orders; run by the CPU emulation."""

from . import Fault

CUDA = "tests/backends/cuda/"
ROWS = (CUDA + "test_row_labels.py",)
CORES = (CUDA + "test_cores.py",)
TRIANGLES = (CUDA + "test_triangles.py",)
LOOPS = ("tests/backends/cpu/test_graph_loops.py",)
TESTS = ROWS

FAULTS = [
    Fault(
        "kernels/graph/truss.cuh",
        "two edges of a triangle that go in one round both count it",
        "if (!f_goes && (!g_goes || e < g)) lose(f);",
        "if (!f_goes) lose(f);",
        TRIANGLES,
    ),
    Fault(
        "kernels/graph/truss.cuh",
        "an edge that went in an earlier round still makes triangles",
        "if (of_f != 0 && of_f < round) continue;",
        "",
        TRIANGLES,
    ),
    Fault(
        "kernels/products/masked_emit.cuh",
        "a match is counted at the entry after its own",
        "__popcll(of_word & ((bits & (0 - bits)) - 1))",
        "__popcll(of_word & bits & (0 - bits))",
        TRIANGLES,
    ),
    Fault(
        "kernels/products/masked_rows.cuh",
        "matches of a row that is looked up in a longer one are not counted",
        "      if (const word both = o.a_values[a_start + p] & o.b_values[start + q])\n"
        "        count_matches(o, start + q, o.b_values[start + q], both);",
        "      ;",
        TRIANGLES,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/peel_truss.py",
        "two edges of a triangle that go in one round both count it",
        "if gone[f] != here and (gone[g] != here or e < g):",
        "if gone[f] != here:",
        LOOPS,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/triangle_corners.py",
        "the corner in the middle is left out",
        "            count[j] += here\n",
        "",
        LOOPS,
    ),
    Fault(
        "kernels/communities/candidates.cuh",
        "of equal sums the label found first wins",
        "bool better = label == NO_LABEL || other > score || (other == score && c < label);",
        "bool better = label == NO_LABEL || other > score;",
    ),
    Fault(
        "kernels/communities/row_labels.cuh",
        "a full table loses labels",
        "if (__syncthreads_or(!fits)) {",
        "if (false) {",
    ),
    Fault(
        "kernels/communities/row_labels.cuh",
        "a label whose sum is the score that is reached is left out",
        "c != NO_LABEL && sum >= reached)",
        "c != NO_LABEL && sum > reached)",
    ),
    Fault(
        "kernels/communities/row_labels.cuh",
        "a table keeps the sums of the row before",
        "labels[s] = NONE, sums[s] = 0;\n      body(c, sum);",
        "labels[s] = NONE;\n      body(c, sum);",
    ),
    Fault(
        "kernels/communities/quotient.cuh",
        "a block loses what is in its table when its entries end",
        "      o.pairs[at] = pair, o.sums[at] = sum;\n      at++;\n    });\n",
        "      if (t < last) o.pairs[at] = pair, o.sums[at] = sum;\n      at++;\n    });\n",
        (CUDA + "test_quotient.py",),
    ),
    Fault(
        "kernels/communities/quotient.cuh",
        "an entry of the next row counts for the row of the one before",
        "const int32_t of_row = o.label[i];\n        const bool kept",
        "const int32_t of_row = o.label[row];\n        const bool kept",
        (CUDA + "test_quotient.py",),
    ),
    Fault(
        "kernels/communities/row_labels.cuh",
        "the last part of a row does not wait for the others",
        "if (atomicAdd(o.arrived + first, 1u) == parts - 1) {",
        "if (atomicAdd(o.arrived + first, 1u) == 0) {",
    ),
    Fault(
        "kernels/communities/row_labels.cuh",
        "the own label is no candidate before others of its score",
        "bool moves = best.label != NO_LABEL && best.score > kept;",
        "bool moves = best.label != NO_LABEL && best.score >= kept;",
    ),
    Fault(
        "kernels/communities/row_labels_bin.cuh",
        "rows that a bitmap leaves out are computed",
        "r < n && has_or_all(present, r) ?",
        "r < n ?",
        survives="results outside of the mask are not presented: the work is wasted, the entries are the same",
    ),
    Fault(
        "kernels/communities/move_rounds.cuh",
        "an entry between two vertices that move is seen from one side",
        "change += weight * (int(c == now) - int(o.before[j] == old));",
        "change += 2 * weight * (int(c == now) - int(o.before[j] == old));",
    ),
    Fault(
        "kernels/communities/join_rounds.cuh",
        "a node joins a part that moves itself",
        "moves = has(o.asks, i) && !has(o.asks, o.best[i]);",
        "moves = has(o.asks, i);",
    ),
    Fault(
        "kernels/communities/row_labels_bin.cuh",
        "labels beyond the columns are no fault",
        "if (there && !right && wrong != nullptr) *wrong = 1;",
        "if (there && c < 0 && wrong != nullptr) *wrong = 1;",
    ),
    Fault(
        "kernels/elementwise/one_pass.cuh",
        "blocks add maxima",
        "sum = block_reduce(sum, monoid, shared);",
        "sum = block_reduce(sum, [](double a, double b) { return a + b; }, shared);",
        (CUDA + "test_one_pass.py",),
    ),
    Fault(
        "kernels/graph/random_walks.cuh",
        "all edges are weighed one proposal late",
        "if (degree <= attempt) break;",
        "if (degree < attempt) break;",
        (CUDA + "test_random_walks.py",),
    ),
    Fault(
        "kernels/graph/random_walks.cuh",
        "sums of a row start again every 32 entries",
        "      double own = 0;\n",
        "      double own = 0;\n      sum = 0;\n",
        (CUDA + "test_random_walks.py",),
    ),
    Fault(
        "kernels/graph/random_walks.cuh",
        "a walk that ended starts again",
        "if (to >= 0 && o.restart > 0",
        "if (o.restart > 0",
        (CUDA + "test_random_walks.py",),
    ),
    Fault(
        "kernels/graph/topological.cuh",
        "a vertex is released by its first in-edge",
        "atomicSub(o.waits + u[j], 1) == 1;",
        "atomicSub(o.waits + u[j], 1) >= 1;",
        CORES,
    ),
    Fault(
        "kernels/graph/cores.cuh",
        "vertices beyond the queue are lost",
        "else o.next_spill[atomicAdd(&counters->spilled, 1u)] = u;",
        "else o.core[u] = k;",
        CORES,
    ),
    Fault(
        "kernels/graph/cores.cuh",
        "in-edges are not peeled",
        "for (int way = 0; way < 2; way++) {",
        "for (int way = 0; way < 1; way++) {",
        CORES,
    ),
    Fault(
        "kernels/graph/strong_components.cuh",
        "a loop counts as a way out",
        "return u != v && colour_of(u) == colour_of(v) ? 0u : NO_VERTEX;",
        "return colour_of(u) == colour_of(v) ? 0u : NO_VERTEX;",
        CORES,
        "colouring finds the same components: a vertex with a loop alone is its own root",
    ),
    Fault(
        "kernels/graph/strong_components.cuh",
        "vertices that reach another root are of its component",
        "const bool same = colour_of(u) == colour_of(w) && load_l2(o.least + u) == load_l2(o.least + w);",
        "const bool same = colour_of(u) == colour_of(w);",
        CORES,
    ),
    Fault(
        "kernels/graph/cuthill_mckee.cuh",
        "a vertex is the child of its last neighbour",
        "if (is_open(u)) atomicMin(o.parent + u, int(p));",
        "if (is_open(u)) o.parent[u] = int(p);",
        CORES,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/cuthill_mckee.py",
        "a matrix that is not symmetric is written beyond the rows of its workspace",
        "            if order[s] == ptr[s + 1]:\n                return -1\n",
        "",
        ("tests/backends/cpu/test_bounds.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/graph/bfs_multi_graph.py",
        "vertices that only a column names have no place in the arrays",
        "            self.live = n  # not symmetric",
        "            pass  # not symmetric",
        (CUDA + "test_bfs_multi.py",),
    ),
    Fault(
        "kernels/graph/level_loop.cuh",
        "levels beyond the record count no vertices",
        "lines[5] += frontier;",
        "lines[5] += 0;",
        (CUDA + "test_records.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/graph/cuthill_mckee.py",
        "a component whose search has ended gets another first vertex while others go on",
        "starts, depth = xp.where(grows, first, starts), xp",
        "starts, depth = first, xp",
        (CUDA + "test_cores.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/communities/row_labels.py",
        "one label for all columns is read as one for each",
        "A.ncols, bool(labels.iso), most",
        "A.ncols, False, most",
        ROWS,
    ),
    Fault(
        "kernels/graph/sssp_high_diameter.cuh",
        "a bound whose step rounding loses is not raised: the search never ends",
        "        if (bound <= K(nearest)) bound = K(nearest) + 1;\n",
        "",
        (CUDA + "test_sssp.py",),
    ),
]
