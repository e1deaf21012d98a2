"""Estimates, from the header of a file, of the memory for loading it and for a breadth-first search."""

import io
import os

INDEX32, INDEX64, POINTER = 4, 8, 8
VALUE = {"integer": 8, "unsigned-integer": 8, "real": 8, "complex": 16, "pattern": 0}
TYPE_BYTES = {
    "bool": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "complex128": 16,
}


def head_of(source):
    """The header of the Matrix Market file of a Source, or None where it is invalid; the Source is not read."""
    from grb_tile.io import BadFile, mminfo

    try:
        head = mminfo(io.BytesIO(source.head))
    except BadFile:  # reading the file raises it again
        return None
    if source.plain_size is not None and head.entries * head.shortest_line > source.plain_size + 1:
        return None
    return head


def estimate(head):
    """{"entries", "nrows", "ncols", "matrix", "loading", "bfs"} in bytes, from the header of a Matrix Market file.

    matrix   the CSR store: a row pointer of int64, an int32 (int64 from 2**31 columns) index and a value for each entry
    loading  the peak while reading: row and column index and value of each entry, beside the store
    bfs      the matrix, its transpose unless symmetric, levels (8 bytes), parents (8) and frontier bits of each node
    """
    factor = 1 if head.symmetry == "general" else 2
    entries = head.entries * factor if head.format == "coordinate" else head.nrows * head.ncols
    value = 0 if head.field == "pattern" else TYPE_BYTES.get(head.type_name, VALUE[head.field])
    return of_matrix(head.nrows, head.ncols, entries, value, head.symmetry in ("symmetric", "hermitian"))


def of_matrix(nrows, ncols, entries, value, symmetric):
    """The estimate from sizes; `value`: bytes of each value, 0 where one value is stored for all."""
    index = INDEX32 if ncols < 2**31 else INDEX64
    rows = min(nrows, 2 * entries)  # hypersparse: only the rows with entries
    matrix = POINTER * (rows + 1) + entries * (index + value)
    triples = entries * (2 * index + value)
    levels_and_bits = nrows * (8 + 8 + 1) if nrows < 2**40 else 0
    return {
        "nrows": nrows,
        "ncols": ncols,
        "entries": entries,
        "matrix": matrix,
        "loading": matrix + 2 * triples,
        "bfs": matrix * (1 if symmetric else 2) + levels_and_bits,
    }


def available():
    """Free memory in bytes, or None when the system does not report it."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None
