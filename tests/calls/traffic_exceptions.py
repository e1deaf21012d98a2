"""What test_traffic.py leaves out, and the cells that copy more than their arguments and results, with the reasons."""

ELEMENTS = ("every element", "every row", "every column", "each row in turn", "each column in turn")
LOOPS = {  # a call for each position or line: measured by the cell of one
    "Matrix.__getitem__": ELEMENTS[:3],
    "TransposedMatrix.__getitem__": ELEMENTS[:3],
    "Vector.__getitem__": ELEMENTS[:1],
    "Matrix.__setitem__": (ELEMENTS[0], *ELEMENTS[3:]),
    "Vector.__setitem__": ELEMENTS[:1],
    "Matrix.get": ("int",),
    "TransposedMatrix.get": ("int",),
    "Matrix.__contains__": ("pairs",),
    "TransposedMatrix.__contains__": ("pairs",),
    "Matrix.ss.split": ("2", "[3, 4]"),
    "Vector.ss.split": ("2",),
}
SIZED = {  # the call raises for other sizes than the table's, or in the form that it would be measured in
    "Matrix.ss.split": ("[[2, 3], [5, 2]]",),
    "Vector.ss.split": ("[3, 4]",),
    "Matrix.to_dense": ("not filled",),
    "TransposedMatrix.to_dense": ("not filled",),
    "Vector.to_dense": ("not filled",),
    "io.from_csr": ("",),
    "io.write_edge_list": ("0", "1"),
}
BITMAP = "presence of a bitmap: flags or a list of positions are copied beside the values"
ISO = "values of an iso object are copied one for each entry"
ITERATED = "the positions are the result, and what an iterator gives is not counted"
WRITTEN = "what is written, or given to another library, is copied to the host"
CHOSEN = "the call is for a copy on the host"
MADE = "index pointers are made of a dictionary, which has none"
MORE: dict[str, dict[str, tuple[str, ...]]] = {  # member -> reason -> kinds
    "Matrix.__iter__": {ITERATED: ("pairs",)},
    "TransposedMatrix.__iter__": {ITERATED: ("pairs",)},
    "Vector.__iter__": {ITERATED: ("indices",)},
    "Matrix.from_dense": {BITMAP: ("by columns", "backwards")},
    "Matrix.to_dense": {BITMAP: ("typed",)},
    "Matrix.from_dicts": {MADE: ("rows", "columns")},
    "Matrix.ss.deserialize": {WRITTEN: ("of the oracle",)},
    "Matrix.ss.export": {ISO: ("cooc",)},
    "Matrix.ss.pack_cooc": {ISO: ("comes back",)},
    "Matrix.ss.pack_coor": {ISO: ("comes back",)},
    "Vector.ss.deserialize": {WRITTEN: ("of the oracle",)},
    "Vector.ss.export": {ISO: ("in capitals", "sparse")},
    "Vector.storage": {CHOSEN: ("names its form",)},
    "Matrix.storage": {CHOSEN: ("names its form",)},
    "Matrix.to_device": {CHOSEN: ("the CPU",)},
    "io.mmwrite": {WRITTEN: ("",)},
    "io.save": {WRITTEN: ("Matrix", "Vector")},
    "io.save_npz": {WRITTEN: ("",)},
    "io.serialize": {WRITTEN: ("Matrix", "Vector")},
    "io.to_graphblas": {WRITTEN: ("Matrix", "Vector")},
    "io.to_networkx": {WRITTEN: ("",)},
    "io.to_scipy_sparse": {WRITTEN: ("csr", "csc", "coo", "bsr", "lil")},
    "io.to_suitesparse_blob": {WRITTEN: ("Matrix none", "Matrix lz4")},
    "io.write": {WRITTEN: ("mtx", "grb", "npz")},
}
