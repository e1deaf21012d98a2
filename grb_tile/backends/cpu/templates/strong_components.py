"""Strongly connected components: one depth-first search with one number a vertex.

Paper: Pearce, "A space-efficient algorithm for finding strongly connected components" (Inf. Proc. Letters 116, 2016),
algorithm PEA_FIND_SCC2, its recursion as the stack `path`; after Tarjan, "Depth-first search and linear graph
algorithms" (SIAM J. Comput. 1, 1972).
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT32, INT64


def run(
    indptr: INT64, indices: INDEX, number: INT64, is_root: INT32, cursor: INT64, path: INT64, open: INT64, label: INT64
):
    """label[v] = the least vertex of v's component; returns the number of components.  number: zeros."""
    n = label.shape[0]
    index = 1
    component = n + 1
    opened = 0
    for start in range(n):
        if number[start] != 0:
            continue
        depth = 0
        path[0] = start
        number[start] = index
        index += 1
        is_root[start] = 1
        cursor[start] = indptr[start]
        while depth >= 0:
            v = path[depth]
            e = cursor[v]
            end = indptr[v + 1]
            low = number[v]
            child = -1
            while e < end:
                w = indices[e]
                if number[w] == 0:
                    child = w
                    break
                if number[w] < low:
                    low = number[w]
                    is_root[v] = 0
                e += 1
            cursor[v] = e
            number[v] = low
            if child >= 0:
                depth += 1
                path[depth] = child
                number[child] = index
                index += 1
                is_root[child] = 1
                cursor[child] = indptr[child]
                continue
            depth -= 1
            if is_root[v] == 1:
                index -= 1
                while opened > 0 and number[open[opened - 1]] >= low:
                    opened -= 1
                    number[open[opened]] = component
                    index -= 1
                number[v] = component
                component -= 1
            else:
                open[opened] = v
                opened += 1
    count = n + 1 - component
    for k in range(count):
        path[k] = -1
    for v in range(n):
        k = n + 1 - number[v]
        if path[k] < 0:
            path[k] = v
        label[v] = path[k]
    return count
