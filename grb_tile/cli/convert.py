"""`grb-tile convert FILE TARGET`: the same graph in another format."""

import os
import time

from grb_tile.cli import inputs, output
from grb_tile.io.files import ending_of, format_of_ending
from grb_tile.io.streams import Target


def add_arguments(parser, name):
    inputs.add_arguments(parser, algorithm=False)
    parser.add_argument(
        "target_file",
        metavar="TARGET",
        help="its ending names the format: .mtx .grb .npz .txt .csv .tsv .el (text formats also .gz .bz2 .xz)",
    )


def run(args):
    """Read args.file and write args.target_file; labels that its format cannot hold go to a second file."""
    from grb_tile import io as grb_io

    format = format_of_ending(args.target_file)
    loaded = inputs.load(args)
    started = time.perf_counter()
    naming = {} if format != "edges" or ending_of(args.target_file) == ".gr" else _names(loaded)
    kept = loaded.labels is None or "labels" in naming or format in ("grb", "npz")
    named = kept and not naming and loaded.labels is not None
    written = grb_io.LabelledMatrix(loaded.matrix, loaded.labels) if named else loaded.matrix
    grb_io.write(args.target_file, written, **naming)
    facts = {
        "command": "convert",
        "file": args.file,
        "target": args.target_file,
        "nrows": loaded.matrix.nrows,
        "ncols": loaded.matrix.ncols,
        "entries": loaded.matrix.nvals,
        "dtype": loaded.matrix.dtype.name,
        "load_seconds": loaded.seconds,
        "write_seconds": time.perf_counter() - started,
        "bytes": os.path.getsize(args.target_file),
    }
    sizes = f"{facts['nrows']:,} by {facts['ncols']:,}, {facts['entries']:,} entries of {facts['dtype']}"
    lines = [f"{args.target_file}: {sizes}, {facts['bytes']:,} bytes"]
    if not kept:
        labels_file = f"{args.target_file}.labels.txt"
        with Target(labels_file) as file:
            file.stream.writelines(f"{label}\n".encode() for label in loaded.labels)
        facts["labels"] = labels_file
        lines.append(f"{labels_file}: the labels of rows and columns, one a line")
    output.show(args, facts, lines)


def _names(loaded):
    """The options of write_edge_list with which nodes keep the numbers or labels of the file that was read."""
    return {"base": loaded.base} if loaded.labels is None else {"labels": loaded.labels}
