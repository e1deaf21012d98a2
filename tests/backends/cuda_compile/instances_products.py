"""Instances of the products' kernels: the semirings of the algorithms and of the conformance battery."""

from grb_tile import dtypes, monoid
from grb_tile.backends.cuda.lowering.semirings import lowered
from grb_tile.backends.cuda.products import spmm_slabs
from grb_tile.backends.cuda.products.epilogue import CORNERS, Epilogue, corners, epilogue
from grb_tile.backends.cuda.products.tile_pairs import maps
from grb_tile.operators import get_typed_op

SEMIRINGS = [
    ("plus_times", "FP32"), ("plus_times", "FP64"), ("min_plus", "FP32"), ("min_plus", "INT64"), ("max_min", "FP32"),
    ("plus_first", "FP32"), ("plus_second", "FP64"), ("lor_land", "BOOL"), ("any_pair", "BOOL"), ("plus_pair", "INT64"),
    ("min_second", "INT64"), ("any_secondi", "INT64"), ("times_plus", "UINT16"), ("plus_times", "FC64"),
    ("plus_times", "FC32"), ("any_second", "FP64"), ("max_secondj1", "INT64"), ("lxor_eq", "INT8"),
    ("lxor_land", "BOOL"), ("plus_times", "INT16"),
]  # fmt: skip


def structs():
    """(text of S, its flags) of each semiring, operands iso and not."""
    for name, type_ in SEMIRINGS:
        semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
        for iso in (False, True):
            s = lowered(None, semiring, semiring.type, iso, semiring.type2, iso)
            yield s.text, s.atomic, s.structure_only, s.has_start, s.start_marks_absent
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    s = lowered(None, semiring, dtypes.INT32, False, dtypes.BOOL, False)
    yield s.text, True, False, True, True


def spgemm(number, text, atomic, structure_only):
    """Instances of both phases; all forms over the semirings together."""
    types = (("int32_t", "int32_t"), ("int32_t", "int64_t"), ("int64_t", "int64_t"))[number % 3]
    lanes = ("4", "8", "16", "32")[number % 4]
    forms = ("BY_WARP", "BY_ATOMICS" if atomic and "float2" not in text else "IN_ORDER")
    yield "products/spgemm.cuh", "spgemm_copy", text, (*types, "S")
    yield "products/spgemm_hash.cuh", "spgemm_hash", text, (*types, "S", lanes, "true")
    if structure_only:
        for form in ("BY_WARP", "BY_ATOMICS"):
            yield "products/spgemm.cuh", "spgemm_expand", text, (*types, "S", form)
    for form in forms:
        yield "products/spgemm_windows.cuh", "spgemm_windows", text, (*types, "S", form, "true")
    if atomic and not structure_only:
        yield "products/spgemm_split.cuh", "split_merge", text, (*types, "S", lanes)
        if "has_start = true" in text:
            yield "products/spgemm_split.cuh", "split_start", text, (*types, "S")
    if number < 3:
        yield "products/spgemm_split.cuh", "split_mark", "", (*types, "Structure", lanes)
        yield "products/spgemm_split.cuh", "split_count", "", (*types, "Structure")
        yield "products/spgemm.cuh", "spgemm_analyse", "", (types[0],)
        for phase in ("false", "true"):
            yield "products/spgemm_hash.cuh", "spgemm_hash", "", (*types, "Structure", lanes, phase)
        for form in ("BY_WARP", "BY_ATOMICS"):
            yield "products/spgemm_windows.cuh", "spgemm_windows", "", (*types, "Structure", form, "false")
        for name in ("spgemm_rebin", "spgemm_list"):
            yield "products/spgemm.cuh", name, "", ()


