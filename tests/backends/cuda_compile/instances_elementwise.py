"""Instances of intersect, merge, overwrite, restrict, union_values, apply, select, first_of_rows,
reduce and elementwise/kronecker.cuh.

Operators: those that the algorithms and the conformance battery use, over the types that differ in C++; every unary
operator's body is compiled by tests/operators already.
"""

from grb_tile import binary, dtypes, indexunary, monoid, select as selectors, unary
from grb_tile.backends.cuda.elementwise.compare import struct_text
from grb_tile.backends.cuda.elementwise.values import functor_text
from grb_tile.operators import get_typed_op

INDICES = ("int32_t", "int64_t")
MOVED = ("uint8_t", "uint16_t", "uint32_t", "uint64_t", "ulonglong2")
ALL = ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP32", "FP64")
COMPLEX = ("FC32", "FC64")
BINARY = {
    "plus": (*ALL, *COMPLEX), "minus": ("INT64", "FP32", "FP64", "FC64"), "times": ("INT64", "FP32", "FP64", "FC64"),
    "min": ("INT64", "FP32", "FP64"), "max": ("INT64", "FP32", "FP64"), "truediv": ("FP64",), "cdiv": ("INT64", "FP64"),
    "lor": ("BOOL",), "land": ("BOOL",), "lxor": ("BOOL",), "eq": ("INT64", "FC64"), "lt": ("FP64",),
    "first": ("FP64",),
    "second": ("INT64", "FP64", "FC64"), "pow": ("FP64",), "bor": ("UINT64",),
}  # fmt: skip
RESULTS = {"FP64": ("FP32", "INT64", "BOOL", "FC64"), "INT64": ("BOOL", "FP64"), "FC64": ("FP64",)}


def of(name):
    return getattr(dtypes, name)


def structure():
    """Kernels over positions."""
    yield "elementwise/restrict.cuh", "join_words", "", ("void",)
    yield "elementwise/kronecker.cuh", "kronecker_starts", "", ("void",)
    yield "elementwise/overwrite.cuh", "last_places", "", ("int64_t",)
    for moved in MOVED:
        yield "elementwise/overwrite.cuh", "overwrite_words", "", (moved,)
        yield "elementwise/overwrite.cuh", "overwrite_region", "", (moved, "Fresh")
        yield "elementwise/union_values.cuh", "overlay", "", (moved,)
    for place in INDICES:
        yield "elementwise/intersect.cuh", "kept_starts", "", (place,)
        yield "elementwise/intersect.cuh", "diagonal_places", "", (place,)
        yield "elementwise/intersect.cuh", "member_flags", "", (place,)
        for moved in MOVED:
            yield "elementwise/overwrite.cuh", "overwrite_listed", "", (place, moved)
        for index in INDICES:
            yield "elementwise/intersect.cuh", "locate_entries", "", (index, place)
            yield "elementwise/kronecker.cuh", "kronecker_entries", "", (index, place, index, "int32_t")
            yield "elementwise/kronecker.cuh", "kronecker_masked", "", (index, place, "int32_t", place)
        yield "elementwise/merge.cuh", "merge_partition", "", ("256", place)
        yield "elementwise/merge.cuh", "merge_write", "", ("256", place, "NoValues")
        for moved in MOVED:
            yield "elementwise/merge.cuh", "merge_write", "", ("256", place, f"MovedValues<{moved}>")


def comparisons():
    """Of equal and close values, of lists and bitmaps."""
    for have, other in (
        ("FP64", "FP64"),
        ("FP32", "FP32"),
        ("INT64", "INT64"),
        ("BOOL", "FP64"),
        ("FC64", "FC32"),
        ("INT8", "FC64"),
    ):
        op = get_typed_op("eq", of(have), of(other), kind="binary")
        for is_close in (False, True):
            for places in (("void", "void"), ("int32_t", "void"), ("int64_t", "int64_t")):
                yield (
                    "elementwise/compare.cuh",
                    "agreeing",
                    struct_text(op, of(have), of(other), is_close),
                    (*places, "Test"),
                )


