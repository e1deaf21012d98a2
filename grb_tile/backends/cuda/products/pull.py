"""w<m> = A (+.x) x row-wise where one match decides a row: any monoid, or structure only.  Kernel: products/pull.cuh.

With a PullForm, made once for each matrix and cached in A.forms ("pull"), most rows end at their first lookup:

    start            int32 or int64 [n + 1]   A.indptr
    live             uint32                   rows with entries, as bits, for whole groups of 128 rows
    live_count       int                      the number of rows with entries
    top_neighbour    int32 [n]                the highest-degree neighbour of each row; None while A' is not cached
    next_neighbours  int32 [4 n]              the next four, -1 where there are fewer
"""

import numpy as np

from ....storage.convert import cached_transpose, forms_of
from ..structure.arrays import index_type
from .row_schedule import highest_degree_neighbours, pointers

LIMIT = 512  # entries of a row that a warp reads before it goes on to other rows
HUGE = 1 << 14  # entries of the rest of a row that a warp reads alone
GROUPS_OF_4 = 1 << 19  # rows from which a warp takes 128 of them
BLOCK = 1024  # threads; one block on each multiprocessor, because more take longer to start than they save


class PullForm:
    """See the head of this file."""

    __slots__ = ("launches", "live", "live_count", "next_neighbours", "start", "top_neighbour")


def suits(A, s):
    """Is this kernel one for row-wise products of A?"""
    return (s.structure_only or s.any) and A.rows is None and A.indices.dtype.itemsize == 4 and A.nrows < 2**31 - 128


def pull(device, A, x_words, x_values, s, mask, complement):
    """(w, words, count): values (None when structure only), presence, and where their number is counted."""
    form = A.forms.get("pull") if A.forms else None
    if form is None or form.top_neighbour is None and cached_transpose(A) is not None:
        form = form_of(device, A)
    kernel, threads, halves, fixed = form.launches.get(s) or _prepared(device, A, form, s)
    w = None if s.structure_only else device.empty(A.nrows, s.dtype.np_type)
    words, found = device.empty(halves >> 1, np.uint64), device.counters()
    kernel.over(threads, (
        *fixed, x_words, x_values if s.reads_x else None, mask, complement, halves, LIMIT, HUGE, w, words, found,
        None, None,
    ), BLOCK, device.launcher.processors)  # fmt: skip
    return w, words, found


def _prepared(device, A, form, s):
    """(kernel, threads, halves of words, the arguments that stay), kept with the form."""
    n = A.nrows
    halves = (n + 63) >> 6 << 1
    rows = 4 if n >= GROUPS_OF_4 else 1
    top = next_neighbours = None
    if s.a_iso or not s.reads_a:
        top, next_neighbours = form.top_neighbour, form.next_neighbours
    fixed = form.start, A.indices, A.values if s.reads_a else None, form.live, top, next_neighbours
    fixed = tuple(device.address(a) if a is not None and a.size else a for a in fixed)  # an empty array has no address
    kernel = s.kernel(device.launcher, "products/pull.cuh", "matvec_pull", (index_type(form.start), "S", str(rows)))
    form.launches[s] = found = kernel, halves * 32 // rows, halves, fixed
    return found


def form_of(device, A):
    """The PullForm of A, kept in A.forms."""
    forms = forms_of(A)
    found = forms.get("pull")
    if found is None:
        found = forms["pull"] = _make(device, A)
    if found.top_neighbour is None:
        transpose = cached_transpose(A)
        if transpose is not None and transpose.rows is None:
            found.top_neighbour, found.next_neighbours = highest_degree_neighbours(device, A, transpose)
            found.launches = {}
    return found


def _make(device, A):
    form, n = PullForm(), A.nrows
    form.top_neighbour = form.next_neighbours = None
    form.launches = {}  # by semiring
    form.start = pointers(device, A)
    places = (n + 127) // 128 * 128
    form.live = device.empty(places // 32, np.uint32)
    facts = device.zeros(2, np.int64)
    index = index_type(form.start)
    device.launcher.kernel("graph/bfs_prepare.cuh", "row_facts", "", (index,)).over(
        places, (form.start, n, places, form.live, facts.view(np.uint64))
    )
    form.live_count = device.read(facts)[0]
    return form
