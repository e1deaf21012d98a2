"""Triangles at each vertex, each found once: from its highest vertex, whose row is marked.

Paper: Schank and Wagner, "Finding, counting and listing all triangles in large graphs" (WEA 2005), forward.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def run(indptr: INT64, indices: INDEX, first: int, last: int, count: INT64, mark: INT64):
    """count[v] += the triangles i > j > k at v with i in first .. last - 1, of a strictly lower triangle.

    mark: of a vertex, none of first .. last - 1 before.
    """
    found = 0
    for i in range(first, last):
        begin = indptr[i]
        end = indptr[i + 1]
        for p in range(begin, end):
            mark[indices[p]] = i
        for p in range(begin, end):
            j = indices[p]
            here = 0
            for q in range(indptr[j], indptr[j + 1]):
                k = indices[q]
                if mark[k] == i:
                    count[k] += 1
                    here += 1
            count[j] += here
            count[i] += here
            found += here
    return found
