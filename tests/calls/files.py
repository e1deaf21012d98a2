"""Rows of gb.io: what is written of an object in any form is read again."""

import io
import pathlib
import tempfile

from calls.table import own, row
from support.plain import dense


def there_and_back(write, read, name="A"):
    """What is written of an object is read again: the object."""
    return own(lambda lib, o: read(lib, write(lib, getattr(o, name))), lambda o: getattr(o, name))


def in_memory(write, read):
    def call(lib, x):
        file = io.BytesIO()
        write(lib, file, x)
        return read(lib, io.BytesIO(file.getvalue()))

    return call


def in_a_folder(name, write, read):
    def call(lib, x):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            write(lib, path, x)
            return read(lib, path)

    return call


def same(lib, x):
    return x


for name in ("A", "v"):
    text = {"A": "Matrix", "v": "Vector"}[name]
    row(
        "io.save",
        {
            text: there_and_back(
                in_memory(lambda lib, f, x: lib.io.save(f, x), lambda lib, f: lib.io.load(f)), same, name
            )
        },
    )
    row(
        "io.serialize",
        {text: there_and_back(lambda lib, x: lib.io.serialize(x), lambda lib, d: lib.io.deserialize(d), name)},
    )
    row(
        "io.to_suitesparse_blob",
        {
            f"{text} {c}": there_and_back(
                lambda lib, x, c=c: lib.io.to_suitesparse_blob(x, c),
                lambda lib, d: lib.io.from_suitesparse_blob(d),
                name,
            )
            for c in ("none", "lz4")
        },
    )
    row(
        "io.to_graphblas",
        {text: there_and_back(lambda lib, x: lib.io.to_graphblas(x), lambda lib, d: lib.io.from_graphblas(d), name)},
    )
    row(
        "io.to_numpy",
        {
            text: own(
                lambda lib, o, n=name: lib.io.to_numpy(getattr(o, n), 9, getattr(o, n).dtype),
                lambda o, n=name: dense(getattr(o, n), 9),
            )
        },
    )
    row(
        "io.from_numpy",
        {
            text: there_and_back(
                lambda lib, x: lib.io.to_numpy(x, 99, x.dtype), lambda lib, a: lib.io.from_numpy(a, 99), name
            )
        },
    )
    row(
        "io.as_numpy",
        {
            text: own(
                lambda lib, o, n=name: lib.io.as_numpy(lib.io.to_numpy(getattr(o, n), 9, getattr(o, n).dtype)),
                lambda o, n=name: dense(getattr(o, n), 9),
            )
        },
    )
row(
    "io.mmwrite",
    {
        "": there_and_back(
            in_memory(lambda lib, f, x: lib.io.mmwrite(f, x), lambda lib, f: lib.io.mmread(f)), lambda lib, x: x, "A"
        )
    },
)
row(
    "io.save_npz",
    {"": there_and_back(in_memory(lambda lib, f, x: lib.io.save_npz(f, x), lambda lib, f: lib.io.load_npz(f)), same)},
)
row(
    "io.to_scipy_sparse",
    {
        format: there_and_back(
            lambda lib, x, f=format: lib.io.to_scipy_sparse(x, f), lambda lib, d: lib.io.from_scipy_sparse(d)
        )
        for format in ("csr", "csc", "coo", "bsr", "lil", "dok")
    },
)
row(
    "io.to_networkx",
    {
        "": there_and_back(
            lambda lib, x: (lib.io.to_networkx(x), x),
            lambda lib, G: lib.io.from_networkx(G[0], nodelist=range(5), dtype=G[1].dtype) if G[1].nvals else G[1],
            "Q",
        )
    },
)
row("io.from_csr", {"": there_and_back(lambda lib, x: x.to_csr(), lambda lib, a: lib.io.from_csr(*a, ncols=7))})
row(
    "io.write_edge_list",
    {
        str(base): there_and_back(
            in_memory(
                lambda lib, f, x, b=base: lib.io.write_edge_list(f, x, base=b),
                lambda lib, f, b=base: lib.io.read_edge_list(f, base=b, size=5, directed=True, labels=False).matrix,
            ),
            same,
            "Q",
        )
        for base in (0, 1)
    },
)
for suffix in ("mtx", "grb", "npz"):
    row(
        "io.write",
        {
            suffix: there_and_back(
                in_a_folder(f"x.{suffix}", lambda lib, p, x: lib.io.write(p, x), lambda lib, p: lib.io.read(p)[0]), same
            )
        },
    )
