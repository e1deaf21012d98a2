"""`grb-tile info`: sizes, degrees and storage of a file's matrix, and memory estimates before it is loaded.

`grb-tile info --device`: limits and measured costs of the GPU, and the variant that each family of kernels uses on it.
"""

import os

import numpy as np

from grb_tile.cli import inputs, output
from grb_tile.cli.memory import available, estimate, head_of, of_matrix

SOURCES = {
    "table": "measured on this model",
    "measured": "measured on this device",
    "facts": "estimated from multiprocessors and bandwidth",
}


def add_arguments(parser, name):
    inputs.add_arguments(parser, algorithm=False, optional=True)
    parser.add_argument(
        "--device", nargs="?", type=int, const=0, metavar="N",
        help="describe GPU N (default 0) instead of a file: limits, costs, what each family of kernels uses",
    )  # fmt: skip
    parser.add_argument("--head", action="store_true", help="read only the head of the file, do not load it")


def run(args):
    """Print the sizes in the head, then load the file and print its properties; or describe the device."""
    from grb_tile import io as grb_io

    if args.device is not None:
        _device(args)
        return
    if args.file is None:
        raise ValueError("info: name a file, or --device")
    inputs.check_outputs(args)
    with inputs.opened(args) as source:
        args.format = args.format or grb_io.detect_format(source)
        facts = {"command": "info", "file": args.file, "format": args.format, "bytes": source.size}
        lines = [f"file       {args.file}: {args.format}" + (f", {source.size:,} bytes" if source.size else "")]
        if args.head and args.format != "mtx":
            raise ValueError(f"--head: a file of format {args.format} has no head with sizes")
        if args.format == "mtx":
            _head(grb_io.mminfo(source) if args.head else head_of(source), facts, lines)
        if not args.json:  # printed before loading, which may exceed the memory
            print("\n".join(lines), flush=True)
        lines = []
        if not args.head:
            _loaded(args, source, facts, lines)
    output.show(args, facts, lines)


def _device(args):
    """Print the limits and costs of the GPU."""
    from grb_tile.backends import select
    from grb_tile.io.progress import size_text

    if args.file is not None or args.head or args.plot:
        raise ValueError("--device: describes the GPU, and takes no file, --head or --plot")
    with select.device(args.device):
        facts = select.current().device_report()
    device, costs = facts["device"], facts["costs"]
    reductions = "in one instruction" if device["warp_reductions"] else "by shuffles"
    lines = [
        f"device     {device['number']}: {device['name']}, compute capability {device['compute_capability']}",
        f"limits     {device['multiprocessors']} multiprocessors of {device['threads_per_multiprocessor']:,} threads, "
        f"{size_text(device['shared_memory_per_block'])} of shared memory a block, reductions of a warp {reductions}"
        + (f"; restricted: {device['restricted']}" if device["restricted"] else ""),
        f"memory     {size_text(device['memory_free'])} of {size_text(device['memory'])} free",
        f"costs      {SOURCES[costs['source']]}: launch {costs['launch_ns'] / 1e3:.1f} us, read-back "
        f"{costs['read_back_ns'] / 1e3:.1f} us, barrier {costs['barrier_ns'] / 1e3:.2f} us, DRAM "
        f"{costs['dram_gigabytes_per_second']:,.0f} GB/s, gather {costs['gather_ns'] * 1e3:.1f} ps, atomic "
        f"{costs['atomic_ns'] * 1e3:.1f} ps",
    ]
    width = max(map(len, facts["kernels"]))
    lines += [f"kernels    {family:{width}}  {text}" for family, text in facts["kernels"].items()]
    output.show(args, {"command": "info", **facts}, lines)


def _head(head, facts, lines):
    if head is None:  # an error, which loading raises, or more comments than the head of the file holds
        return
    facts["head"] = {
        "format": head.format,
        "field": head.field,
        "symmetry": head.symmetry,
        "nrows": head.nrows,
        "ncols": head.ncols,
        "lines": head.entries,
        "type": head.type_name,
        "comments": head.comments,
    }
    lines.append(
        f"head       {head.nrows:,} by {head.ncols:,}, {head.entries:,} lines, {head.format} {head.field} "
        f"{head.symmetry}" + (f", type {head.type_name}" if head.type_name else "")
    )
    facts["memory"] = {**estimate(head), "available": available()}
    lines.append(_memory_line("to expect", facts["memory"]))


def _memory_line(when, memory):
    from grb_tile.io.progress import size_text

    free = f"; {size_text(memory['available'])} are free" if memory.get("available") else ""
    return (
        f"memory     {when}: matrix {size_text(memory['matrix'])}, peak while loading {size_text(memory['loading'])}, "
        f"breadth-first search {size_text(memory['bfs'])}{free}"
    )


