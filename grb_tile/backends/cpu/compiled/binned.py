"""w<mask> = A x, row-wise, with x in bins first where no cache holds it (templates/matvec_binned.py).

Schema of ColumnBins, a form of A kept in A.forms["column_bins"] (bins of 2^ROW_BITS rows, slabs of 2^SLAB_BITS columns)

    cells      int64 [bins * slabs + 1]   where the entries of each bin and slab begin; they are as in A inside of it
    columns    uint16 [entries]           column in the slab
    rows       uint16 [entries]           row in the bin; 2^ROW_BITS more for the first entry of a row
    values     A's type [entries]         in the same order; None until a product reads them

4 bytes an entry and a value, beside A.  A product has a value of x for each entry too, of some entries at once.
"""

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.operators.iso_products import uses
from grb_tile.planner import tuning
from grb_tile.planner.choose_kernel import BINNED, forced_kernel, host_bins_pay
from grb_tile.planner.choose_matvec import can_stop_early
from grb_tile.planner.record import forced
from grb_tile.storage import convert
from grb_tile.storage.host_memory import free_bytes, gives_way, last_cache_bytes
from grb_tile.storage.store import BitmapVector, forms_of

from ..jit import cache as jit
from .matvec import (
    CHUNKS_PER_THREAD,
    NO_WORDS,
    mask_words_of,
    operand,
    result_vector,
    row_product,
    rows_kernel,
    semiring_kernel,
)

SLAB_BITS, ROW_BITS = 16, 15  # what 16 bits name, one of them for a row's first entry; 512 KB of FP64 values
AT_ONCE = 1 << 24  # entries
OF_X, OF_THREAD = 4, 1 << 22  # entries at once for each column, as all of x is read for them, and for each thread
LINE = 64  # bytes
SAMPLED = 8  # one entry of so many is counted
FREE_FACTOR = 2  # times the form's size must be free

_NO_FLAGS = np.zeros(0, np.bool_)


class ColumnBins:
    """See the schema at the head of this file.

    bits: (SLAB_BITS, ROW_BITS).  uses: products that could use it.  cached: by bytes of a value of x, the share of the
    entries whose x is cached.  made: are the arrays there?  spare: arrays for x in bins that no product uses now.
    """

    __slots__ = ("__weakref__", "bits", "cached", "cells", "columns", "made", "rows", "spare", "uses", "values")

    def __init__(self, bits):
        self.bits, self.uses, self.made, self.cached, self.spare = bits, 0, False, {}, []
        self.cells = self.columns = self.rows = self.values = None

    def release(self):
        """Drop the arrays: memory is short.  A product that runs has its own references."""
        self.made, self.uses = False, 0
        self.cells = self.columns = self.rows = self.values = None
        self.spare = []

    @property
    def nbytes(self):
        """Bytes of the arrays."""
        arrays = (self.cells, self.columns, self.rows, self.values, *self.spare)
        return sum(array.nbytes for array in arrays if array is not None)


def form_of(A):
    """The ColumnBins of A, perhaps without its arrays."""
    forms, bits = forms_of(A), (SLAB_BITS, ROW_BITS)
    found = forms.get("column_bins")
    if found is None or found.bits != bits:
        found = forms["column_bins"] = ColumnBins(bits)
    return found


def shape_of(A, form):
    """(bins, slabs)"""
    slab_bits, row_bits = form.bits
    return (A.nrows - 1 >> row_bits) + 1, (A.ncols - 1 >> slab_bits) + 1


def matvec_rows(A, x, semiring, mask, plan):
    """w<mask> = A x over bins; NotImplemented where gathers cost less, or the product has no such form."""
    wanted = forced_kernel("rows") == BINNED
    if not wanted and (A.indices.shape[0] < tuning.CPU_BINS_ENTRIES or forced().format is not None):
        return NotImplemented
    w = _product(A, x, semiring, mask, plan, wanted) if _serves(A, x, semiring, mask) else NotImplemented
    if w is NotImplemented and wanted:
        plan.rule, plan.figures = "kernel_unsuited", (BINNED,)
    return w


def _serves(A, x, semiring, mask):
    """Does the product gather values of an x that has most positions, for sums that read all of a row?"""
    if A.rows is not None or A.indices.shape[0] == 0 or x.format != "bitmap" or 2 * x.nvals < x.size or x.iso:
        return False
    if x.values.dtype.names is not None or x.values.ndim != 1 or A.values.dtype.names is not None or A.values.ndim != 1:
        return False
    if mask is not None and not mask.complement and mask.pattern.format == "sparse":
        return False
    if rows_kernel(A, x, semiring, mask) is None:
        return False
    product = row_product(A, x, semiring, mask)
    if product.one or not product.reads_x or semiring.binaryop.positional:
        return False
    return not can_stop_early(semiring) and semiring.monoid.binaryop.kind != "any"


