"""What a rank says of an uncaught error (exit_hooks.py), and whether whole matrices fit on every rank."""

import sys
import threading
from types import SimpleNamespace

import pytest

from grb_tile.backends.distributed import exit_hooks, whole_loops
from grb_tile.backends.distributed.whole_loops import WholeLoops
from grb_tile.planner import tuning


def raised():
    try:
        int("no number")
    except ValueError as error:
        return type(error), error, error.__traceback__


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("where", ["program", "thread"])
def test_an_uncaught_error_is_said_with_its_rank(where, own, monkeypatch, capsys):
    """A program's own hook runs behind the number of the rank."""
    ended, seen = [], []
    monkeypatch.setattr(sys, "excepthook", (lambda *error: seen.append(error)) if own else sys.__excepthook__)
    monkeypatch.setattr(threading, "excepthook", seen.append if own else threading.__excepthook__)
    before = sys.excepthook, threading.excepthook
    remove = exit_hooks.install(3, lambda *end: ended.append(end))
    kind, error, trace = raised()
    if where == "program":
        sys.excepthook(kind, error, trace)
    else:
        threading.excepthook(threading.ExceptHookArgs((kind, error, trace, threading.current_thread())))
        threading.excepthook(threading.ExceptHookArgs((SystemExit, SystemExit(), None, None)))  # ends a thread alone
    text = capsys.readouterr().err
    assert text.startswith("[rank 3] ") and ("ValueError: invalid literal" in text) != own and len(seen) == own
    assert where == "program" or own or "Exception in thread MainThread" in text
    ((status, reason),) = ended
    assert status == 1 and "invalid literal" in reason
    if where == "program":
        sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
        assert ended[1][0] == 130
    remove()
    assert (sys.excepthook, threading.excepthook) == before and not exit_hooks.installed


@pytest.mark.parametrize("moves", [None, False, True])
def test_whole_matrices_may_take_a_share_of_the_least_memory(moves, monkeypatch):
    """Of a device, which ranks share unless they exchange by devices; of a host, which they share."""
    least, size = 6000.0, 3

    def room(others, free=9000.0):
        monkeypatch.setattr(whole_loops, "free_bytes", lambda: free)
        comm = SimpleNamespace(moves_devices=moves, allgather=lambda mine, call: [mine, *others])
        local = SimpleNamespace(on_device=moves is not None, device=SimpleNamespace(total_memory=9000.0))
        return WholeLoops._room_for_whole(SimpleNamespace(local=local, comm=comm, size=size)) / tuning.REPLICATED_SHARE

    assert room([None]) == (9000.0 if moves else 3000.0)
    assert room([least, None]) == (least if moves else 3000.0) and room([50.0]) == 50.0
    if moves is None:
        assert room([None], free=None) == float("inf") and room([least], free=None) == least
