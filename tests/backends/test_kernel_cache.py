"""The cache of compiled kernels: verified entries in a folder of the user's own; trouble costs time, never an error."""

import errno
import os
import random
import stat
import subprocess
import sys
import warnings

import pytest

from grb_tile.backends import kernel_cache
from grb_tile.backends.kernel_cache import KernelCache, read_entry
from support.seeds import SEED

PAYLOAD = bytes(range(256)) * 8


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path / "root"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(kernel_cache, "_warned", False)
    return KernelCache("cpu")


def test_entries_come_back_and_the_folder_is_private(cache):
    old = os.umask(0)
    try:
        assert cache.put("key", PAYLOAD)
    finally:
        os.umask(old)
    assert cache.get("key") == PAYLOAD
    assert cache.get("other") is None
    assert stat.S_IMODE(cache.folder().stat().st_mode) == 0o700
    assert stat.S_IMODE((cache.folder() / "key").stat().st_mode) == 0o600
    assert [path.name for path in cache.folder().iterdir()] == ["key"]


def test_damaged_entries_are_none(cache):
    cache.put("key", PAYLOAD)
    path = cache.folder() / "key"
    whole = path.read_bytes()
    chance = random.Random(SEED)
    for _ in range(200):
        data = bytearray(whole)
        at = chance.randrange(len(data))
        kind = chance.choice(("flip", "cut", "insert", "zero"))
        if kind == "flip":
            data[at] ^= 1 << chance.randrange(8)
        elif kind == "cut":
            del data[at:]
        elif kind == "insert":
            data[at:at] = bytes([chance.randrange(256)])
        else:
            data[at : at + 64] = bytes(len(data[at : at + 64]))
        if bytes(data) == whole:
            continue
        path.write_bytes(data)
        assert cache.get("key") is None, (SEED, kind, at)
    cache.put("key", PAYLOAD)
    assert cache.get("key") == PAYLOAD


def test_an_entry_of_another_key_is_none(cache):
    cache.put("one", PAYLOAD)
    cache.put("two", b"other")
    os.replace(cache.folder() / "one", cache.folder() / "two")
    assert cache.get("two") is None


def test_what_is_no_file_of_the_user_is_none(cache, tmp_path):
    cache.put("key", PAYLOAD)
    path = cache.folder() / "key"
    os.replace(path, tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert cache.get("key") is None
    path.unlink()
    os.mkfifo(path)
    assert cache.get("key") is None  # and does not hang
    path.unlink()
    path.mkdir()
    assert cache.get("key") is None
    assert read_entry(tmp_path / "elsewhere", "key", private=True) == PAYLOAD


def test_foreign_entries_and_folders_are_not_used(cache, monkeypatch):
    cache.put("key", PAYLOAD)
    other = KernelCache("cpu")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert cache.get("key") is None  # somebody else's file
    assert other.folder() is None
    with pytest.warns(RuntimeWarning, match="not a folder of this user"):
        assert not other.put("key", PAYLOAD)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707])
def test_a_folder_that_was_open_to_others_is_emptied(cache, mode):
    cache.put("key", PAYLOAD)
    folder = cache.folder()
    folder.chmod(mode)
    again = KernelCache("cpu")
    assert again.get("key") is None
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert again.put("key", PAYLOAD) and again.get("key") == PAYLOAD
    folder.chmod(0o755)  # others could read it, nothing more
    assert KernelCache("cpu").get("key") == PAYLOAD
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_file_that_is_no_entry_is_never_deleted(cache, tmp_path):
    folder = tmp_path / "root" / "cpu"
    (folder / "source").mkdir(parents=True)
    mine = [folder / "thesis.txt", folder / "notes.tmp", folder / "source" / "main.c"]
    for path in mine:
        path.write_bytes(bytes(100))
        os.utime(path, (0, 0))
    folder.chmod(0o775)  # the mode of new folders where each user has a group
    assert cache.folder() == folder
    cache.limit = 0
    assert cache.put("key", PAYLOAD)
    assert cache.get("key") is None  # beyond the limit
    assert all(path.read_bytes() == bytes(100) for path in mine)


