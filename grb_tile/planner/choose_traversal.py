"""Rows or bit tiles for a whole traversal on the device.

Tiles pay where entries cluster: their words are read instead of numbers, and one atomic claims what a tile finds.
Measured on an H200 (entries a 16 x 16 tile, times over rows and over tiles in tests/gpu/RECORD.md): faster from about 7
entries a tile on; graphs of thousands of narrow levels are left to the walk that is made for them.
Paper: tilespmspv_tilebfs_icpp22, 3.4, which leaves open that occupancy must decide.
"""

LEAST = 1 << 20  # entries below which making tiles is not worth a thought
FULL = 7.0  # entries of a 16 x 16 tile


def search_over(entries, narrow, entries_per_tile):
    """(format, figures of the rule "tiles_full") for a traversal: "bittiled" or "csr".

    entries: of the matrix.  narrow: has the graph few edges a vertex, and levels by the thousand?  entries_per_tile: a
    function, asked only when the rest speaks for tiles: it costs a look at a sample of the matrix.
    """
    if entries < LEAST or narrow:
        return "csr", ()
    full = entries_per_tile()
    return ("bittiled", (full,)) if full >= FULL else ("csr", ())
