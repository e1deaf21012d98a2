"""Direction-optimising BFS: the level loop f<!v> = A' f in one compiled call, with push and pull steps.

Papers: Beamer, Asanovic, Patterson, "Direction-optimizing breadth-first search" (SC 2012), section 4;
push_pull_graphblas_icpp18, sections 5.1 (direction switch by cost) and 5.3 (early exit of the pull).
Push step (top-down): the edges of the frontier's queue; unvisited ends join the queue.
Pull step (bottom-up): each unvisited vertex scans its in-edges and exits at the first one from the frontier.

state (int64):  0 first and 1 end of the frontier in `queue`; 2 number of the next level; 3 edges leaving the frontier;
4 edges leaving unvisited vertices; 5 levels logged; 6 reason of return (0 done, 1 a pull step is due, 2 log full);
7 max_level; 8 target vertex or -1; 9 pull steps: 0 never, 1 here, 2 by the caller (which has threads);
10 unvisited vertices with in-edges; 11 1 when the frontier is in the bits of `frontier`, 0 when it is in `queue`;
12 1 when `frontier` and `found` are swapped; 13 threads of the caller's pull steps; 14 direction: -1 by cost, 0 push,
1 pull.  `seen` has the bits of visited vertices and of vertices without in-edges: a pull step skips both.
"""

import numpy as np

from grb_tile.backends.cpu.templates.placeholders import (
    IN_INDEX,
    INDEX,
    INT32,
    INT64,
    INT64_2D,
    LEVELS,
    NONE,
    PARENTS,
    WORD,
    bit,
    cycles,
    ones,
    trailing_zeros,
)


def pull_words(in_ptr, in_indices, out_ptr, frontier, found, seen, level, parent, depth, first, last):
    """Pull step over the words first..last of unvisited vertices; returns (vertices found, edges leaving them)."""
    count = 0
    edges = 0
    for w in range(first, last):
        todo = ~seen[w]
        got = NONE
        while todo != NONE:
            b = trailing_zeros(todo)
            todo &= todo - np.uint64(1)
            v = w * 64 + b
            for e in range(in_ptr[v], in_ptr[v + 1]):
                u = in_indices[e]
                if frontier[u >> 6] & bit(np.int64(u)):
                    got |= bit(b)
                    if LEVELS:
                        level[v] = depth
                    if PARENTS:
                        parent[v] = u
                    edges += out_ptr[v + 1] - out_ptr[v]
                    break
        found[w] = got
        if got != NONE:
            seen[w] |= got
            count += ones(got)
    return count, edges


def pull(
    in_ptr: INT64,
    in_indices: IN_INDEX,
    out_ptr: INT64,
    frontier: WORD,
    found: WORD,
    seen: WORD,
    level: INT32,
    parent: INT64,
    depth: int,
    first: int,
    last: int,
    totals: INT64,
):
    """The pull step of one thread; totals: (vertices found, edges leaving them)."""
    count, edges = pull_words(in_ptr, in_indices, out_ptr, frontier, found, seen, level, parent, depth, first, last)
    totals[0] = count
    totals[1] = edges


def unpack(words, queue):
    """Bits to list: the positions of the bits of `words`, ascending, into `queue`; returns their number."""
    count = 0
    for w in range(words.shape[0]):
        rest = words[w]
        while rest != NONE:
            queue[count] = w * 64 + trailing_zeros(rest)
            count += 1
            rest &= rest - np.uint64(1)
    return count


def advance(
    out_ptr: INT64,
    out_indices: INDEX,
    in_ptr: INT64,
    in_indices: IN_INDEX,
    queue: INDEX,
    frontier: WORD,
    found: WORD,
    seen: WORD,
    level: INT32,
    parent: INT64,
    state: INT64,
    log: INT64_2D,
):
    """Level-synchronous loop; returns when the frontier is empty or a pull step is due that the caller runs."""
    n_words = seen.shape[0]
    begin = state[0]
    end = state[1]
    depth = state[2]
    edges = state[3]
    unexplored = state[4]
    logged = state[5]
    in_words = state[11] == 1
    unvisited = state[10]
    size = end - begin
    swapped = False
    reason = 0
    while size > 0 and depth <= state[7]:
        if state[8] >= 0 and seen[state[8] >> 6] & bit(state[8]):
            break
        if logged == log.shape[0]:
            reason = 2
            break
        pulling = False
        if state[9] > 0:
            if state[14] >= 0:
                pulling = state[14] == 1
            else:
                pull_cost = np.float64(n_words)
                if edges > 0:
                    tries = min(np.float64(edges + unexplored) / edges, np.float64(unexplored) / max(unvisited, 1))
                    pull_cost += unvisited * (3.0 + 1.5 * tries)
                pulling = edges * 3.0 * state[13] > pull_cost
        start = cycles()
        before = edges
        was = size
        if pulling:
            if not in_words:
                for w in range(n_words):
                    frontier[w] = NONE
                for k in range(begin, end):
                    v = queue[k]
                    frontier[v >> 6] |= bit(np.int64(v))
                in_words = True
            if state[9] == 2:
                reason = 1
                break
            size, edges = pull_words(
                in_ptr, in_indices, out_ptr, frontier, found, seen, level, parent, depth, 0, n_words
            )
            frontier, found = found, frontier
            swapped = not swapped
            begin = 0
            end = size
        else:
            if in_words:
                begin = 0
                end = unpack(frontier, queue)
                in_words = False
            edges = 0
            head = end
            for k in range(begin, end):
                u = queue[k]
                for e in range(out_ptr[u], out_ptr[u + 1]):
                    v = out_indices[e]
                    mask = bit(np.int64(v))
                    word = seen[v >> 6]
                    if not word & mask:
                        seen[v >> 6] = word | mask
                        if LEVELS:
                            level[v] = depth
                        if PARENTS:
                            parent[v] = u
                        queue[head] = v
                        head += 1
                        edges += out_ptr[v + 1] - out_ptr[v]
            begin = end
            end = head
            size = end - begin
        unexplored -= edges
        unvisited -= size
        log[logged, 0] = was
        log[logged, 1] = pulling
        log[logged, 2] = before
        log[logged, 3] = cycles() - start
        logged += 1
        depth += 1
    state[0] = begin
    state[1] = end
    state[2] = depth
    state[3] = edges
    state[4] = unexplored
    state[5] = logged
    state[6] = reason
    state[10] = unvisited
    state[11] = in_words
    state[12] = swapped
