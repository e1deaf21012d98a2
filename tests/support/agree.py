"""agree(): one call, run by the oracle and by every engine of the library under test, compared in everything
visible."""

import warnings

from support import coverage
from support.library import WITHOUT_NUMBA, engine, gb, left_out, oracle
from support.plain import Plain, difference, is_object, plain
from support.ranks import is_ranks, on_ranks


class Raised:
    def __init__(self, error):
        self.error = error
        self.name = type(error).__name__

    def __repr__(self):
        return f"raised {self.name}: {self.error}"


class Operands:
    """The operands as attributes, each built in the library when it is first asked for."""

    def __init__(self, library, operands):
        self.__dict__["_made_of"] = library, operands

    def __getattr__(self, name):
        library, operands = self.__dict__["_made_of"]
        if name not in operands:
            raise AttributeError(name)
        made = self.__dict__[name] = self._built(library, operands[name])
        return made

    def _built(self, library, value):
        return value.build(library) if isinstance(value, Plain) else value


def build(library, operands):
    return Operands(library, operands)


def outcome(library, call, operands, may_fail=False):
    """(result, operands afterwards) as plain data, or Raised."""
    objects = build(library, operands)
    try:
        result = call(library, objects)
    except Exception as error:
        if not may_fail:
            raise
        result = Raised(error)
    if isinstance(result, (list, tuple)):
        result = type(result)(map(plain, result))
    else:
        result = plain(result)
    after = {name: plain(value) for name, value in vars(objects).items() if is_object(value)}
    return result, after


def expected_outcome(call, operands, may_fail=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return outcome(oracle, call, operands, may_fail)


def computed(name, call, operands, may_fail=False):
    """outcome() by an engine; on several ranks that of rank 0, to which those of the others are equal."""
    if not is_ranks(name):
        with engine(name):
            return outcome(gb, call, operands, may_fail)
    first, *others = on_ranks(name, lambda: outcome(gb, call, operands, may_fail))
    for rank, (result, after) in enumerate(others, 1):
        if isinstance(first[0], Raised):
            same = isinstance(result, Raised) and result.name == first[0].name
            assert same, f"rank {rank}: {result!r}, rank 0: {first[0]!r}"
            continue
        problem = difference(first[0], result)
        for key, value in first[1].items():
            problem = problem or difference(value, after[key])
        assert problem is None, f"rank {rank} against rank 0: {problem}"
    return first


def report(where, name, problem, operands):
    lines = [f"{where}, engine {name}: {problem}", "  operands:"]
    lines += [f"    {key} = {value!r}" for key, value in operands.items()]
    return "\n".join(lines)


def agree(call, operands, where="", *, cells=(), engines=None, tolerance=0.0, may_fail=False):
    """Run `call(library, objects)` with the oracle and with each engine; results and operands must be equal afterwards.

    operands: {name: Plain or anything}; objects.name is the built object.  cells: (operation, axis, value) that this
    covers.
    engines: all but Numba unless told otherwise, since its kernels take most of a second each to compile.
    """
    expected, expected_after = expected_outcome(call, operands, may_fail)
    for name in WITHOUT_NUMBA if engines is None else engines:
        if left_out(name, where.partition(" [")[0] or cells):
            continue
        try:
            result, after = computed(name, call, operands, may_fail)
        except Exception as error:
            raise AssertionError(report(where, name, f"raised {type(error).__name__}: {error}", operands)) from error
        if isinstance(expected, Raised) or isinstance(result, Raised):
            same = isinstance(expected, Raised) and isinstance(result, Raised) and expected.name == result.name
            problem = None if same else f"expected {expected!r}, got {result!r}"
        else:
            problem = difference(expected, result, tolerance)
            problem = problem and f"result: {problem}"
        for key, value in expected_after.items():
            problem = (
                problem
                or difference(value, after[key], tolerance)
                and (f"operand {key} afterwards: {difference(value, after[key], tolerance)}")
            )
        if problem:
            raise AssertionError(report(where, name, problem, operands))
        for cell in cells:
            coverage.executed(*cell, name)
