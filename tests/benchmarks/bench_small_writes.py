"""Writes that reach few positions of a large matrix or vector, against python-graphblas in the same process.

    python tests/benchmarks/bench_small_writes.py [--entries 1000000] [--rounds 15] [--write]

Each cell is written in turns, ours and SuiteSparse's, and the contents are compared at the end.  "new": every round
writes other positions, so that entries come; "again": the same positions every round.  "write": the call alone, after
which either library may leave work pending; "write and nvals": with a read of nvals, for which SuiteSparse assembles it
and grb_tile counts up to 64 changes without merging them.  Times are the least of all rounds, in ms.  `--write` puts
the table into results/small_writes.md.
"""

import argparse
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
for folder in (HERE, HERE.parent.parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import numpy as np  # noqa: E402

RESULTS = HERE / "results" / "small_writes.md"


class Side:
    """The objects of one library; `r` is the round, from which the positions written follow."""

    def __init__(self, library, entries):
        rng = np.random.default_rng(1)
        n = max(entries // 10, 100)
        keys = np.unique(rng.integers(0, n * n, entries))
        self.library, self.n, self.plus = library, n, library.binary.plus
        self.A = library.Matrix.from_coo(*np.divmod(keys, n), rng.random(keys.size), nrows=n, ncols=n)
        places = np.unique(rng.integers(0, 100 * entries, entries))
        self.v = library.Vector.from_coo(places, rng.random(places.size), size=100 * entries)
        self.D = library.Matrix.from_coo(np.arange(n), np.arange(n), np.ones(n), nrows=n, ncols=n)
        self.M3 = library.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, 2.0, 3.0], nrows=3, ncols=3)
        self.finish()
        self.at(0)

    def at(self, r):
        """Make the operands of round r, all their pending work done."""
        library, n = self.library, self.n
        self.i, self.j = 5 + r % (n - 20), (7 + 31 * r) % n
        columns = np.unique([self.j, (self.j + 40) % n])
        self.M = library.Matrix.from_coo([self.i, self.i + 9], [self.j, 5], True, nrows=n, ncols=n)
        self.few = library.Vector.from_coo(columns, [1.0, 2.0], size=n)
        self.rows = [self.i, self.i + 1, self.i + 2]
        self.d = library.Matrix.from_coo([self.i, self.i + 1], [self.j, self.j], [1.0, 2.0], nrows=n, ncols=n)
        for x in (self.M, self.few, self.d):
            x.wait()

    def finish(self):
        for x in (self.A, self.v, self.D, self.M3):
            x.wait()

    def contents(self):
        return [np.asarray(part) for x in (self.A, self.v) for part in x.to_coo()]


def put(s):
    s.A[s.i, s.j] = 1


def accumulate(s):
    s.A(s.plus)[s.i, s.j] << 1


def delete(s):
    del s.A[s.i, s.j]


def mask_number(s):
    s.A(s.M.S)[:, :] = 2


def mask_matrix(s):
    s.A(s.M.S) << s.D


def accumulate_matrix(s):
    s.A(s.plus) << s.d


def row(s):
    s.A[s.i, :] = s.few


def column(s):
    s.A[:, s.j] = s.few


def block(s):
    s.A[s.rows, [1, 2, 3]] = s.M3


def put_vector(s):
    s.v[s.i] = 1


def accumulate_vector(s):
    s.v(s.plus)[s.i] << 1


def list_vector(s):
    s.v[s.rows] = 4


def dup_masked(s):
    return s.d.dup(mask=~s.A.S)


CELLS = {
    "A[i, j] = 1": put,
    "A(plus)[i, j] << 1": accumulate,
    "del A[i, j]": delete,
    "A(M.S)[:, :] = 2, two entries in M": mask_number,
    "A(M.S) << D": mask_matrix,
    "A(plus) << d, two entries in d": accumulate_matrix,
    "A[i, :] = u, two entries in u": row,
    "A[:, j] = u, two entries in u": column,
    "A[[i, i+1, i+2], [1, 2, 3]] = M3": block,
    "v[i] = 1": put_vector,
    "v(plus)[i] << 1": accumulate_vector,
    "v[[i, i+1, i+2]] = 4": list_vector,
    "d.dup(mask=~A.S)": dup_masked,
}
LOOPS = {
    "A(plus)[i, j] << x": lambda s, i, j: s.A(s.plus)[i, j] << 1.5,
    "A[i, j] = x": lambda s, i, j: s.A.__setitem__((i, j), 1.5),
    "del A[i, j]": lambda s, i, j: s.A.__delitem__((i, j)),
    "A(plus)[5, 7] << x": lambda s, i, j: s.A(s.plus)[5, 7] << 1.5,
    "v(plus)[i] << x": lambda s, i, j: s.v(s.plus)[i] << 1.5,
    "v[i] = x": lambda s, i, j: s.v.__setitem__(i, 1.5),
    "del v[i]": lambda s, i, j: s.v.__delitem__(i),
}