def _product(A, x, semiring, mask, plan, wanted):
    form, item = form_of(A), semiring.binaryop.type2.np_type.itemsize
    figures = () if wanted else _figures(A, x, form, item, mask)
    if figures is None:
        return NotImplemented
    a_iso, full = A.iso or not row_product(A, x, semiring, mask).reads_a, x.nvals == x.size
    kernel = semiring_kernel("matvec_binned", semiring, "i", A_ISO=a_iso, X_FULL=full, CODE="H", FLAG="?")
    if kernel is None:
        return NotImplemented
    seconds = 0.0 if wanted else (figures[1] - figures[0]) * 1e-9  # that gathers lose
    functions = kernel.functions_for(seconds)
    if functions is None or not _make(A, form, not a_iso, seconds):
        if functions is None:
            kernel.count(seconds)
        return NotImplemented
    try:
        w = jit.attempt(kernel, lambda: _run(functions, A, x, semiring, mask, form, a_iso))
    except MemoryError:
        form.release()
        return NotImplemented
    if w is not NotImplemented:
        plan.use_kernel(BINNED, "forced" if wanted else "x_streams", figures)
    return w


def _figures(A, x, form, item, mask):
    """The figures of bins that pay (planner/choose_kernel.py), else None: a mask, or an x with gaps, saves gathers."""
    if form.uses <= tuning.BUILD_AFTER:
        form.uses += 1
    if form.uses <= tuning.BUILD_AFTER:
        return None
    entries, (bins, slabs) = A.indices.shape[0], shape_of(A, form)
    if mask is not None:
        admitted = mask.pattern.nvals / max(mask.pattern.size, 1)
        if (1 - admitted if mask.complement else admitted) < tuning.CPU_BINS_ADMITTED:
            return None

    def cached():
        if item not in form.cached:
            form.cached[item] = cached_share(A, item)
        return form.cached[item]

    def fits():
        free = free_bytes()
        needed = 4 * entries + A.values.nbytes + 8 * bins * slabs + item * min(entries, at_once(A))
        return form.made or free is None or FREE_FACTOR * needed <= free

    return host_bins_pay(entries, item, bins * slabs, cached, fits)


