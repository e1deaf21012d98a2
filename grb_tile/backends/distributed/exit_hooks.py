"""A program that ends in an error ends all ranks: others would wait for this one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any


def install(rank: int, end_all: Callable[[int], None]) -> Callable[[], None]:
    """Hooks that print an uncaught error with the rank's number, then call end_all(status); returns what removes them.

    Those of threads too.  Ctrl-C has status 130, as in a shell.
    """
    hook, thread_hook = sys.excepthook, threading.excepthook

    def of_program(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _print(rank)
        hook(kind, error, trace)
        end_all(130 if issubclass(kind, KeyboardInterrupt) else 1)

    def of_thread(args: Any) -> None:
        if args.exc_type is SystemExit:  # ends the thread alone
            return
        _print(rank)
        thread_hook(args)
        end_all(1)

    def remove() -> None:
        if sys.excepthook is of_program:
            sys.excepthook = hook
        if threading.excepthook is of_thread:
            threading.excepthook = thread_hook

    sys.excepthook, threading.excepthook = of_program, of_thread
    return remove


def _print(rank: int) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"[rank {rank}] ")
