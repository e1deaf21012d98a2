"""The battery: every mask x accumulator x replace, every scene, every type, for one operation.

An operation is `call(library, o, how)`: it writes to o.C with the keyword arguments `how` (mask, accum, replace), as in
    lambda lib, o, how: o.C(**how) << o.A.mxm(o.B, lib.semiring.plus_times)
and `make(rng, dims, dtype, kind)` gives its operands: C (output), M (mask), and whatever `call` reads.
"""

import dataclasses

import pytest

from support import coverage
from support.agree import agree
from support.library import ENGINES, TYPES, WITHOUT_NUMBA, engines_at
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, values
from support.seeds import generator

MASKS = ("none", "S", "V", "~S", "~V")
ACCUMS = (None, "plus", "minus", "second", "first")
CASTS = (
    ("INT64", "FP32"),
    ("FP64", "INT8"),
    ("INT32", "BOOL"),
    ("FP64", "FC64"),
    ("FC64", "FP64"),
    ("UINT8", "INT64"),
    ("BOOL", "FP64"),
    ("INT16", "UINT32"),
)
MIXED = (
    ("INT64", "FP64"),
    ("INT8", "UINT8"),
    ("BOOL", "INT32"),
    ("FP32", "FC64"),
    ("INT64", "UINT64"),
    ("UINT64", "FP32"),
)


@dataclasses.dataclass(frozen=True)
class WriteOption:
    mask: str
    accum: str | None
    replace: bool

    def __str__(self):
        return f"{self.mask} {self.accum}{' replace' if self.replace else ''}"

    def keywords(self, library, mask):
        found = {}
        if self.mask != "none":
            chosen = mask.S if self.mask.endswith("S") else mask.V
            found["mask"] = ~chosen if self.mask.startswith("~") else chosen
            if self.replace:
                found["replace"] = True
        if self.accum is not None:
            found["accum"] = getattr(library.binary, self.accum)
        return found


WRITE_OPTIONS = tuple(
    WriteOption(mask, accum, replace)
    for mask in MASKS
    for accum in ACCUMS
    for replace in ((False,) if mask == "none" else (False, True))
)


def accum_options(accums=ACCUMS):
    """For outputs that take no mask (scalars)."""
    return tuple(WriteOption("none", accum, False) for accum in accums)