def _loaded(args, source, facts, lines):
    from grb_tile.io.progress import size_text
    from grb_tile.storage.place import host
    from grb_tile.storage.report import report

    loaded = inputs.load_source(args, source)
    A = loaded.matrix
    store = host(A._store)
    found = report(store)
    square = A.nrows == A.ncols
    degrees = _degrees(store)
    facts.update(
        nrows=A.nrows,
        ncols=A.ncols,
        entries=A.nvals,
        dtype=A.dtype.name,
        iso=bool(store.iso),
        density=A.nvals / (A.nrows * A.ncols) if A.nvals else 0.0,
        labelled=loaded.labels is not None,
        load_seconds=loaded.seconds,
    )
    lines.append(
        f"matrix     {A.nrows:,} by {A.ncols:,}, {A.nvals:,} entries of {A.dtype.name}"
        + (" (all equal: stored once)" if store.iso else "")
        + (f", {len(loaded.labels):,} labels" if loaded.labels else "")
        + f", loaded in {output.seconds_text(loaded.seconds)}"
    )
    if square and A.nrows:
        from grb_tile.algorithms import Graph

        G = Graph(A, True, name=os.path.basename(args.file))
        facts["symmetry"] = {"structure": G.is_symmetric_structure, "values": G.is_symmetric, "self_loops": G.nself}
        lines.append(
            f"symmetry   structure {_yes(G.is_symmetric_structure)}, values {_yes(G.is_symmetric)}; "
            f"{G.nself:,} entries on the diagonal"
        )
    facts["degrees"] = _summary(degrees, A.nrows)
    lines += _degree_lines(facts["degrees"], A.nrows)
    facts["storage"] = {
        "format": found.format,
        "bytes": store.nbytes,
        "chosen": found.chosen,
        "why": found.why,
        "bytes_by_form": found.nbytes,
        "tiles": {
            nt: {"count": t.count, "entries_per_tile": t.entries_per_tile, "most": t.most, "estimated": t.estimated}
            for nt, t in found.tiles.items()
        },
    }
    for nt, t in sorted(found.tiles.items()):
        lines.append(
            f"tiles      {nt} x {nt}: {'about ' if t.estimated else ''}{t.count:,} not empty, "
            f"{t.entries_per_tile:.2f} entries each, at most {t.most}"
        )
    lines.append(
        f"storage    {found.format}, {size_text(store.nbytes)}; occupancy calls for {found.chosen}: {found.why}"
    )
    lines.append(
        "bytes as   "
        + ", ".join(f"{form} {size_text(size)}" for form, size in found.nbytes.items())
        + " (bittiled: structure only, rows; symmetric ones need no more)"
    )
    if "memory" not in facts:
        value = 0 if store.iso else store.values.itemsize
        symmetric = facts.get("symmetry", {}).get("values", False)
        facts["memory"] = {**of_matrix(A.nrows, A.ncols, A.nvals, value, symmetric), "available": available()}
        lines.append(_memory_line("as counted", facts["memory"]))
    if args.plot:
        from grb_tile.cli.plots import counts

        counts(args.plot, degrees, f"{os.path.basename(args.file)}: {A.nvals:,} entries", "entries in a row")


def _yes(holds):
    return "yes" if holds else "no"


def _degrees(store):
    """Number of entries of each row; of a hypersparse matrix, of the rows with entries."""
    return np.diff(store.indptr)


def _summary(degrees, nrows):
    """Minimum, median, mean, 99th percentile, maximum of the entries per row; a histogram in powers of two."""
    empty = nrows - int(np.count_nonzero(degrees))
    full = degrees[degrees > 0]
    summary = {
        "empty_rows": empty,
        "max": int(degrees.max(initial=0)),
        "mean": float(degrees.sum() / nrows) if nrows else 0.0,
    }
    if nrows == degrees.shape[0] and nrows:
        summary["min"] = int(degrees.min())
        summary["median"] = float(np.median(degrees))
        summary["percentile_99"] = float(np.percentile(degrees, 99))
    bins = np.bincount(np.frexp(full.astype(np.float64))[1] - 1) if full.size else []
    summary["histogram"] = {
        f"{1 << k}-{(2 << k) - 1}" if k else "1": int(count) for k, count in enumerate(bins) if count
    }
    return summary


def _degree_lines(summary, nrows):
    middle = f"median {summary['median']:g}, " if "median" in summary else ""
    lines = [
        f"degrees    mean {summary['mean']:.2f}, {middle}most {summary['max']:,}, {summary['empty_rows']:,} empty rows"
    ]
    widest = max(summary["histogram"].values(), default=1)
    for name, count in summary["histogram"].items():
        bar = "#" * max(1, round(32 * count / widest))
        lines.append(f"           {name:>13} {count:>12,} {bar}")
    return lines
