"""All shortest paths of a dense graph, by way of each vertex in turn.

Papers: Floyd, "Algorithm 97: shortest path" (Comm. ACM 5, 1962); Warshall, "A theorem on Boolean matrices" (J. ACM 9,
1962).
"""

from grb_tile.backends.cpu.templates.placeholders import Z


def run(D: Z, n: int):
    """D: the n x n weights by rows, at most 0 on the diagonal, infinite where there is no edge; then the distances.

    Returns the first vertex that is found on a cycle of negative weight, n where there is none.
    """
    for k in range(n):
        if D[k * n + k] < 0:
            return k
        via = k * n
        for i in range(n):
            row = i * n
            head = D[row + k]
            if head < float("inf"):
                for j in range(n):
                    found = head + D[via + j]
                    old = D[row + j]
                    D[row + j] = found if found < old else old
    return n