def tile_pairs():
    """Instances of the products over pairs of tiles, and of the blocks they read."""
    plus_times = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    for iso in (False, True):
        s = lowered(None, plus_times, dtypes.FP64, iso, dtypes.FP64, iso)
        for out in ("int32_t", "int64_t"):
            yield "products/tile_products.cuh", "tile_products", s.text, (out, "S", "FP64_MATRIX")
    plus_pair = get_typed_op("plus_pair", dtypes.INT64, kind="semiring")
    s = lowered(None, plus_pair, dtypes.BOOL, True, dtypes.BOOL, True)
    yield "products/tile_products.cuh", "tile_products", s.text, ("int64_t", "S", "BIT_MATRIX")
    yield "products/tile_pairs.cuh", "tile_rows", "", ()
    yield "products/spgemm_windows.cuh", "spgemm_windows", maps().text, ("int32_t", "int32_t", "S", "BY_WARP", "true")
    yield "products/spgemm_hash.cuh", "spgemm_hash", maps().text, ("int32_t", "int32_t", "S", "32", "true")
    for index, moved in (("int32_t", "uint64_t"), ("int64_t", "uint8_t"), ("int32_t", "ulonglong2")):
        for filled in ("false", "true"):
            yield "products/bitblock_build.cuh", "merge_blocks", "", (index, moved, filled, "true")
    yield "products/bit_tiles_build.cuh", "merge_tile_row", "", ("int32_t", "uint8_t", "int32_t", "false")


def spmm_rounded():
    """Instances of SpMM on tensor cores, and of slabs of columns."""
    for form, index, wide in (("HALF", "int32_t", "8"), ("BFLOAT", "int64_t", "4"), ("TENSOR_FLOAT", "int32_t", "2")):
        yield "products/spmm_rounded.cuh", "spmm_tiles", "", (index, form, wide)
        yield "products/spmm_rounded.cuh", "fill_tiles", "", (index, form)
        yield "products/round_values.cuh", "round_values", "", (form,)
    for name in ("window_keys", "tile_columns"):
        yield "products/spmm_rounded.cuh", name, "", ("int32_t",)
    for index, moved in (("int32_t", "uint32_t"), ("int64_t", "uint8_t"), ("int32_t", "ulonglong2")):
        yield "products/spmm_slabs.cuh", "count_slabs", "", (index,)
        yield "products/spmm_slabs.cuh", "place_slabs", "", (index, moved)


def masked_chains():
    """Instances of masked products that are selected from or reduced, and of those of rows of words."""
    plus_times, plus_pair, any_pair = (
        lowered(None, get_typed_op(name, type_, kind="semiring"), type_, False, type_, False)
        for name, type_ in (("plus_times", dtypes.FP64), ("plus_pair", dtypes.INT64), ("any_pair", dtypes.BOOL))
    )
    above = get_typed_op("valuegt", dtypes.FP64, dtypes.FP64, kind="select"), 1.0
    emissions = [
        Epilogue(plus_pair), epilogue(None, plus_pair, None, monoid.plus["INT64"], None), Epilogue(any_pair),
        epilogue(None, any_pair, None, monoid.lor["BOOL"], 0), Epilogue(plus_times, above),
        epilogue(None, plus_times, above, monoid.plus["FP32"], 1),
        epilogue(None, plus_times, above, monoid.any["FP64"], 0), corners(None, plus_pair),
    ]  # fmt: skip
    for number, e in enumerate(emissions):
        words = {plus_pair: "Words<false>", any_pair: "Words<true>"}.get(e.s, "S")
        for form, lanes in (("BY_WARP", "4"), ("BY_ATOMICS", "16")):
            types = ("int32_t", "int32_t", ("int32_t", "int64_t")[number % 2])
            yield "products/masked_rows.cuh", "masked_rows", e.text, (*types, words, form, lanes, e.name)
            if e.into != CORNERS:
                yield "products/masked_push.cuh", "masked_push", e.text, ("int32_t", types[2], "S", form, e.name)
    for ends in ("int32_t", "int64_t"):
        yield "products/masked_words.cuh", "word_starts", "", (ends,)
        yield "products/masked_words.cuh", "word_fill", "", ("int32_t", ends)
    for name in ("word_begins", "add_matches"):
        yield "products/masked_words.cuh", name, "", ("int32_t",)
    yield "products/masked_words.cuh", "word_rows", "", ("int64_t",)


