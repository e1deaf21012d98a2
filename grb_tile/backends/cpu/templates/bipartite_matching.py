"""Maximum cardinality matching of rows and columns: shortest augmenting paths, many at a time.

Paper: Hopcroft and Karp, "An n^(5/2) algorithm for maximum matchings in bipartite graphs" (SIAM J. Comput. 2, 1973).
Starts from a greedy matching.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64


def run(
    indptr: INT64,
    indices: INDEX,
    mate_row: INT64,
    mate_col: INT64,
    level: INT64,
    queue: INT64,
    cursor: INT64,
    path: INT64,
):
    """mate_row[i] is the column of row i, mate_col[j] the row of column j, -1 without; both -1 before.

    Returns the number of pairs.
    """
    n = mate_row.shape[0]
    pairs = 0
    for i in range(n):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if mate_col[j] < 0:
                mate_col[j] = i
                mate_row[i] = j
                pairs += 1
                break
    while True:
        # 1. levels of the rows: a breadth-first search along edges outside the matching, back along those inside
        tail = 0
        for i in range(n):
            cursor[i] = indptr[i]
            level[i] = -1
            if mate_row[i] < 0:
                level[i] = 0
                queue[tail] = i
                tail += 1
        head = 0
        reach = -1  # the level of the rows next to the nearest free column
        while head < tail:
            i = queue[head]
            head += 1
            if reach >= 0 and level[i] > reach:
                break
            for e in range(indptr[i], indptr[i + 1]):
                other = mate_col[indices[e]]
                if other < 0:
                    reach = level[i]
                elif level[other] < 0:
                    level[other] = level[i] + 1
                    queue[tail] = other
                    tail += 1
        if reach < 0:
            return pairs
        # 2. disjoint shortest paths from free rows, by depth-first search
        for start in range(n):
            if mate_row[start] >= 0:
                continue
            depth = 0
            path[0] = start
            while depth >= 0:
                i = path[depth]
                if cursor[i] == indptr[i + 1]:
                    level[i] = -2  # no path goes through it
                    depth -= 1
                    continue
                j = indices[cursor[i]]
                cursor[i] += 1
                other = mate_col[j]
                if other < 0:
                    while depth >= 0:  # augment: each row of the path takes the column before its cursor
                        i = path[depth]
                        j = indices[cursor[i] - 1]
                        mate_row[i] = j
                        mate_col[j] = i
                        depth -= 1
                    pairs += 1
                elif level[other] == level[i] + 1 and level[i] < reach:
                    depth += 1
                    path[depth] = other
