"""A vector beside a matrix: the cost follows the entries or the mask, never nrows x ncols; room is checked first."""

import subprocess
import sys

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import binary, dtypes, indexunary
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import host_memory as memory

LIMITED = """
import resource, sys
import numpy as np
import grb_tile as gb
from grb_tile import binary

n = 10**6
rng = np.random.default_rng(3)
rows, cols, values = rng.integers(0, n, n), rng.integers(0, n, n), rng.random(n)
A = gb.Matrix.from_coo(rows, cols, values, nrows=n, ncols=n, dup_op=binary.max)
M = gb.Matrix.from_coo(cols, rows, 1, nrows=n, ncols=n)
v = gb.Vector.from_dense(rng.random(n))
few = gb.Vector.from_coo([3, n - 1], [1.0, 2.0], size=n)
limit = 1 << 30
with open("/proc/self/statm") as text:
    limit += int(text.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
I, J, X = A.to_coo()
dense = v.to_dense()
assert np.array_equal(binary.times(v & A).new().to_coo()[2], dense[I] * X)
assert np.array_equal(binary.times(A & v).new().to_coo()[2], X * dense[J])
assert binary.times(few & A).new().nvals == np.isin(I, [3, n - 1]).sum()
I, J, _ = M.to_coo()
assert np.array_equal(v.outer(v, binary.minus).new(mask=M.S).to_coo()[2], dense[I] - dense[J])
assert binary.plus(v | A).new(mask=M.S).nvals == M.nvals
assert A.kronecker(A, binary.times).new(mask=gb.Matrix.from_coo([0], [0], 1, nrows=n * n, ncols=n * n).S).nvals <= 1
# under a complement mask the result has all places of the vector's rows or columns outside the mask
wide = binary.plus(few | A).new(mask=~M.S)
J = M.to_coo()[1][np.isin(M.to_coo()[0], [3, n - 1])]
outside = binary.second(M & A).new(mask=M.S).nvals
assert wide.nvals == 2 * n - J.size + A.nvals - outside - binary.times(few & A).new(mask=~M.S).nvals
del wide
assert binary.plus(A | few).new(mask=M.S).nvals >= outside
assert A.ewise_union(v, "minus", 0.0, 0.0).new(mask=M.S).nvals == M.nvals
assert v.ewise_union(A, "minus", 0.0, 0.0).new(mask=M.S).nvals == M.nvals
assert few.outer(v, binary.times).new().nvals == 2 * n
assert v.outer(few, binary.times).new(mask=~M.S).nvals <= 2 * n
B = A.dup()
B << binary.times(v & A.T)
B(mask=M.S, accum=binary.plus) << binary.times(B & v)
assert gb.Matrix.from_coo([0, 1], [1, 0], [2.0, 3.0]).kronecker(A, binary.times).new().nvals == 2 * A.nvals
for form in (
    lambda: binary.plus(v | A).new(), lambda: binary.plus(A | v).new(), lambda: binary.plus(v | A).new(mask=~M.S),
    lambda: A.ewise_union(v, "plus", 0.0, 0.0).new(), lambda: v.outer(v).new(), lambda: v.outer(v).new(mask=~M.S),
    lambda: A.kronecker(A).new(), lambda: A.kronecker(A).new(mask=~gb.Matrix(bool, n * n, n * n).S),
):
    try:
        form()
        raise SystemExit("should have been refused")
    except gb.exceptions.OutOfMemory as error:
        print("refused:", error)
"""


def test_a_million_rows_under_a_memory_limit():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "refused: kronecker: 1000000000000 entries" in done.stdout and "operands are unchanged" in done.stdout


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("complement", [None, False, True])
def test_broadcast_forms_equal_the_dense_matrix(seed, complement):
    """op(v & A), op(A & v), op(v | A), op(A | v) against the vector written out as a matrix; transposed and masked
    too."""
    rng = np.random.default_rng([5, seed])
    n, m = int(rng.integers(1, 9)), int(rng.integers(1, 9))

    def matrix(nrows, ncols, dtype):
        kept = rng.random((nrows, ncols)) < 0.4
        return gb.Matrix.from_coo(*kept.nonzero(), rng.integers(1, 9, kept.sum()), dtype, nrows=nrows, ncols=ncols)

    def vector(size):
        kept = rng.random(size) < 0.6
        return gb.Vector.from_coo(*kept.nonzero(), rng.integers(1, 9, kept.sum()), dtypes.FP64, size=size)

    A, u, v, M = matrix(n, m, dtypes.INT32), vector(n), vector(m), matrix(n, m, dtypes.BOOL)
    mask = None if complement is None else ~M.S if complement else M.S
    down = gb.Matrix.from_coo(
        np.repeat(u.to_coo()[0], m), np.tile(np.arange(m), u.nvals), np.repeat(u.to_coo()[1], m), nrows=n, ncols=m
    )
    along = gb.Matrix.from_coo(
        np.repeat(np.arange(n), v.nvals), np.tile(v.to_coo()[0], n), np.tile(v.to_coo()[1], n), nrows=n, ncols=m
    )
    for op in (binary.minus, binary.first, binary.ss.firstj, binary.ss.secondi):
        for left, right, plain in ((u, A, (down, A)), (A, v, (A, along))):
            assert op(left & right).new(mask=mask).isequal(op(plain[0] & plain[1]).new(mask=mask), check_dtype=True)
            if op in (binary.minus, binary.first):
                assert op(left | right).new(mask=mask).isequal(op(plain[0] | plain[1]).new(mask=mask), check_dtype=True)
        T = A.T.new()
        assert op(u & T.T).new(mask=mask).isequal(op(down & A).new(mask=mask))
    positions = indexunary.rowindex(A).new()
    assert binary.times(u & positions).new(mask=mask).isequal(binary.times(down & positions).new(mask=mask))
    for op in (binary.minus, binary.ss.firsti, binary.ss.firstj, binary.ss.secondi, binary.ss.secondj):
        whole = u.outer(v, op).new()
        wanted = whole.dup() if mask is None else whole.dup(mask=mask)
        assert u.outer(v, op).new(mask=mask).isequal(wanted, check_dtype=True)


def test_operands_stay_as_they_are_when_room_is_missing():
    n = 10**7
    u = gb.Vector.from_dense(np.ones(n))
    with pytest.raises(
        OutOfMemory, match=r"kronecker: \d+ entries: .* bytes needed, .* free; the operands are unchanged"
    ):
        u.outer(u, binary.times).new()
    assert u.nvals == n


@pytest.mark.parametrize(("folder", "names"), [
    ("", ("memory.max", "memory.current", "memory.stat")),
    ("memory", ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat")),
])  # fmt: skip
def test_cached_files_of_a_control_group_count_as_free(folder, names, tmp_path):
    """A container that has read large files has used all its memory, which the system gives back when asked."""
    place = tmp_path / folder
    place.mkdir(exist_ok=True)
    for name, text in zip(names, ("1000", "990", "anon 90\nactive_file 300\ninactive_file 600\n"), strict=True):
        (place / name).write_text(text)
    assert memory._control_group(tmp_path) == 910
    (place / names[0]).write_text("max")
    assert memory._control_group(tmp_path) is None
