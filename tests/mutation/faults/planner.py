"""Faults of the planner: wrong costs and rules change the time of a product, never its result."""

from . import Fault

TESTS = ("tests/planner", "tests/laws/test_plans.py")

FAULTS = [
    Fault(
        "grb_tile/planner/choose_direction.py",
        "rows: the hysteresis never holds",
        'if last == "cols" and rows * tuning.HYSTERESIS > columns:',
        'if last == "rows" and rows * tuning.HYSTERESIS > columns:',
    ),
    Fault(
        "grb_tile/planner/choose_direction.py",
        "columns: the hysteresis never holds",
        'if last == "rows" and columns * tuning.HYSTERESIS > rows:',
        'if last == "cols" and columns * tuning.HYSTERESIS > rows:',
    ),
    Fault(
        "grb_tile/planner/choose_direction.py",
        "the counter for the transpose is that of the wrong side",
        "here, there = (columns, rows) if transposed else (rows, columns)",
        "here, there = (rows, columns) if transposed else (columns, rows)",
    ),
    Fault(
        "grb_tile/planner/choose_direction.py",
        "the counter for the transpose is never saved",
        '        forms["transpose_counter"] = saved\n',
        "",
    ),
    Fault(
        "grb_tile/planner/choose_direction.py",
        "the transpose is bought at once",
        "        if saved >= transpose_cost:",
        "        if saved >= 0:",
    ),
    Fault(
        "grb_tile/planner/choose_matvec.py",
        "forced push is a row-wise product",
        '_METHODS = {"rows": "rows", "pull": "rows", "cols": "cols", "push": "cols"}',
        '_METHODS = {"rows": "rows", "pull": "rows", "cols": "cols", "push": "rows"}',
    ),
    Fault(
        "grb_tile/planner/choose_matvec.py",
        "a transposed operand has its rows exchanged",
        "by_rows, by_columns = (transpose, A) if transposed else (A, transpose)",
        "by_rows, by_columns = (A, transpose) if transposed else (transpose, A)",
    ),
    Fault(
        "grb_tile/planner/choose_matvec.py",
        "the saving of a kernel that is missing is counted for the other one",
        'backend.count_saving((columns_now - rows) * 1e-9, "matvec_rows", A, u, semiring, mask)',
        'backend.count_saving((columns_now - rows) * 1e-9, "matvec_cols", A, u, semiring, mask)',
    ),
    Fault(
        "grb_tile/planner/choose_matvec.py",
        "NumPy's time is taken for a compiled kernel",
        "numpy_rows = 0.0 if rows_ready else row_wise_ns(work, u, early, False)",
        "numpy_rows = row_wise_ns(work, u, early, False)",
    ),
    Fault(
        "grb_tile/planner/choose_matvec.py",
        "any monoid stops early",
        "    return monoid.terminal is not None and (",
        "    return True or (",
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "the complement of the mask admits what the mask does",
        "found = pattern.size - pattern.nvals if mask.complement else pattern.nvals",
        "found = pattern.nvals",
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "the sample is tested against the mask along the wrong side",
        "targets, sources = (sample.cols, sample.rows) if flipped else (sample.rows, sample.cols)",
        "targets, sources = (sample.rows, sample.cols)",
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "the sample ignores the complement",
        "admitted = members(mask.pattern, targets) ^ mask.complement",
        "admitted = members(mask.pattern, targets)",
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "a sampled frontier is not scaled up",
        "frontier = count * float(np.add.reduce(met)) / met.shape[0]",
        "frontier = float(np.add.reduce(met))",
    ),
    Fault(
        "grb_tile/planner/matvec_work.py",
        "the branch of a mask is not priced",
        "cost += work.frontier * min(work.admitted, 1 - work.admitted) * tuning.CPU_BRANCH_NS",
        "cost += 0 * work.frontier",
    ),
    Fault(
        "grb_tile/planner/statistics.py",
        "the edges of a long list are not scaled up",
        "scale = count / indices.shape[0]",
        "scale = 1.0",
    ),
    Fault(
        "grb_tile/planner/statistics.py",
        "rows of a hypersparse sample are positions",
        "            rows = A.rows[rows]\n",
        "            pass\n",
    ),
    Fault(
        "grb_tile/planner/statistics.py",
        "members of a bitmap: the bit is that of the word",
        "(positions & 63).astype(np.uint64)",
        "(positions >> 6).astype(np.uint64)",
    ),
    Fault(
        "grb_tile/planner/choose_matmul.py",
        "B's transpose is charged to the wrong case (dots)",
        "    if not bt and cached_transpose(B) is None:\n        dots",
        "    if bt and cached_transpose(B) is None:\n        dots",
    ),
    Fault(
        "grb_tile/planner/choose_matmul.py",
        "dots under a complement",
        '    if mask is None or mask.complement:\n        return Plan("matmul", "gustavson"',
        '    if mask is None:\n        return Plan("matmul", "gustavson"',
        ("tests/planner", "tests/laws/test_plans.py", "tests/conformance/test_mxm.py"),
    ),
    Fault(
        "grb_tile/planner/choose_matvec_gpu.py",
        "the complement of the mask is not weighed",
        "return admitted if self.masked == 1 else self.live - admitted",
        "return admitted",
    ),
    Fault(
        "grb_tile/planner/choose_matvec_gpu.py",
        "an earlier plan serves another mask",
        "key = transposed, early, sorts, count, u.size, masked, mask is not None and mask.complement",
        "key = transposed, early, sorts, count, u.size",
    ),
    Fault(
        "grb_tile/planner/choose_traversal.py",
        "a dense graph may have levels by the thousand",
        "if entries > tuning.HIGH_DIAMETER_MEAN * n or n < tuning.HIGH_DIAMETER_VERTICES:",
        "if n < tuning.HIGH_DIAMETER_VERTICES:",
    ),
    Fault(
        "grb_tile/planner/choose_traversal.py",
        "one long row rules out the high-diameter kernel",
        "    return few, share\n",
        "    return False, share\n",
    ),
    Fault(
        "grb_tile/planner/choose_traversal.py",
        "local graphs take the kernel for hubs",
        "        if local > tuning.LOCAL_SHARE:",
        "        if local < tuning.LOCAL_SHARE:",
    ),
    Fault(
        "grb_tile/planner/choose_kernel.py",
        "a forced pull runs where it cannot serve",
        '        elif wanted == "pull_early_exit":\n            serves = one_match',
        '        elif wanted == "pull_early_exit":\n            serves = True',
    ),
    Fault(
        "grb_tile/planner/choose_kernel.py",
        "short columns are relabelled",
        "    if share < tuning.RELABELLED_SHARE:",
        "    if share > tuning.RELABELLED_SHARE:",
    ),
    Fault(
        "grb_tile/planner/choose_kernel.py",
        "hubs in shared memory are gathered from the cache once more",
        "max(cached_share - hub_share, 0.0) * near_ns",
        "cached_share * near_ns",
    ),
    Fault(
        "grb_tile/planner/choose_kernel.py",
        "long columns are merged block by block",
        "    if longest <= tuning.LONG_COLUMN:",
        "    if longest >= tuning.LONG_COLUMN:",
    ),
    Fault(
        "grb_tile/planner/device_profile.py",
        "an unknown GPU has the H200's costs",
        "latency = H200.processors / processors if processors else 1.0",
        "latency = 1.0",
    ),
    Fault(
        "grb_tile/planner/device_limits.py",
        "static shared memory is forgotten",
        "        while most * each > self.dynamic_shared:",
        "        while most * each > self.shared_per_block:",
        ("tests/planner/test_device_limits.py",),
    ),
]
