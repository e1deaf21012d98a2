"""Faults of the file format's reader and writer."""

from . import Fault

TESTS = ("tests/io/test_serialize.py", "tests/bad_input/test_files.py", "tests/io")

FAULTS = [
    Fault(
        "grb_tile/io/serialize.py",
        "stored rows may repeat or descend",
        '_expect(bool((rows[1:] > rows[:-1]).all()), "the rows are not sorted, or not unique")',
        '_expect(True, "the rows are not sorted, or not unique")',
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "a stored row may be out of range",
        "_expect(int(rows[0]) >= 0 and int(rows[-1]) < count,",
        "_expect(int(rows[0]) >= 0,",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "a sparse vector's indices may descend",
        '    if layout == "sparse":\n        _expect(bool((indices[1:] > indices[:-1]).all()),',
        '    if layout == "sparse":\n        _expect(bool((indices[1:] >= indices[:-1] - width).all()),',
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "a full vector's nvals need not be its size",
        '_expect(nvals == size, f"a vector without presence bits is full',
        '_expect(nvals <= size, f"a vector without presence bits is full',
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "a Boolean byte of 2 is accepted",
        "max(initial=0)) <= 1,",
        "max(initial=0)) <= 2,",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "presence bits past the end",
        '_expect(int(words[-1]) >> (size % 64) == 0, "presence bits past the end")',
        '_expect(True, "presence bits past the end")',
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "row pointers may descend",
        '_expect(bool((indptr[1:] >= indptr[:-1]).all()), "indptr descends")',
        '_expect(True, "indptr descends")',
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "the columns of a row may descend",
        "        rising[starts - 1] = True  # a new row may start with a smaller column\n",
        "        rising[:] = True\n",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "the header's checksum is not compared",
        "    if zlib.crc32(text) != crc:",
        "    if zlib.crc32(text) == crc + 1:",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "an array's checksum is not compared",
        '    if zlib.crc32(block) != item["crc32"]:',
        '    if zlib.crc32(block) == item["crc32"] + 1:',
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "a decompressed array may be of any length",
        "    if len(raw) != size or not decoder.eof or decoder.unused_data:",
        "    if not decoder.eof or decoder.unused_data:",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "bytes after the end mark",
        "    if bytes(data[at:]) != END:",
        "    if bytes(data[at : at + len(END)]) != END:",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "an array listed twice: the last wins",
        "            if name in arrays:",
        "            if name is arrays:",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "values of a bitmap as many as entries",
        'positions = head["shape"][0] if layout == "bitmap" else nvals',
        "positions = nvals",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "an index equal to the dimension",
        "int(indices.max()) < width,",
        "int(indices.max()) <= width,",
    ),
    Fault(
        "grb_tile/io/serialize.py",
        "differences are taken of the difference",
        "    np.subtract(array[1:], array[:-1], out=out[1:])",
        "    np.subtract(out[1:], out[:-1], out=out[1:])",
        survives="NumPy buffers operands that overlap the output",
    ),
    Fault(
        "grb_tile/io/arrays.py",
        "from_csr: more rows than the pointers have not refused",
        "if nrows is not None and nrows != indptr.shape[0] - 1:",
        "if nrows is not None and nrows < indptr.shape[0] - 1:",
        ("tests/io/test_convert.py",),
    ),
]
