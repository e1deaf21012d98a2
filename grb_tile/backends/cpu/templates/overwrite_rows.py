"""C<M> = T row by row: all of T's entries, and C's outside the mask; the three are CSR matrices of one shape.

One pass over the rows of the three, whose columns ascend.  Values are moved as unsigned integers of their size, so that
one kernel serves all types.  `flip` is 1 for the complement of the mask.
"""

from grb_tile.backends.cpu.templates.placeholders import INDEX, INT64, M_INDEX, VALUE, X_ISO, Y_ISO


def overwrite(
    c_ptr: INT64,
    c_indices: INDEX,
    c_values: VALUE,
    t_ptr: INT64,
    t_indices: INDEX,
    t_values: VALUE,
    m_ptr: INT64,
    m_indices: M_INDEX,
    flip: int,
    out_ptr: INT64,
    out_indices: INDEX,
    out_values: VALUE,
):
    """All rows; out_ptr becomes the row pointers of the result.  Returns its number of entries."""
    at = 0
    c = c_values[0]
    t = t_values[0]
    out_ptr[0] = 0
    for i in range(c_ptr.shape[0] - 1):
        p = c_ptr[i]
        p_end = c_ptr[i + 1]
        q = t_ptr[i]
        q_end = t_ptr[i + 1]
        s = m_ptr[i]
        s_end = m_ptr[i + 1]
        while p < p_end or q < q_end:
            if q == q_end or (p < p_end and c_indices[p] < t_indices[q]):
                j = c_indices[p]
                of_c = True
                of_t = False
            else:
                j = t_indices[q]
                of_t = True
                of_c = p < p_end and c_indices[p] == j
            while s < s_end and m_indices[s] < j:
                s += 1
            if of_t:
                if not Y_ISO:
                    t = t_values[q]
                out_indices[at] = j
                out_values[at] = t
                at += 1
            elif (s < s_end and m_indices[s] == j) == (flip != 0):
                if not X_ISO:
                    c = c_values[p]
                out_indices[at] = j
                out_values[at] = c
                at += 1
            p += of_c
            q += of_t
        out_ptr[i + 1] = at
    return at
