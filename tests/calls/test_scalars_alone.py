"""Calls whose operands are Scalars and numbers alone: no launch and no byte to or from the device, the CPU's results.

Each cell of the table whose operands are all Scalars, and every binary operator's symbol on either side of a number.
"""

import pytest

from calls import operators, scalars  # noqa: F401  rows
from calls.scaled import OnDevice, operands
from calls.table import ROWS
from cuda_emulation.arrays import Traffic
from cuda_emulation.backend import EMULATED, using_shim
from cuda_emulation.launcher import EmulatedKernel
from grb_tile.backends import select
from support.agree import outcome
from support.library import LIBRARY, gb
from support.plain import difference

if LIBRARY == "graphblas" or not EMULATED:
    pytest.skip("launches are counted by the CPU emulation", allow_module_level=True)

OF_OPERATORS = ("Scalar", "Scalars", "Scalar and number", "number")
COLLECTIONS = {  # cells of Scalars into which a matrix is reduced
    "Scalar.__call__": ("a reduction",),
    "Scalar.__lshift__": ("",),
    "Scalar.update": ("",),
    "operators.binary": ("Scalar",),
}


def cells():
    """(member, kind) of the calls of Scalars alone."""
    return [
        (member, kind)
        for member in sorted(ROWS)
        for kind, cell in ROWS[member].items()
        if (member.startswith("Scalar.") or member.startswith("operators.") and kind in OF_OPERATORS)
        and kind not in COLLECTIONS.get(member, ())
        and not cell.refused
    ]


@pytest.fixture
def launched(monkeypatch):
    """The names of the kernels that were launched."""
    names, launch = [], EmulatedKernel.__call__

    def counted(kernel, *args, **options):
        names.append(kernel.name)
        return launch(kernel, *args, **options)

    monkeypatch.setattr(EmulatedKernel, "__call__", counted)
    return names


def of_the_device():
    return Traffic.to_device, Traffic.to_host


@pytest.mark.parametrize(("member", "kind"), cells())
def test_scalars_stay_on_the_host(member, kind, launched):
    cell, given = ROWS[member][kind], operands(f"{member} {kind}", "csr", 1)
    with select.using("cpu"):
        wanted = outcome(gb, cell.call, given)
    with using_shim():
        o = OnDevice(gb, given)
        before = of_the_device()
        cell.call(gb, o)
        assert of_the_device() == before and not launched
        assert all(not x.shape for name, x in vars(o).items() if not name.startswith("_"))
        found = outcome(gb, cell.call, given)
    assert difference(wanted, found) is None


def test_the_cells_left_out_reduce_a_matrix():
    for member, kinds in COLLECTIONS.items():
        for kind in kinds:
            with using_shim():
                o = OnDevice(gb, operands(f"{member} {kind}", "csr", 1))
                ROWS[member][kind].call(gb, o)
                assert "A" in vars(o), (member, kind)


def test_a_reduction_is_read_once_and_computed_with_on_the_host(launched):
    """What a device reduced is a number on the host from then on."""
    with using_shim():
        v = gb.Vector.from_coo([1, 2, 5], [1.0, 2.0, 4.0], size=9).apply(gb.unary.ainv).new()
        total = v.reduce(gb.monoid.plus).new()
        launched.clear()
        before = of_the_device()
        assert (abs(total) + 1).new().value == 8.0 and (total / 2).new().value == -3.5
        assert of_the_device() == before and not launched


def test_a_scalar_written_into_a_vector_is_where_the_vector_is():
    with using_shim():
        s = gb.Scalar.from_value(3)
        v = gb.Vector.from_coo([0, 2], [1, 2], size=4).apply(gb.unary.ainv).new()
        w = v.apply(gb.binary.plus, right=(s + 1).new()).new()
        assert w.device == v.device == "cuda:0" and w.to_dict() == {0: 3, 2: 2}
