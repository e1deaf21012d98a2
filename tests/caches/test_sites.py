"""Every place of the source that keeps something is known here, with what asks it for two things: a new one fails."""

import pytest

from caches import test_asked_in_turn, test_kept_forms
from caches.sites import all_sites, sites_of

ALONE = "has no argument beside the store: what it holds cannot be asked for in two ways"
OPTIONS = "kept with a matrix: test_cached_properties.py of tests/algorithms writes to it, test_options.py draws them"
RANKS = "tests/distributed/test_searches.py asks for it with in-edges and without, in windows that grow"
LOOP = "kept with a captured loop and the operands themselves: test_program_matrices.py runs loops at random"
KNOWN = "tests/distributed/test_known.py has other vectors, semirings and masks, one product after another"
PROCESS = "a table of names or of the process, not of operands"

FORMS = {  # site: a row of test_kept_forms.FORMS
    "storage/tiled.py: tiled_of": "storage tiled_of", "storage/bit_tiles.py: bit_tiles_of": "storage bit_tiles_of",
    "backends/cpu/compiled/binned.py: form_of": "cpu bins",
    "backends/cuda/products/spmm.py: _presence": "spmm rows_present",
    "backends/cuda/products/spmm.py: long_rows": "spmm long_rows",
    "backends/cuda/products/spmm_rounded.py: _tiles_or_reason": "spmm_rounded tiles",
    "backends/cuda/products/spmm_slabs.py: column_slabs_of": "spmm_slabs slabs",
    "backends/cuda/products/tiles.py: tiled_of": "tiles tiled_of",
    "backends/cuda/products/tiles.py: bit_tiles_of": "tiles bit_tiles_of",
    "backends/cuda/products/tiles.py: tiled_vector_of": "tiles tiled_vector_of",
    "backends/cuda/products/row_schedule.py: schedule_of": "schedule_of",
    "backends/cuda/graph/bfs_tiles.py: graph_of": "bfs tiles",
}  # fmt: skip
QUESTIONS = {  # site: beginnings of questions of test_asked_in_turn.py
    "backends/cpu/compiled/transpose_and_merge.py": ("ewise of vectors",),
    "backends/cpu/compiled/kronecker.py": ("kronecker",),
    "backends/cpu/compiled/bound.py": ("ewise of vectors",), "backends/cpu/compiled/bound_matvec.py": ("mxv", "vxm"),
    "backends/cpu/compiled/bound_merge.py": ("ewise of vectors",),
    "backends/cpu/compiled/bound_matmul.py": ("mxm",), "backends/cpu/compiled/gather.py": ("ranges of a matrix",),
    "backends/cpu/compiled/bound_overwrite.py": ("a matrix written inside a mask",),
    "backends/cpu/compiled/matvec.py": ("mxv", "vxm", "mxm"), "backends/cpu/compiled/merging.py": ("ewise",),
    "backends/cpu/compiled/matvec.py: _spare = {}": ("vxm: type", "vxm: operator", "mxm: type"),
    "backends/cpu/compiled/matvec.py: _ones = {}": ("mxv: type", "vxm: type"),
    "backends/cpu/compiled/selection.py": ("select",), "backends/cpu/jit/cache.py: _kernels = {}": ("bfs", "sssp"),
    "backends/cpu/vectorised/entries.py: _plain_keys": ("ewise", "select: index type"),
    "backends/cpu/vectorised/matmul.py: _block": ("mxm",),
    "backends/cuda/elementwise/values.py: functor_text": ("ewise: operator", "select: operator"),
    "backends/cuda/lowering/semirings.py: _cache = {}": ("mxv: operator", "mxv: type", "mxv: iso"),
    "backends/cpu/jit/operators.py: _one": ("mxv: type", "vxm: type"),
    "backends/cuda/elementwise/bound.py: of_one": ("apply to vectors",),
    "backends/cuda/elementwise/bound.py: of_pair": ("ewise of vectors",),
    "backends/cuda/elementwise/bound.py: of_indexed": ("select from vectors",),
    "backends/cuda/elementwise/bound.py: of_union": ("ewise of vectors",),
    "backends/cuda/elementwise/mapping.py: reduce": ("reduce of vectors",),
    "backends/cuda/elementwise/overwrite.py: _prepared": ("a number written into a vector",),
    "backends/cuda/elementwise/overwrite.py: put_region": ("a region written into",),
    "backends/planned.py: PlannedProducts.mxv": ("mxv", "vxm"),
    "backends/cuda/products/bound_rows.py: bind_rows": ("mxv: operator", "mxv: type", "mxv: iso"),
    "backends/cuda/products/column_launch.py: Merge.__init__": ("vxm: form", "vxm: type"),
    "backends/cuda/products/column_launch.py: merge_of": ("vxm: mask", "vxm: form", "vxm: operator"),
    "backends/cuda/products/columns.py: _taken": ("vxm: form", "vxm: mask"),
    "backends/cuda/graph/bfs_graph.py: graph_of": ("bfs: results", "bfs: levels"),
    "backends/cuda/graph/bfs_multi.py: _workspace": ("bfs_multi: sources",),
    "backends/cuda/graph/bfs_multi_graph.py: multi_graph_of": ("bfs_multi: sources",),
    "backends/cuda/graph/outcome.py: _layout": ("bfs: results",),
    "backends/cuda/graph/sssp_graph.py: graph_of": ("sssp: source", "sssp: delta", "sssp: weights"),
    "operations/write.py: true_entries": ("a mask's true entries", "mxm: mask"),
    "operators/resolve.py: typed_semiring": ("mxv: type", "mxv: operator"),
    "storage/convert.py: keep_symmetric": ("bfs: source",), "storage/convert.py: keep_transpose": ("mxm: side",),
    "storage/dense.py: by_rows": ("dense matrices: order",), "storage/dense.py: in_order": ("dense matrices: order",),
    "planner/choose_direction.py: _with_one_orientation": ("mxv: direction", "vxm: direction"),
}  # fmt: skip
REASONS = {
    RANKS: """
        backends/cuda/graph/bfs_ranks.py: _Graph.of, backends/distributed/searches.py: Searches._search_graph
    """,
    KNOWN: "backends/distributed/products.py: _known_of_product",
    ALONE: """
        backends/cpu/compiled/bound.py: mask_words, backends/cpu/compiled/bound.py: matrix_kind,
        backends/cpu/compiled/hypersparse.py: _is_due, storage/convert.py: columns_of,
        backends/cpu/graph/bfs.py: empty_row_words, backends/cuda/products/bitblocks.py: spmv_blocks_of,
        backends/cuda/products/columns.py: edges_of, backends/cuda/products/matvec.py: occupied_words,
        backends/cuda/products/pull.py: form_of, backends/cuda/products/row_schedule.py: highest_degree_neighbours,
        backends/cuda/structure/rows.py: longest_row, backends/cuda/products/row_schedule.py: pointers,
        backends/cuda/products/rows_as_words.py: kept_as_words,
        backends/cuda/products/segments.py: reads_most, backends/cuda/products/segments.py: segments_of,
        backends/cuda/products/tile_blocks.py: bit_blocks_of, backends/cuda/products/tile_blocks.py: entries_per_block,
        backends/cuda/products/tiles.py: tile_facts, backends/cuda/runtime/device.py: Device.iso_value,
        backends/cuda/runtime/device.py: Device.to_device, backends/cuda/structure/arrays.py: to_bitmap,
        backends/cuda/structure/arrays.py: words_of, backends/cuda/graph/dispatch.py: _format_of,
        backends/cuda/graph/fixpoint.py: _tasks,
        backends/cuda/graph/strong_components.py: _pivot, planner/choose_matvec.py: _of_small,
        backends/distributed/backend.py: DistributedBackend._check_equal,
        backends/distributed/backend.py: DistributedBackend._local,
        backends/distributed/backend.py: DistributedBackend.part,
        backends/distributed/backend.py: DistributedBackend.transpose,
        backends/distributed/backend.py: DistributedBackend.whole,
        backends/distributed/products.py: DistributedProducts._wants_transpose,
        backends/distributed/label_rounds.py: LabelRounds._rows_on_host,
        backends/distributed/whole_loops.py: WholeLoops._kept_whole,
        backends/distributed/whole_loops.py: WholeLoops._whole_for,
        backends/distributed/whole_loops.py: WholeLoops.whole_for_product,
        backends/distributed/whole_loops.py: WholeLoops.drawn_rows,
        backends/distributed/searches.py: Searches._rows_of,
        backends/distributed/whole_loops.py: WholeLoops._own, backends/distributed/whole_loops.py: WholeLoops.bfs,
        backends/distributed/products.py: DistributedProducts._everywhere_for,
        backends/distributed/products.py: DistributedProducts.reduce_mxm,
        graph/operands.py: mark_each_once,
        planner/choose_matvec_gpu.py: _try_tiles, planner/statistics.py: _degrees, planner/statistics.py: sample_of,
        storage/bit_tiles.py: bit_blocks_of, storage/convert.py: occupied, storage/convert.py: occupied_words,
        storage/convert.py: row_ids, storage/convert.py: words_of, storage/place.py: host,
        storage/place.py: is_read_alone, storage/work.py: _keep
    """,
    OPTIONS: """
        algorithms/degrees.py: overall_reciprocity, algorithms/graph.py: Graph.__init__,
        algorithms/graph.py: Graph.emax, algorithms/iteration.py: turns_of,
        algorithms/graph.py: Graph.emin,
        algorithms/graph.py: Graph.in_degree, algorithms/graph.py: Graph.keep, algorithms/graph.py: Graph.nself,
        algorithms/graph.py: Graph.out_degree, algorithms/graph.py: Graph.weights_as,
        graph/operands.py: own_transpose, graph/properties.py: cached, graph/properties.py: is_symmetric_structure,
        storage/properties.py: cached,
        backends/cpu/graph/communities.py: _values, backends/cuda/communities/local_moves.py: _votes,
        backends/cuda/communities/row_labels.py: whole_weights,
        algorithms/clustering.py: _either, algorithms/coloring.py: coloring,
        algorithms/core_number.py: _cores, algorithms/label_propagation.py: _votes,
        algorithms/label_propagation.py: label_propagation,
        algorithms/k_truss.py: k_truss, algorithms/louvain.py: search,
        algorithms/louvain.py: symmetric_weights, algorithms/modularity.py: weights,
        algorithms/pagerank.py: Walk.__init__, algorithms/paths.py: ego_graph,
        algorithms/pattern.py: loopless, algorithms/pattern.py: loopless_transpose,
        algorithms/pattern.py: random_order,
        algorithms/similarity.py: _Score.__init__, algorithms/sssp.py: Weights._total,
        algorithms/sssp.py: Weights.check_overflow, algorithms/sssp.py: Weights.usual_delta,
        algorithms/triangles.py: _all, algorithms/triangles.py: _order, algorithms/triangles.py: _permutation,
        algorithms/triangles.py: triangle_count
    """,
    "kept with a NetworkX graph, under its attributes: tests/nx/test_conversion.py": """
        nx/adjacency.py: _weights, nx/adjacency.py: finite, nx/adjacency.py: graph, nx/adjacency.py: pattern_of,
        nx/searches.py: lists, nx/searches.py: positions
    """,
    LOOP: "programs/bounded.py: Bounded._lines, programs/bounded.py: Matrices.__init__",
    PROCESS: """
        backends/cpu/jit/recipe.py: _file_digest, backends/cpu/jit/recipe.py: _makers_digest,
        backends/cpu/jit/recipe.py: host, backends/cuda/runtime/compile.py: _pieces,
        backends/cuda/runtime/kernel_groups.py: recorded, backends/cuda/runtime/cupy_kernels.py: recorded,
        backends/cuda/runtime/cupy_kernels.py: _use_workers, backends/cuda/runtime/nvrtc_workers.py: library,
        backends/cuda/products/tile_pairs.py: maps, backends/cuda/programs/graph.py: _driver,
        backends/cuda/programs/touched.py: parameters_of, programs/reads.py: _met_in,
        backends/cuda/runtime/device.py: Device.__init__, backends/select.py: _made = {},
        core/infix.py: _CLASSES = {}, dtypes/types.py: _REGISTRY = {}, dtypes/types.py: _UNIFIED = {},
        io/lines.py: _suspects, operators/from_python.py: _PARSED = {}, operators/source.py: _TREES = {},
        planner/device_profile.py: profile_of, planner/record.py: _entrances = {}, graph/labels.py: _bor_second = {},
        storage/host_memory.py: last_cache_bytes, storage/place.py: _devices = {}
    """,
}