def test_a_relative_folder_stays_where_it_was(cache, tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRB_TILE_CACHE", "relative")
    assert cache.put("key", PAYLOAD)
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert cache.get("key") == PAYLOAD
    assert cache.folder() == tmp_path / "relative" / "cpu"


def test_a_link_in_place_of_the_folder_is_not_followed(cache, tmp_path):
    (tmp_path / "root").mkdir()
    (tmp_path / "trap").mkdir()
    (tmp_path / "root" / "cpu").symlink_to(tmp_path / "trap")
    assert cache.folder() is None


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_a_disk_that_takes_nothing_warns_once(cache, monkeypatch, code):
    def refused(*arguments):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "replace", refused)
    with pytest.warns(RuntimeWarning, match="compiled kernels are not kept on disk.*GRB_TILE_CACHE"):
        assert not cache.put("key", PAYLOAD)
    assert not list(cache.folder().iterdir())  # nothing unfinished is left
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not cache.put("key", PAYLOAD)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_write_that_fails_half_way_leaves_nothing(cache, monkeypatch):
    opened = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, *mode: opened("/dev/full", os.O_WRONLY)
                        if flags & os.O_CREAT else opened(path, flags, *mode))  # fmt: skip
    with pytest.warns(RuntimeWarning, match="No space left"):
        assert not cache.put("key", PAYLOAD)
    assert cache.get("key") is None


def test_a_deleted_folder_is_made_again(cache):
    cache.put("key", PAYLOAD)
    (cache.folder() / "key").unlink()
    cache.folder().rmdir()
    assert cache.get("key") is None
    assert cache.put("key", PAYLOAD)
    assert cache.get("key") == PAYLOAD
    assert stat.S_IMODE(cache.folder().stat().st_mode) == 0o700


def test_where_the_home_cannot_be_written_the_run_time_folder_serves(tmp_path, monkeypatch):
    """Never a guessable folder in the shared temporary directory."""
    (tmp_path / "home").write_text("a file")
    monkeypatch.delenv("GRB_TILE_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setattr(kernel_cache, "_warned", False)
    cache = KernelCache("cpu")
    assert cache.folder() == tmp_path / "run" / "grb_tile" / "cpu"
    monkeypatch.delenv("XDG_RUNTIME_DIR")
    cache = KernelCache("cpu")
    assert cache.folder() is None and cache.get("key") is None
    with pytest.warns(RuntimeWarning):
        assert not cache.put("key", PAYLOAD)


def test_the_oldest_entries_go_beyond_the_limit(cache):
    for k in range(4):
        cache.put(f"k{k}", PAYLOAD)
        os.utime(cache.folder() / f"k{k}", (k, k))
    left_over = cache.folder() / "k9.1.ff.tmp"
    left_over.write_bytes(b"")
    os.utime(left_over, (0, 0))
    cache.limit = 2 * (len(PAYLOAD) + kernel_cache.DIGEST)
    cache.trim()
    assert sorted(path.name for path in cache.folder().iterdir()) == ["k2", "k3"]


def test_processes_write_the_same_entry_at_once(tmp_path):
    program = (
        "from grb_tile.backends.kernel_cache import KernelCache\n"
        "cache = KernelCache('cpu')\n"
        "for turn in range(200):\n"
        "    assert cache.put('key', b'x' * 50_000)\n"
        "    assert cache.get('key') == b'x' * 50_000\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "GRB_TILE_CACHE": str(tmp_path)}
    running = [subprocess.Popen([sys.executable, "-c", program], env=environment) for _ in range(2)]
    assert [process.wait(60) for process in running] == [0, 0]
    assert [path.name for path in (tmp_path / "cpu").iterdir()] == ["key"]