class Operation:
    """Declares the cells of an operation and holds the loops that run them.

    huge: also with dimensions of 2**60.  types: those it is defined for.  masked False: the output is a Scalar.
    second: the name of the second operand, which is then tried in other types than the first.
    """

    def __init__(
        self,
        name,
        make,
        call,
        *,
        types=TYPES,
        variants=None,
        huge=True,
        masked=True,
        scenes=SCENES,
        numba=True,
        tolerance=0.0,
        accums=ACCUMS,
        second=None,
        casts=CASTS,
    ):
        self.name, self.make, self.call = name, make, call
        self.types, self.huge, self.scenes, self.tolerance = types, huge, scenes, tolerance
        self.variants = variants or {"plain": {}}
        self.second, self.casts = second, casts
        self.engines = ENGINES if numba else WITHOUT_NUMBA
        self.options = WRITE_OPTIONS if masked else accum_options(accums)
        self.masks = MASKS if masked else ("none",)
        coverage.owe(name, "write", self.options, self.engines)
        coverage.owe(name, "type", types, WITHOUT_NUMBA)
        coverage.owe(name, "scene", [self.label(scene) for scene in self.all_scenes()], self.engines)
        if variants:
            coverage.owe(name, "variant", variants, self.engines)
        self.casts = [pair for pair in casts if pair[0] in types]
        coverage.owe(name, "type to output type", map(arrow, self.casts), WITHOUT_NUMBA)
        self.mixed = [pair for pair in MIXED if pair[0] in types and pair[1] in types] if second else []
        coverage.owe(name, "types of two operands", map(arrow, self.mixed), WITHOUT_NUMBA)

    @staticmethod
    def label(scene):
        return "-".join(scene)

    def all_scenes(self):
        return (*self.scenes, HUGE_SCENE) if self.huge else self.scenes

    def run(self, scene, dtype, option, variant, *, engines, cells, retype=()):
        dims, kind = scene
        rng = generator(self.name, scene, dtype, variant)
        operands = self.make(rng, DIMENSIONS[dims], dtype, kind, **self.variants[variant])
        for name, other in retype:
            operands[name] = retyped(rng, operands[name], other)
        operands["variant"] = variant

        def call(library, o):
            return_value = self.call(library, o, option.keywords(library, getattr(o, "M", None)))
            return None if type(return_value).__name__ in ("Updater", "NoneType") else return_value

        where = f"{self.name} {variant} [{option}] {dtype} {self.label(scene)}"
        agree(call, operands, where, cells=cells, engines=engines, tolerance=self.tolerance)

    def run_mask(self, mask):
        """Every accumulator x replace x variant of one kind of mask, over all scenes; INT64."""
        dtype = "INT64" if "INT64" in self.types else self.types[0]
        for n, option in enumerate(self.options):
            if option.mask != mask:
                continue
            for k, scene in enumerate(self.all_scenes()):
                for variant in self.variants:
                    engines = engines_at(n + k, self.engines)
                    cells = [(self.name, "write", option), (self.name, "scene", self.label(scene))]
                    if len(self.variants) > 1:
                        cells.append((self.name, "variant", variant))
                    self.run(scene, dtype, option, variant, engines=engines, cells=cells)

    def run_type(self, dtype):
        """Each type with and without mask and accumulator, on three scenes."""
        wanted = ("none None", "none plus", "V None", "~S minus replace", "S second")
        for option in self.options:
            if str(option) in wanted:
                for k, scene in enumerate(self.scenes[:2] + self.scenes[6:7]):
                    for variant in self.variants:
                        self.run(
                            scene,
                            dtype,
                            option,
                            variant,
                            engines=engines_at(k, WITHOUT_NUMBA),
                            cells=[(self.name, "type", dtype)],
                        )

    def run_retyped(self, pair, role):
        """An output, or a second operand, of another type than the first operand."""
        axis, name = ("type to output type", "C") if role == "output" else ("types of two operands", self.second)
        for option in self.options:
            if str(option) in ("none None", "none plus", "V None", "~S minus replace", "S second"):
                for scene in self.scenes[:2]:
                    self.run(
                        scene,
                        pair[0],
                        option,
                        next(iter(self.variants)),
                        engines=WITHOUT_NUMBA,
                        cells=[(self.name, axis, arrow(pair))],
                        retype=[(name, pair[1])],
                    )


def arrow(pair):
    return " ".join(pair)


def retyped(rng, operand, dtype):
    """The same structure in another type, with values that show how it was cast (fractions where the type has them)."""
    found = values(rng, dtype, operand.nvals)
    if dtype in ("FP32", "FP64", "FC32", "FC64"):
        found = found + found.dtype.type(0.5)
    return dataclasses.replace(operand, dtype=dtype, values=found, iso=False)


def battery(*operations):
    """Test functions for operations: `test_write_options, test_types, test_casts = battery(...)` in a module of
    tests/conformance."""
    masks = [
        pytest.param(
            operation, mask, id=f"{operation.name}-{mask}", marks=[pytest.mark.quick] if mask in ("none", "~S") else []
        )
        for operation in operations
        for mask in operation.masks
    ]
    types = [
        pytest.param(operation, dtype, id=f"{operation.name}-{dtype}")
        for operation in operations
        for dtype in operation.types
    ]

    casts = [
        pytest.param(operation, pair, role, id=f"{operation.name}-{role}-{'-'.join(pair)}")
        for operation in operations
        for role, pairs in (("output", operation.casts), ("second", operation.mixed))
        for pair in pairs
    ]

    @pytest.mark.parametrize(("operation", "mask"), masks)
    def test_write_options(operation, mask):
        operation.run_mask(mask)

    @pytest.mark.parametrize(("operation", "dtype"), types)
    def test_types(operation, dtype):
        operation.run_type(dtype)

    @pytest.mark.parametrize(("operation", "pair", "role"), casts)
    def test_casts(operation, pair, role):
        operation.run_retyped(pair, role)

    return test_write_options, test_types, test_casts