def with_a_reason():
    return {site.strip() for sites in REASONS.values() for site in sites.split(",")}


def test_every_site_is_known():
    known = [*FORMS, *QUESTIONS, *with_a_reason()]
    assert len(known) == len(set(known)), "a site is listed twice"
    new = sorted(all_sites() - set(known))
    assert not new, f"asked by no test of tests/caches, and no reason in test_sites.py: {new}"
    gone = sorted(set(known) - all_sites())
    assert not gone, f"listed in test_sites.py, and the source has no such place: {gone}"


def test_what_asks_them_exists():
    assert set(FORMS.values()) == set(test_kept_forms.FORMS)
    for site, beginnings in QUESTIONS.items():
        for beginning in beginnings:
            names = [name for name in test_asked_in_turn.QUESTIONS if name.startswith(beginning)]
            assert names, f"{site}: no question begins with {beginning!r}"


@pytest.mark.parametrize(
    "text, site",
    [
        ("def f(A):\n    forms = forms_of(A)\n", "f"),
        ("class C:\n    def f(self, device):\n        return device.kept(1)\n", "C.f"),
        ("@functools.lru_cache(maxsize=3)\ndef f():\n    pass\n", "f"),
        ("_known = jit.memo()\n", ""),
        ("_known: dict = {}\n", "_known = {}"),
    ],
)
def test_a_new_site_is_found(text, site):
    assert site in sites_of(text)
