"""Greedy colouring in a given order: each vertex takes the least colour that no coloured neighbour has.

Jones and Plassmann's parallel algorithm with the same order as its priorities gives the same colours.
Paper: Welsh and Powell, "An upper bound for the chromatic number of a graph" (Computer J. 10, 1967).
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def run(indptr: INT64, indices: INDEX, order: INT64, colour: INT64, used: INT64):
    """colour: -1 before; used[c] = k + 1 while the k-th vertex of the order has a neighbour of colour c, zeros before.

    Loops are left out.  Returns the number of colours.
    """
    most = 0
    for k in range(order.shape[0]):
        v = order[k]
        for e in range(indptr[v], indptr[v + 1]):
            c = colour[indices[e]]
            if c >= 0:
                used[c] = k + 1
        c = 0
        while used[c] == k + 1:
            c += 1
        colour[v] = c
        most = max(most, c + 1)
    return most
