"""A call copies between host and device what it is given and what it returns, and 4 KB more, whatever the size.

Each cell of the table runs on the CPU emulation at two sizes (scaled.py).  What it copies beyond host arrays and
numbers among its arguments and results (support/traffic.py) must be at most ALLOWED bytes at both sizes, and must not
grow by more than GROWTH from one to the other.  traffic_exceptions.py lists the cells that copy more, each with its
reason; an entry that is no longer needed fails.
"""

import zlib
from functools import lru_cache

import pytest

from calls import computing, files, operators, reading, scalars, tools, writing  # noqa: F401  rows
from calls.scaled import FORMS, VECTOR_SCALES, OnDevice, operands
from calls.table import ROWS
from calls.traffic_exceptions import LOOPS, MORE, SIZED
from cuda_emulation.arrays import Traffic
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile.storage import constructors, convert, place
from support.library import LIBRARY, gb
from support.seeds import generator
from support.traffic import measured

if LIBRARY == "graphblas" or not EMULATED:
    pytest.skip("bytes are counted by the CPU emulation", allow_module_level=True)

ALLOWED, GROWTH = 4096, 256
THIN = 24  # one in so many cells of a kind that has many


def number_of(member, kind):
    return zlib.crc32(f"{member} {kind}".encode())


def cells(member):
    """{kind: cell} of those that are measured."""
    return {
        kind: cell
        for kind, cell in ROWS[member].items()
        if not cell.refused
        and kind not in LOOPS.get(member, ())
        and kind not in SIZED.get(member, ())
        and (not cell.thin or number_of(member, kind) % THIN == 0)
    }


def form_of(member, kind):
    """The form in which a cell is measured: always the same, so that the list of exceptions is exact."""
    return list(FORMS)[number_of(member, kind) // THIN % len(FORMS)]


@pytest.fixture(autouse=True)
def as_at_scale(monkeypatch):
    """Limits below which a copy costs less than what avoids it are below the sizes here, whatever they are.

    Objects that cells of assignments make from host arrays are made, and copied to the device, by the first run.
    """
    monkeypatch.setattr(writing, "object_of", lru_cache(None)(writing.object_of))
    monkeypatch.setattr(place, "ELEMENT_NS", 1)  # a small object is copied whole when an element is read
    for module in (convert, constructors):
        monkeypatch.setattr(module, "SMALL_ROWS", 16)  # an empty matrix of few rows has an array of them


def beyond(member, kind, cell, scale):
    """Bytes in both directions beyond arguments and results, once kernels and constants are there."""
    given = operands(f"{member} {kind}", form_of(member, kind), scale)
    first = OnDevice(gb, given)
    cell.call(gb, first)
    o = OnDevice(gb, given)
    for name in vars(first):
        getattr(o, name)
    return measured("calls", lambda: cell.call(gb, o))


def exceeds(member, kind, cell):
    """The bytes of both sizes where the cell copies too much, None where it does not."""
    scales = VECTOR_SCALES if member.startswith("Vector.") else FORMS[form_of(member, kind)][2:]
    small, large = ([max(0, count) for count in beyond(member, kind, cell, scale)] for scale in scales)
    most = max(*small, *large)
    grown = max(b - a for a, b in zip(small, large, strict=True))
    return None if most <= ALLOWED and grown <= GROWTH else f"{small} -> {large}"


@pytest.mark.sampled(16)
@pytest.mark.parametrize("member", sorted(member for member in ROWS if cells(member)))
def test_calls(member):
    found = {}
    with using_shim():
        for kind, cell in cells(member).items():
            problem = exceeds(member, kind, cell)
            if problem is not None:
                found[kind] = f"{form_of(member, kind)}: {problem}"
    listed = {kind for kinds in MORE.get(member, {}).values() for kind in kinds}
    more = {kind: found[kind] for kind in found.keys() - listed}
    assert not more, f"{member} copies more than its arguments and results: {more}"
    assert listed <= found.keys(), (
        f"no longer needed in traffic_exceptions.py: {member} {sorted(listed - found.keys())}"
    )


LISTS = {  # calls with lists of positions: how often each list is copied at most
    "v[p]": (1, lambda o, p, I, J: o.v[p].new()),
    "v[p] << 1": (2, lambda o, p, I, J: o.v[p] << 1),
    "v[p] << u": (2, lambda o, p, I, J: o.v[p] << o.u),
    "v(m)[p] << u": (2, lambda o, p, I, J: o.v(o.m.S)[p] << o.u),
    "v[p](m) << u": (3, lambda o, p, I, J: o.v[p](o.m.S) << o.u),
    "del v[p]": (2, lambda o, p, I, J: o.v.__delitem__(p)),
    "A[I, :]": (1, lambda o, p, I, J: o.A[I, :].new()),
    "A[I, J]": (1, lambda o, p, I, J: o.A[I, J].new()),
    "A[I, J] << 1": (2, lambda o, p, I, J: o.A[I, J] << 1),
    "A[I, J] << B": (2.5, lambda o, p, I, J: o.A[I, J] << o.B),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", LISTS)
@pytest.mark.parametrize("form", ["csr", "bitmap", "full"])
def test_lists_are_copied_once_and_their_order_once(form, call):
    """A list that does not ascend goes to the device with the order that sorts it, or with its inverse."""
    most, function = LISTS[call]
    rng = generator("lists", form)
    with using_shim():
        o = OnDevice(gb, operands("lists", form, 16))
        lists = [rng.permutation(n) for n in (o.v.size, *o.A.shape)]
        for name in ("u", "B", "m"):
            getattr(o, name)
        before = Traffic.to_device, Traffic.to_host
        function(o, *lists)
    nbytes = lists[0].nbytes if "v" in call else sum(x.nbytes for x in lists[1:] if "J" in call or x is lists[1])
    assert Traffic.to_device - before[0] <= most * nbytes + 256 and Traffic.to_host - before[1] <= 512


def test_the_exceptions_are_of_cells_that_there_are():
    for table in (LOOPS, SIZED, {m: [k for ks in reasons.values() for k in ks] for m, reasons in MORE.items()}):
        for member, kinds in table.items():
            assert set(kinds) <= ROWS[member].keys(), (member, sorted(set(kinds) - ROWS[member].keys()))


@pytest.mark.slow
@pytest.mark.parametrize("member", sorted(SIZED))
def test_cells_that_are_left_out_have_sizes_of_their_own(member):
    """They raise for operands of other sizes than the table's."""
    for kind in SIZED[member]:
        with using_shim(), pytest.raises(Exception):  # noqa: B017, PT011
            beyond(member, kind, ROWS[member][kind], 8)