def cached_share(A, item):
    """The share of A's entries in the lines of x, values of `item` bytes, that its share of the last cache holds."""
    held = int(last_cache_bytes() * tuning.CPU_CACHED_SHARE) // LINE
    values = LINE // item
    if A.ncols <= held * values:
        return 1.0
    lines = np.bincount(A.indices[::SAMPLED] // values)
    if lines.shape[0] <= held:
        return 1.0
    return float(np.partition(lines, -held)[-held:].sum() / lines.sum())


def _make(A, form, reads_a, seconds):
    """Make what of the form is lacking; False while there is no kernel for it, or memory is short."""
    if form.made and (not reads_a or form.values is not None):
        return True
    kernel = jit.plain_kernel("column_bins", VALUE=A.values.dtype.char, INDEX=A.indices.dtype.char, CODE="H")
    functions = kernel.functions_for(seconds)
    if functions is None:
        kernel.count(seconds)
        return False
    try:
        made = jit.attempt(kernel, lambda: _place(functions, A, form, reads_a))
    except MemoryError:
        form.release()
        return False
    return made is not NotImplemented


def _place(functions, A, form, reads_a):
    slab_bits, row_bits = form.bits
    (bins, slabs), entries, threads = shape_of(A, form), A.indices.shape[0], jit.thread_count()
    indptr, indices = jit.plain(A.indptr), jit.plain(A.indices)
    how = slabs, slab_bits, row_bits

    def over_bins(function, *arguments):
        cuts = even_bins(indptr[:: 1 << row_bits], entries, bins, threads)
        jit.share_out(lambda c, _: function(indptr, indices, *arguments, cuts[c], cuts[c + 1]), len(cuts) - 1, threads)

    cells = form.cells if form.made else None
    if cells is None:
        cells = np.zeros(bins * slabs + 1, np.int64)
        over_bins(functions.count, cells, *how)
        np.cumsum(cells[:-1], out=cells[1:])
        cells[0] = 0
        columns, rows = np.empty(entries, np.uint16), np.empty(entries, np.uint16)
        over_bins(functions.place, cells[:-1].copy(), *how, columns, rows)
        form.cells, form.columns, form.rows, form.made = cells, columns, rows, True
        gives_way(form)
    if reads_a and form.values is None:
        values = np.empty(entries, A.values.dtype)
        over_bins(functions.place_values, jit.plain(A.values), cells[:-1].copy(), *how, values)
        form.values = values


def even_bins(starts, entries, bins, threads, least=1):
    """Cuts between bins, about equal entries in each part of `least` bins or more; starts: the first entry of each."""
    parts = max(1, min(bins // least, threads * CHUNKS_PER_THREAD))
    wanted = entries * np.arange(1, parts, dtype=np.int64) // parts
    return [0, *np.searchsorted(starts[:bins], wanted).tolist(), bins]


def _run(functions, A, x, semiring, mask, form, a_iso):
    multiply, dtype, n = semiring.binaryop, semiring.return_type, A.nrows
    slab_bits, row_bits = form.bits
    (bins, slabs), full, threads = shape_of(A, form), x.nvals == x.size, jit.thread_count()
    cells, columns, rows, ordered = form.cells, form.columns, form.rows, form.values
    if cells is None or columns is None or rows is None or (ordered is None and not a_iso):
        return NotImplemented  # another thread released them
    if a_iso:
        a_values, _ = operand(A, multiply.type, uses(multiply)[0])
    else:
        a_values = ordered
        if a_values.dtype != multiply.type.np_type:
            a_values = cast(a_values, multiply.type)
    x_values, _ = operand(x, multiply.type2, True)
    x_words = NO_WORDS if full else jit.plain(x.words)
    allowed, live = _allowed(mask, n, bins, row_bits)
    words = NO_WORDS if full else np.zeros(n + 63 >> 6, np.uint64)
    values = np.empty(n, dtype.np_type)
    for b, end in _groups(cells[::slabs], at_once(A)):
        start, count = int(cells[b * slabs]), int(cells[end * slabs] - cells[b * slabs])
        if not live[b:end].any():
            continue
        held, met = _array(form, count, x_values.dtype), _NO_FLAGS if full else np.empty(count, np.bool_)
        each = -(-slabs // (threads * CHUNKS_PER_THREAD))  # slabs of a chunk

        def fill(chunk, _, b=b, end=end, held=held, met=met, each=each):
            functions.fill(
                cells, slabs, slab_bits, columns, x_words, x_values, live, held, met, b, end,
                chunk * each, min(slabs, (chunk + 1) * each),
            )  # fmt: skip

        jit.share_out(fill, -(-slabs // each), threads)
        cuts = even_bins(cells[b * slabs : end * slabs : slabs] - start, count, end - b, threads, 2)

        def add(chunk, _, b=b, start=start, held=held, met=met, cuts=cuts):
            functions.add(
                cells, slabs, row_bits, rows, a_values, held, met, live, words, values, start,
                b + cuts[chunk], b + cuts[chunk + 1],
            )  # fmt: skip

        jit.share_out(add, len(cuts) - 1, threads)
        if form.made:  # not released meanwhile
            form.spare.append(held)
    return _result(A, dtype, values, words, full, allowed)


def at_once(A):
    """Entries whose values of x are in bins at once."""
    return max(AT_ONCE, OF_X * A.ncols, OF_THREAD * jit.thread_count())


def _groups(starts, most):
    """(first, end) of consecutive bins that have about `most` entries together; starts: the first entry of each bin."""
    first, bins = 0, starts.shape[0] - 1
    while first < bins:
        end = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
        yield first, end
        first = end


def _array(form, count, np_type):
    """An array of at least so many values, kept with the form when it has been used."""
    try:
        held = form.spare.pop()  # one step: no other thread has it
    except IndexError:
        return np.empty(count, np_type)
    return held if held.shape[0] >= count and held.dtype == np_type else np.empty(count, np_type)


def _allowed(mask, n, bins, row_bits):
    """(words of the rows that the mask admits, None: all; has each bin such rows?)"""
    words, flip = mask_words_of(mask)
    if not words.shape[0]:
        return None, np.ones(bins, np.bool_)
    words = words ^ flip
    if n & 63:
        words[-1] &= np.uint64((1 << (n & 63)) - 1)
    each = np.arange(0, words.shape[0], 1 << row_bits - 6)
    return words, np.bitwise_or.reduceat(words, each) != 0


def _result(A, dtype, values, words, full, allowed):
    n = A.nrows
    if not full:
        words = words if allowed is None else words & allowed
        return result_vector(n, dtype, words, values, int(np.bitwise_count(words).sum()))
    words, count = convert.occupied_words(A)
    if allowed is None:
        result = BitmapVector(n, dtype, words, values, count)
        result.shared = words is not None  # they are kept with A
        return convert.choose_format(result)
    words = allowed if words is None else words & allowed
    return result_vector(n, dtype, words, values, int(np.bitwise_count(words).sum()))
