"""Instances of base/costs.cuh and of structure/: build, convert, gather, radix_sort, transpose."""

from grb_tile import binary, dtypes
from grb_tile.backends.cuda.structure.arrays import complex_cast
from grb_tile.operators import to_cuda

INDICES = ("int32_t", "int64_t")
MOVED = ("uint8_t", "uint16_t", "uint32_t", "uint64_t", "ulonglong2")
NUMBERS = [getattr(dtypes, name) for name in ("BOOL", "INT8", "INT64", "UINT32", "FP32", "FP64")]


def instances():
    """(header, name, functors, template) of each."""
    for name in ("read_words", "gather_words", "add_words", "count_barriers"):
        yield "base/costs.cuh", name, "", ()
    for index in INDICES:
        yield "structure/build.cuh", "order_facts", "", (index, index)
        yield "structure/build.cuh", "segment_flags", "", (index, index)
        yield "structure/build.cuh", "pair_keys", "", (index, index, "uint32_t")
        yield "structure/build.cuh", "pair_keys", "", (index, index, "word")
        yield "structure/gather.cuh", "look_up", "", (index,)
        yield "structure/gather.cuh", "range_bounds", "", (index,)
        yield "structure/reshape.cuh", "reshaped_starts", "", (index,)
        for other in INDICES:
            yield "structure/reshape.cuh", "reshaped_entries", "", (index, other)
            yield "structure/gather.cuh", "places_in_range", "", (index, other)
            yield "structure/gather.cuh", "new_columns", "", (index, other)
        for other in ("bool", *INDICES):
            yield "structure/prefix_sums.cuh", "write_sums", "", (other, index)
        for other in ("uint32_t", *INDICES):
            yield "structure/convert.cuh", "progression", "", (other, index)
        yield "structure/gather.cuh", "ranges_of", "", ("int64_t", "int64_t", index)
        yield "structure/transpose.cuh", "line_starts", "", (index,)
        yield "structure/convert.cuh", "used_lines", "", (index,)
        for moved in MOVED:
            yield "structure/convert.cuh", "positions_to_words", "", (index, moved)
            yield "structure/prefix_sums.cuh", "words_to_positions", "", (index, moved)
            for other in INDICES:
                yield "structure/prefix_sums.cuh", "compact", "", (other, index, moved)
            for name in ("gather", "copy_rows", "sort_rows"):
                yield "structure/gather.cuh", name, "", (index, moved)
    yield "structure/prefix_sums.cuh", "flagged_starts", "", ("void",)
    for name in ("closed_starts", "align_starts", "placed_starts"):
        yield "structure/convert.cuh", name, "", ("void",)
    for name in ("joined_starts", "tile_starts"):
        yield "structure/grid.cuh", name, "", ("void",)
    for moved in MOVED:
        for name in ("joined_entries", "tile_entries"):
            yield "structure/grid.cuh", name, "", (moved,)
        yield "structure/gather.cuh", "gather", "", ("uint32_t", moved)
        yield "structure/gather.cuh", "gather_region", "", (moved,)
    for key in ("uint32_t", "word"):
        yield "structure/radix_sort.cuh", "radix_histograms", "", (key,)
        yield "structure/radix_sort.cuh", "split_keys", "", (key, "int64_t", "int64_t")
        for payloads in (("NoPayload",) * 2, ("uint32_t", "NoPayload"), ("word", "uint32_t"), ("uint32_t", "word")):
            for bits in ("8", "7"):
                yield "structure/radix_sort.cuh", "radix_pass", "", (key, *payloads, bits)
    for name in ("pick_rows", "sum_rows", "capped_rows"):
        yield "structure/transpose.cuh", name, "", ("int64_t",)
    yield "structure/transpose.cuh", "assigned_rows", "", ("void",)
    for have in NUMBERS:
        for want in NUMBERS:
            if have is not want:
                yield "structure/convert.cuh", "cast_values", "", (have.cuda_type, want.cuda_type)
    for have, want in (
        (dtypes.FP32, dtypes.FC32),
        (dtypes.INT8, dtypes.FC64),
        (dtypes.FC32, dtypes.BOOL),
        (dtypes.FC64, dtypes.FC32),
        (dtypes.FC64, dtypes.UINT16),
    ):
        yield (
            "elementwise/apply.cuh",
            "apply_values",
            complex_cast(have, want),
            (have.cuda_type, want.cuda_type, "Cast"),
        )
    for dtype in (dtypes.INT64, dtypes.FP32, dtypes.FC64):
        for name in ("plus", "times", "minus"):
            op = getattr(binary, name)[dtype]
            functors = to_cuda.includes(op) + "\n" + to_cuda.functor(op, "Fold")
            yield "structure/build.cuh", "fold_segments", functors, (*[dtype.cuda_type] * 4, "Fold")
