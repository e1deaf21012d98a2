"""Programs: sequences of random statements on a pool of objects, run by SuiteSparse and by grb_tile side by side.

What single calls do not show: stores that are shared when they should not be, kept transposes and statistics that are
out of date, element
writes that are still pending.  Every object is compared after every few statements.  A failing program is printed in
full.
"""

import types
import warnings

import numpy as np
import pytest

from support import coverage
from support.library import LIBRARY, WITHOUT_NUMBA, engine, gb, oracle
from support.operands import KINDS, make
from support.plain import difference, plain
from support.seeds import SEED, generator

TYPES = ("INT64", "INT16", "UINT8", "BOOL")  # arithmetic that wraps is exact, however long a program is
BINARY = ("plus", "minus", "times", "min", "max", "first", "second")
SEMIRINGS = ("plus_times", "min_plus", "max_first", "plus_pair", "any_pair", "min_second", "lor_land", "plus_minus")
PROGRAMS, STATEMENTS = 30, 40


def picker(rng):
    def pick(values):
        return values[int(rng.integers(len(values)))]

    return pick


def how(rng, pick, masks):
    """Text of the arguments in C(...): masks of the right shape, accumulators, replace."""
    parts = []
    if rng.random() < 0.6:
        mask = f"o.{pick(masks)}.{pick('SV')}"
        parts.append(f"mask={'~' if rng.random() < 0.5 else ''}{mask}")
        if rng.random() < 0.4:
            parts.append("replace=True")
    if rng.random() < 0.4:
        parts.append(f"accum=lib.binary.{pick(BINARY)}")
    return ", ".join(parts)