def measure(sides, write, rounds, first, reads, again):
    """The least seconds of each side over `rounds` rounds in turns."""
    best = [np.inf] * len(sides)
    for r in range(rounds):
        for k in range(len(sides)) if r % 2 else reversed(range(len(sides))):
            side = sides[k]
            side.at(first if again else first + r)
            side.finish()
            start = time.perf_counter()
            result = write(side)
            if reads:
                (side.A if result is None else result).nvals  # noqa: B018
                side.v.nvals  # noqa: B018
            best[k] = min(best[k], time.perf_counter() - start)
    return best


def check(sides):
    """Raises AssertionError unless both sides have equal contents."""
    for mine, other in zip(*(side.contents() for side in sides), strict=True):
        np.testing.assert_array_equal(mine, other)


def loop(sides, write, count, rng):
    """Per side, the seconds of `count` single writes at random positions, and with a read of nvals after them.

    The least of three loops, in seconds of the processor: other programs share the machine, and nothing here waits.
    """
    n, found = sides[0].n, np.full(4, np.inf)
    for _ in range(3):
        positions = list(zip(rng.integers(0, n, count).tolist(), rng.integers(0, n, count).tolist(), strict=True))
        for k, side in enumerate(sides):
            side.finish()
            start = time.process_time()
            for i, j in positions:
                write(side, i, j)
            middle = time.process_time()
            side.A.nvals, side.v.nvals  # noqa: B018
            taken = middle - start, time.process_time() - start
            found[2 * k : 2 * k + 2] = np.minimum(found[2 * k : 2 * k + 2], taken)
    return found


def run(entries, rounds, count):
    """The lines of the two tables."""
    import graphblas

    import grb_tile

    sides = [Side(grb_tile, entries), Side(graphblas, entries)]
    yield "| write | new: write | new: write and nvals | again: write | again: write and nvals |"
    yield "|---|---|---|---|---|"
    first = 0
    for name, write in CELLS.items():
        cells = []
        for again in (False, True):
            for reads in (False, True):
                ours, peer = measure(sides, write, rounds, first, reads, again)
                cells.append(f"{ours * 1e3:.3f} / {peer * 1e3:.3f} = {ours / peer:.1f}")
                first += rounds
        check(sides)
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    yield f"| {count:,} writes in a loop | s | with nvals after them |"
    yield "|---|---|---|"
    rng = np.random.default_rng(2)
    for name, write in LOOPS.items():
        ours, ours_read, peer, peer_read = loop(sides, write, count, rng)
        check(sides)
        yield f"| {name} | {ours:.3f} / {peer:.3f} | {ours_read:.3f} / {peer_read:.3f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="put the table into results/small_writes.md")
    options = parser.parse_args()
    lines = []
    for line in run(options.entries, options.rounds, 10_000):
        print(line, flush=True)
        lines.append(line)
    if options.write:
        import environment

        about = environment.describe()
        head = [
            "# Small writes against SuiteSparse through python-graphblas", "",
            f"`python tests/benchmarks/bench_small_writes.py --entries {options.entries} --rounds {options.rounds}`:",
            "ours / SuiteSparse's = ratio, in ms, the least of all rounds, both libraries in turns in one process,",
            "contents compared. new: other positions in every round; again: the same. Loops: the least of three, in",
            f"seconds of the processor. {about['cpu']}, {about['cores']} cores, load {about['load']:.1f}, commit",
            f"{(about['commit'] or 'unknown')[:7]}.", "",
        ]  # fmt: skip
        RESULTS.write_text("\n".join(head + lines) + "\n")


if __name__ == "__main__":
    main()
