"""The graph of classes of equal labels: C(c, d) = [+_ij A(i, j) over labels(i) = c, labels(j) = d, c != d].

A symmetric.  The entries of a class are added in a dense accumulator, as Gustavson's algorithm does; the transpose of
the rows that this gives, which is the same matrix, has its columns in order.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64, Z


def run(
    indptr: INT64,
    indices: INDEX,
    values: Z,
    labels: INT32,
    members: INT64,
    begins: INT64,
    starts: INT64,
    fills: INT64,
    total: Z,
    columns: INT32,
    weights: Z,
    out_indices: INT32,
    out_values: Z,
):
    """starts, out_indices, out_values: the rows of C; returns how many entries it has, -1 where A is not symmetric.

    members: the vertices by class, class c from begins[c] on.  total: zeros, one a class; fills: one a class;
    columns, weights: workspace; they and the output have as many places as A has entries.
    """
    classes = begins.shape[0] - 1
    end = 0
    for c in range(classes):
        start = end
        for a in range(begins[c], begins[c + 1]):
            i = members[a]
            for e in range(indptr[i], indptr[i + 1]):
                d = labels[indices[e]]
                if d != c:
                    before = total[d]
                    if before == 0.0:
                        columns[end] = d
                        end += 1
                    total[d] = before + values[e]
        for e in range(start, end):
            weights[e] = total[columns[e]]
            total[columns[e]] = 0.0
        starts[c + 1] = end
    for c in range(classes):
        fills[c] = starts[c]
    for c in range(classes):
        for e in range(starts[c], starts[c + 1]):
            d = columns[e]
            at = fills[d]
            if at == starts[d + 1]:
                return -1
            fills[d] = at + 1
            out_indices[at] = c
            out_values[at] = weights[e]
    return end