def statement(rng, n):
    """One random statement as Python text in terms of `o` (the pool) and `lib`."""
    pick = picker(rng)
    matrices, vectors = ("A", "B", "C"), ("u", "v", "w")
    C, A, B = pick(matrices), pick(matrices), pick(matrices)
    w, u, v = pick(vectors), pick(vectors), pick(vectors)
    At, Bt = A + pick(("", "", ".T")), B + pick(("", "", ".T"))
    matrix_out, vector_out = f"o.{C}({how(rng, pick, matrices)})", f"o.{w}({how(rng, pick, vectors)})"
    op, semiring = pick(BINARY), pick(SEMIRINGS)
    monoid = pick(("plus", "min", "max", "lor", "land"))
    permutation = rng.permutation(n)
    some, other = permutation[: max(1, n // 2)].tolist(), rng.permutation(n)[: max(1, n // 2)].tolist()
    i, j, s = int(rng.integers(n)), int(rng.integers(n)), int(rng.integers(0, 4))
    region, rest = f"[{some}, {other}]", f"[{other}, {some}]"
    return pick(
        (
            f"{matrix_out} << o.{At}.mxm(o.{Bt}, lib.semiring.{semiring})",
            f"{vector_out} << o.{At}.mxv(o.{u}, lib.semiring.{semiring})",
            f"{vector_out} << o.{u}.vxm(o.{At}, lib.semiring.{semiring})",
            f"{matrix_out} << o.{At}.ewise_add(o.{Bt}, lib.binary.{op})",
            f"{matrix_out} << o.{At}.ewise_mult(o.{Bt}, lib.binary.{op})",
            f"{vector_out} << o.{u}.ewise_add(o.{v}, lib.binary.{op})",
            f"{vector_out} << o.{u}.ewise_mult(o.{v}, lib.binary.{op})",
            f"{vector_out} << o.{u}.ewise_union(o.{v}, lib.binary.{op}, {s}, 1)",
            f"{matrix_out} << o.{At}.ewise_add(o.{u}, lib.binary.{op})",
            f"{matrix_out} << o.{At}.apply(lib.unary.ainv)",
            f"{vector_out} << o.{u}.apply(lib.binary.{op}, right={s})",
            f"{matrix_out} << o.{At}.apply(lib.binary.{op}, left={s})",
            f"{matrix_out} << o.{At}.select(lib.select.{pick(('tril', 'triu', 'offdiag', 'diag'))}, {s - 1})",
            f"{vector_out} << o.{u}.select(lib.select.valuene, 0)",
            f"{vector_out} << o.{At}.reduce_rowwise(lib.monoid.{monoid})",
            f"{vector_out} << o.{At}.reduce_columnwise(lib.monoid.{monoid})",
            f"{matrix_out} << o.{At}[{permutation.tolist()}, ::-1]",
            f"{vector_out} << o.{At}[{i}, :]",
            f"{vector_out} << o.{u}[::-1]",
            f"{matrix_out} << o.{A}.T",
            f"{matrix_out}{region} << o.{At}{region}.new()",
            f"{matrix_out}[{i}, :] << o.{u}",
            f"{matrix_out}[:, {j}] << o.{u}",
            f"{matrix_out}{region} << {s}",
            f"{vector_out}[{some}] << {s}",
            f"{vector_out}[{some}] << o.{u}[{some}].new()",
            f"o.{C}{region}({how(rng, pick, [A + region])}) << o.{B}{rest}.new()".replace(
                f"o.{A}{region}", f"o.{A}{region}.new()"
            ),
            f"o.{C}[{i}, {j}] << {s}",
            f"o.{w}[{i}] << {s}",
            f"o.{C}[{i}, {j}] << {s}",
            f"o.{w}[{i}] << {s}",
            f"o.{w}(accum=lib.binary.plus)[{i}] << {s}",
            f"del o.{C}[{i}, {j}]",
            f"del o.{w}[{i}]",
            f"o.{C} = o.{A}.dup()",
            f"o.{w} = o.{u}.dup()",
            f"o.{C} << o.{A}",
            f"o.{w} << o.{u}",
            f"o.{C} = o.{A}.T.new()",
            f"o.{w} = o.{A}.diag()",
            f"o.{C} = o.{u}.diag()",
            f"o.{w} << {s}",
            f"{vector_out}[:] << {s}",
            f"o.{C} = o.{A}.apply(lib.unary.one).new()",
            f"o.{w} = o.{u}.apply(lib.unary.one).new()",
        )
    )


def pool(rng, n):
    pick = picker(rng)
    found = {name: make(rng, (n, n), pick(TYPES), pick(KINDS)) for name in "ABC"}
    return found | {name: make(rng, (n,), pick(TYPES), pick(KINDS)) for name in "uvw"}


def run(text, library, objects):
    """The class of the exception, if the statement is refused (an operator without that type, say)."""
    try:
        exec(text, {"o": objects, "lib": library, "np": np})  # noqa: S102  the text was made above
    except Exception as error:  # noqa: BLE001  whatever it is, both libraries must refuse
        return type(error).__name__
    return None


def is_sound(value):
    """SuiteSparse 9.4.5 now and then returns an index out of range (hypersparse ewise_mult under a complemented
    mask, aliased):
    seed 3, program 27.  Such a program ends there."""
    found = plain(value)
    return all((index < n).all() and (index >= 0).all() for index, n in zip(found.indices, found.shape, strict=True))


coverage.owe("programs", "number", range(PROGRAMS), WITHOUT_NUMBA)


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_programs(number):
    rng = generator("program", number)
    n = (1, 3, 5, 8, 33, 70)[number % 6]
    operands = pool(rng, n)
    texts = [statement(rng, n) for _ in range(STATEMENTS)]
    dense = ("dense",) if number % 3 == 0 and "default" in WITHOUT_NUMBA and LIBRARY != "graphblas" else ()
    for name in WITHOUT_NUMBA + dense:
        sides = {
            library: types.SimpleNamespace(**{key: value.build(library) for key, value in operands.items()})
            for library in (oracle, gb)
        }
        for k, text in enumerate(texts):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = run(text, oracle, sides[oracle])
            with engine(name):
                refused = run(text, gb, sides[gb])
            if not all(is_sound(getattr(sides[oracle], key)) for key in operands):
                break
            problem = (
                None if (expected is None) == (refused is None) else f"refused: expected {expected}, got {refused}"
            )
            if problem is None and (k % 4 == 3 or k == STATEMENTS - 1):
                for key in operands:
                    found = difference(plain(getattr(sides[oracle], key)), plain(getattr(sides[gb], key)))
                    problem = problem or (f"{key}: {found}" if found else None)
            if problem:
                start = "\n".join(f"o.{key} = {value!r}.build(lib)" for key, value in operands.items())
                raise AssertionError(
                    f"seed {SEED}, program {number}, engine {name}, after statement {k}: {problem}\n{start}\n"
                    + "\n".join(texts[: k + 1])
                )
        coverage.executed("programs", "number", number, name)