def instances():
    """(header, name, functors, template) of each."""
    yield from spmm_rounded()
    yield "products/dense_flags.cuh", "words_of_counts", "", ("void",)
    for real in ("float", "double"):
        yield "products/dense_flags.cuh", "filled_values", "", (real,)
    for number, (text, atomic, structure_only, has_start, shows) in enumerate(dict.fromkeys(structs())):
        full, masked = (("true", "false"), ("false", "true"))[number % 2]
        yield "products/rows.cuh", "matvec_rows", text, ("int32_t", "int32_t", "int32_t", "S", full, masked)
        if not structure_only:
            columns = ("PLAIN_COLUMNS", "DELTA_COLUMNS", "RELABELLED_COLUMNS", "BINNED_COLUMNS")[number % 4]
            yield "products/segments.cuh", "matvec_segments", text, ("int32_t", "int32_t", "S", columns, "512", "1")
            gaps = ("MARKED_GAPS", "GAPS_BY_BITS")[number % 2]
            template = ("int32_t", "int32_t", "S", columns, gaps, "512", "1")
            yield "products/segments.cuh", "matvec_segments_gaps", text, template
        wide = "2 Z" in text or "double2" in text
        stage, resident = ("16", "3") if wide else (("16", "32")[number % 2], "5")
        yield (
            "products/bitblock_rows.cuh",
            "bit_block_rows",
            text,
            (
                "S",
                ("uint16_t", "int32_t")[number % 2],
                "AS_STORED",
                "false" if structure_only else full,
                ("false", "true")[number // 2 % 2],
                stage,
                "128",
                resident,
            ),
        )
        if atomic:
            template = "int32_t", "int32_t", "int32_t", "S", masked, full
            yield "products/columns.cuh", "merge_columns", text, (*template, "false")
            if number % 3 == 0:
                yield "products/columns.cuh", "merge_evenly", text, (*template, "false")
            if shows:
                yield "products/columns.cuh", ("merge_columns", "merge_evenly")[number % 2], text, (*template, "true")
            yield "products/columns.cuh", "compact_words", text, ("int32_t", "S")
        width, lanes = (("4", "4"), ("2", "32"), ("1", "8"))[number % 3]
        yield "products/spmm.cuh", "spmm", text, ("int32_t", "S", width, lanes, full)
        yield "products/spmm.cuh", "spmm_join", text, ("S", full, masked)
        if not structure_only:
            slabs = "int32_t", "S", width, lanes, str(spmm_slabs.STAGED), str(spmm_slabs.AT_ONCE)
            yield "products/spmm_slabs.cuh", "spmm_slabs", text, (*slabs, str(spmm_slabs.THREADS))
        if not structure_only:
            steps = ("2", "0", "1")[number % 3]
            yield "products/sddmm.cuh", "sddmm", text, ("int32_t", "S", width, "8", steps)
        lists = (("void", "void"), ("int32_t", "void"), ("int64_t", "int64_t"))[number % 3]
        yield "products/inner.cuh", "inner_product", text, (*lists, "S")
        if "any = true" in text or structure_only:
            index, rows = (("int32_t", "4"), ("int64_t", "1"))[number % 2]
            yield "products/pull.cuh", "matvec_pull", text, (index, "S", rows)
        if has_start:
            yield "products/columns.cuh", "fill_start", text, ("S",)
        if has_start and atomic:
            yield "programs/positions.cuh", "scatter_at", text, ("int64_t", "S")
        if not structure_only:
            yield "products/columns.cuh", "combine_groups", text, ("int64_t", "S")
        if number % 4 == 0:
            yield "products/rows.cuh", "matvec_held_rows", text, ("int64_t", "int64_t", "int64_t", "S")
            yield "products/columns.cuh", "column_products", text, ("int32_t", "int64_t", "int32_t", "S")
        if number % 4 == 1:
            word, start = (("uint16_t", "uint8_t"), ("uint32_t", "uint16_t"), ("word", "uint16_t"))[number // 4 % 3]
            index = ("int32_t", "int64_t")[number // 4 % 2]
            yield "products/tiles.cuh", "tiled_rows", text, ("S", word, start, index, masked)
            yield "products/tiles.cuh", "join_chunks", text, ("S", word, masked)
            yield "products/matmul_dot.cuh", "dot_places", text, ("int32_t", "int32_t", "int32_t", "S")
            yield "programs/bounded.cuh", "dot_bounded", text, ("int64_t", index, "int32_t", "S")
            types = (("int32_t", "int32_t", "int32_t"), ("int64_t", "int32_t", "int64_t"))[number % 8 // 4]
            for form, lanes in (("BY_WARP", "4"), ("BY_ATOMICS", "32")):
                yield "products/masked_rows.cuh", "masked_rows", text, (*types, "S", form, lanes, "Stored<S>")
        if number % 4 == 2:
            yield "products/matmul_rows.cuh", "expand_products", text, ("int32_t", "int32_t", "int32_t", "int32_t", "S")
            if not structure_only:
                yield "products/matmul_rows.cuh", "combine_few", text, ("int64_t", "S")
        block = "BY_ATOMICS" if atomic else "IN_ORDER"
        types = (("int32_t", "int32_t"), ("int64_t", "int32_t"))[number % 2]
        yield (
            "products/masked_push.cuh",
            "masked_push",
            text,
            (*types, "S", ("BY_WARP", block)[number // 2 % 2], "Stored<S>"),
        )
        yield from spgemm(number, text, atomic, structure_only)
        types = (("int32_t", "int32_t"), ("int64_t", "int32_t"), ("int64_t", "int64_t"))[number % 3]
        yield "products/inner_windows.cuh", "inner_windows", text, (*types, "S")
        if number % 3 == 0:
            yield "products/inner_windows.cuh", "inner_join", text, (*types, "S")
        if number % 4 == 0:
            out = ("int32_t", "int64_t")[number // 4 % 2]
            yield "products/tile_products.cuh", "tile_products", text, (out, "S", "ENTRIES")
    yield from tile_pairs()
    yield from masked_chains()
    yield "products/masked_rows.cuh", "masked_analyse", "", ("int32_t", "int32_t")
    yield "products/columns.cuh", "part_members", "", ()
    yield "products/columns.cuh", "high_degree_rows", "", ()
    for types in (("int64_t", "int64_t", "int64_t"), ("int32_t", "int64_t", "int32_t")):
        yield "products/columns.cuh", "merge_columns", next(structs())[0], (*types, "S", "true", "false", "false")
        yield "products/columns.cuh", "merge_evenly", next(structs())[0], (*types, "S", "false", "true", "true")
    plus_times = next(structs())[0]
    for types in (("int64_t", "int64_t", "int64_t"), ("int32_t", "int64_t", "int32_t")):
        yield "products/rows.cuh", "matvec_rows", plus_times, (*types, "S", "true", "true")
    for code in ("uint16_t", "int32_t"):
        yield "products/bitblock_build.cuh", "encode_blocks", "", (code,)
    rounded = get_typed_op("plus_times", dtypes.FP32, kind="semiring")
    s = lowered(None, rounded, dtypes.FP32, False, dtypes.FP32, False)
    for stored, full in (("HALF", "true"), ("BFLOAT", "false")):
        template = ("S", "uint16_t", stored, full, "false", "32", "128", "4")
        yield "products/bitblock_rows.cuh", "bit_block_rows", s.text, template
    for name in ("count_cells", "place_entries"):
        yield "products/binned_columns.cuh", name, "", ("0",)
    for moved, chunk in (("uint8_t", "8"), ("uint16_t", "8"), ("uint32_t", "8"), ("uint64_t", "4")):
        yield "products/binned_columns.cuh", "put_in_bins", "", (moved, chunk, "4")
    for index in ("int32_t", "int64_t"):
        for moved, fill in (("uint32_t", "false"), ("uint8_t", "true"), ("ulonglong2", "true")):
            yield "products/bitblock_build.cuh", "merge_blocks", "", (index, moved, fill, "false")
        yield (
            "products/segments.cuh",
            "matvec_segments",
            plus_times,
            (index, "int64_t", "S", "RELABELLED_COLUMNS", "1024", "1"),
        )
        yield (
            "products/segments.cuh",
            "matvec_segments",
            plus_times,
            (index, "int64_t", "S", "BINNED_COLUMNS", "1024", "1"),
        )
        yield "products/segments_build.cuh", "mark_begins", "", (index,)
        yield "products/inner_windows.cuh", "inner_bounds", "", (index,)
        yield "products/segments_build.cuh", "encode_columns", "", (index,)
        for moved in ("uint8_t", "uint16_t", "uint32_t", "ulonglong2"):
            yield "products/segments_build.cuh", "mark_gaps", "", (moved,)
        yield "products/matmul_rows.cuh", "row_lengths", "", (index,)
        for moved in ("uint8_t", "uint64_t", "ulonglong2"):
            yield "products/tiles.cuh", "merge_values", "", (index, moved, "uint16_t", "uint8_t", "true")
            yield "products/tiles.cuh", "merge_values", "", (index, moved, "word", "uint16_t", "true")
            yield "products/tiles.cuh", "tile_vector", "", (index, moved, "uint32_t")
        yield "products/edges.cuh", "edges_of", "", ("int32_t", index)
        yield "products/edges.cuh", "edges_of_members", "", (index,)
    for word in ("uint16_t", "uint32_t", "word"):
        for name in ("bit_tile_rows", "bit_tile_pull", "bit_tile_columns"):
            yield "products/bit_tiles.cuh", name, "", (word, "int32_t")
        for fill in ("false", "true"):
            yield "products/bit_tiles_build.cuh", "merge_tile_row", "", ("int32_t", word, "int32_t", fill)
        yield "products/bit_tiles_build.cuh", "transposed_maps", "", (word, "int32_t")
        yield "products/bit_tiles_build.cuh", "transpose_tiles", "", (word, "int32_t")
        yield "products/bit_tiles_build.cuh", "live_lines", "", (word,)
    yield "products/bit_tiles.cuh", "bit_tile_rows", "", ("word", "int64_t")
    yield "products/tiles.cuh", "merge_values", "", ("int32_t", "uint32_t", "uint32_t", "uint16_t", "false")
    yield "products/bit_tiles_build.cuh", "merge_tile_row", "", ("int64_t", "word", "int64_t", "true")
    for kind, weights in (
        ("MODE", "COUNTED"),
        ("MODE", "EQUAL"),
        ("MODE", "STORED"),
        ("MOVE", "EQUAL"),
        ("MOVE", "STORED"),
        ("MOVE", "WHOLE"),
        ("MEX", "COUNTED"),
    ):
        for name in ("row_labels_whole", "row_labels_parts"):
            yield "communities/row_labels.cuh", name, "", (kind, weights)
    for name in ("labels_of_columns", "bin_label_rows", "sum_by_label", "first_by_label", "present_labels"):
        yield "communities/row_labels_bin.cuh", name, "", ()
    yield "communities/row_labels_bin.cuh", "whole_numbers", "", ()
    for name in ("vote_alone", "move_begin", "move_decide", "move_follow", "negative_numbers"):
        yield "communities/move_rounds.cuh", name, "", ()
    for name in ("settle_wants", "settle_moves", "settle_follow", "settle_alone"):
        yield "communities/settle.cuh", name, "", ()
    yield "communities/quotient.cuh", "between_classes", "", ()
    for weights in ("EQUAL", "WHOLE"):
        yield "communities/quotient.cuh", "class_entries", "", (weights,)
    for name in ("join_first", "join_wants", "join_moves", "join_follow"):
        yield "communities/join_rounds.cuh", name, "", ()
