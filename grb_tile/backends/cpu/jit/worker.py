"""The compiler process: reads recipes, compiles them one at a time at low priority, stores the code.

    request   a line of JSON: {"key", "target", "recipe", "cache": the value of GRB_TILE_CACHE or null}
    reply     a line of JSON: {"key", "seconds", "bytes", perhaps "error"}, then the code, unless it is stored

It ends when its input ends, which is when the process that started it ends or lets go of it.
"""

import contextlib
import json
import os
import queue
import signal
import sys
import threading
import time

from ...kernel_cache import KernelCache
from .recipe import Recipe

BASELINE = "x86-64-v3"  # of code that comes with the package: AVX2, BMI2, FMA (System V ABI for AMD64, 3.1.1)


def build(recipe, target):
    """The entry of a specialisation: the names of its functions (JSON) in a line, then its code.

    Raises: whatever the compilers raise; LinkError or OSError when the code needs what a process does not have.
    """
    from . import link, load
    from .compile import object_code
    from .specialise import text_of

    text, functions = text_of(recipe)
    code = object_code(text, functions, BASELINE if target == BASELINE else "host")
    if load.links_here():
        code = link.shared_object(code, {f"grb_{name}" for name in functions})
    load.load(code, functions)  # are all symbols there?
    return json.dumps(sorted(functions)).encode() + b"\n" + code


def _read(requests):
    for line in sys.stdin.buffer:
        requests.put(json.loads(line))
    os._exit(0)


def main():
    """Serve requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(19)
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # a compiler that prints must not write between replies
    requests = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests,), daemon=True).start()
    cache = KernelCache("cpu")
    with contextlib.suppress(Exception):  # each request says what is wrong
        from . import compile  # noqa: F401, A004 - half a second, which is not a kernel's
    while True:
        request = requests.get()
        if request["cache"] is None:
            os.environ.pop("GRB_TILE_CACHE", None)
        else:
            os.environ["GRB_TILE_CACHE"] = request["cache"]
        reply, payload, start = {"key": request["key"]}, b"", time.process_time()
        try:
            payload = build(Recipe(**request["recipe"]), request["target"])
        except BaseException as error:
            reply["error"] = f"{type(error).__name__}: {error}"
        else:
            if cache.put(request["key"], payload):
                payload = b""
        reply.update(seconds=time.process_time() - start, bytes=len(payload))
        try:
            replies.write(json.dumps(reply).encode() + b"\n" + payload)
            replies.flush()
        except OSError:
            os._exit(0)


if __name__ == "__main__":
    main()