def instances():
    """(header, name, functors, template) of each."""
    yield from structure()
    yield from comparisons()
    for name, types in BINARY.items():
        for dtype in types:
            op = getattr(binary, name)[of(dtype)]
            wanted = [op.return_type, *(map(of, RESULTS.get(dtype, ())) if name in ("plus", "second") else ())]
            for result in wanted:
                for place in INDICES if dtype == "INT64" else INDICES[:1]:
                    types = op.type.cuda_type, op.type2.cuda_type, result.cuda_type, "Op"
                    functors, listed = functor_text(op, result), ", ".join(types)
                    yield "elementwise/union_values.cuh", "combine", functors, (place, *types)
                    alike = op.type is result and op.type2 is result
                    joined = f"JoinedValues<{listed}, {str(not alike or name == 'times').lower()}>"
                    for values in (joined, f"CombinedValues<{listed}>"):
                        yield "elementwise/merge.cuh", "merge_write", functors, ("256", place, values)
    for name in ("ainv", "abs", "minv", "sqrt", "lnot", "exp", "bnot"):
        for dtype in ("INT8", "INT64", "FP32", "FP64", "FC64", "BOOL"):
            found = getattr(unary, name)
            if of(dtype) in found.types:
                op = found[of(dtype)]
                yield (
                    "elementwise/apply.cuh",
                    "apply_values",
                    functor_text(op, op.return_type),
                    (op.type.cuda_type, op.return_type.cuda_type, "Op"),
                )
    for index in INDICES:
        for name in ("rowindex", "colindex", "diagindex", "valuegt"):
            op = getattr(indexunary, name)["INT64"]
            yield (
                "elementwise/apply.cuh",
                "apply_positions",
                functor_text(op, op.return_type),
                (index, op.type.cuda_type, op.thunk_type.cuda_type, op.return_type.cuda_type, "Op"),
            )
        for name, dtype in (
            ("tril", "FP64"),
            ("triu", "BOOL"),
            ("offdiag", "INT64"),
            ("valuene", "BOOL"),
            ("valuene", "FC64"),
            ("valuegt", "FP32"),
            ("valuele", "INT64"),
        ):
            op = getattr(selectors, name)[dtype]
            yield (
                "elementwise/select.cuh",
                "select_flags",
                functor_text(op, op.return_type),
                (index, op.type.cuda_type, op.thunk_type.cuda_type, "Op"),
            )
    for name, dtype in (
        ("plus", "INT64"),
        ("plus", "FP32"),
        ("plus", "FP64"),
        ("plus", "FC64"),
        ("min", "INT8"),
        ("max", "FP64"),
        ("times", "UINT16"),
        ("lor", "BOOL"),
        ("land", "BOOL"),
        ("any", "INT64"),
    ):
        op = getattr(monoid, name)[dtype]
        yield "elementwise/reduce.cuh", "reduce_values", functor_text(op.binaryop, op.type), (op.type.cuda_type, "Op")
        for kernel in ("scan_chunks", "add_carries"):
            yield "elementwise/scan.cuh", kernel, functor_text(op.binaryop, op.type), (op.type.cuda_type, "Op")
    for name in ("BOOL", *ALL):
        for of_block in ("true", "false"):
            yield "elementwise/first_of_rows.cuh", "first_of_rows", "", (of(name).cuda_type, of_block)
        yield "elementwise/first_of_rows.cuh", "keys_of_row", "", (of(name).cuda_type,)
        for index in ("int32_t", "int64_t"):
            yield "elementwise/ranked_rows.cuh", "ranked_rows", "", ("1", index, of(name).cuda_type)
    for moved in ("uint8_t", "uint64_t", "ulonglong2"):
        for by in ("0", "2"):
            yield "elementwise/ranked_rows.cuh", "ranked_rows", "", (by, "int32_t", moved)
    for size in ("uint8_t", "uint64_t", "ulonglong2"):
        yield "elementwise/element.cuh", "element_of_list", "", ("int32_t", size)
        yield "elementwise/element.cuh", "element_of_bitmap", "", (size,)
