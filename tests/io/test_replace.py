"""Every writer: the file appears complete or not at all, and what stood at the path keeps its mode, link and kind."""

import gc
import os
import resource
import socket
import stat
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import io as grb_io
from grb_tile.cli.output import write_vector
from grb_tile.io.replace import Replacement, check_target

RNG = np.random.default_rng(5)
N = 4000
A = gb.Matrix.from_coo(np.arange(N), RNG.permutation(N), RNG.random(N), nrows=N, ncols=N)
SMALL = gb.Matrix.from_coo([0, 1], [1, 0], [2.5, 3.5])

# name: (ending, write(matrix, path))
WRITERS = {
    "mtx": (".mtx", lambda matrix, path: grb_io.mmwrite(path, matrix)),
    "mtx.gz": (".mtx.gz", lambda matrix, path: grb_io.mmwrite(path, matrix)),
    "mtx.bz2": (".mtx.bz2", lambda matrix, path: grb_io.mmwrite(path, matrix)),
    "mtx.xz": (".mtx.xz", lambda matrix, path: grb_io.mmwrite(path, matrix)),
    "grb": (".grb", lambda matrix, path: grb_io.save(path, matrix)),
    "npz": (".npz", lambda matrix, path: grb_io.save_npz(path, matrix)),
    "txt": (".txt", lambda matrix, path: grb_io.write_edge_list(path, matrix)),
    "gr": (".gr", lambda matrix, path: grb_io.write(path, matrix)),
    "csv.gz": (".csv.gz", lambda matrix, path: grb_io.write(path, matrix)),
    "result": (
        ".txt",
        lambda matrix, path: write_vector(
            str(path), matrix.reduce_rowwise("plus").new(), SimpleNamespace(labels=None, base=0)
        ),
    ),
}
every_writer = pytest.mark.parametrize("name", WRITERS)


@contextmanager
def files_of_at_most(count):
    """Writing more bytes fails as on a full disk (with EFBIG for ENOSPC)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@every_writer
def test_a_full_disk_leaves_the_old_file_and_nothing_else(name, tmp_path):
    ending, write = WRITERS[name]
    path = tmp_path / f"x{ending}"
    write(SMALL, path)
    before = path.read_bytes()
    with files_of_at_most(2000), pytest.raises(OSError):
        write(A, path)
    gc.collect()
    assert os.listdir(tmp_path) == [path.name] and path.read_bytes() == before
    new = tmp_path / f"new{ending}"
    with files_of_at_most(2000), pytest.raises(OSError):
        write(A, new)
    assert os.listdir(tmp_path) == [path.name]
    write(A, path)
    assert len(path.read_bytes()) > 2000 and os.listdir(tmp_path) == [path.name]


@every_writer
def test_mode_and_symbolic_link_are_kept(name, tmp_path):
    ending, write = WRITERS[name]
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / f"x{ending}", tmp_path / f"link{ending}"
    target.write_bytes(b"old")
    target.chmod(0o604)
    link.symlink_to(target)
    write(SMALL, link)
    assert link.is_symlink() and stat.S_IMODE(target.stat().st_mode) == 0o604
    plain = tmp_path / f"plain{ending}"
    write(SMALL, plain)
    assert target.read_bytes() == plain.read_bytes() != b"old"
    assert sorted(os.listdir(tmp_path)) == sorted(["elsewhere", link.name, plain.name])
    target.unlink()
    write(SMALL, link)  # a link to what does not exist makes it
    assert link.is_symlink() and target.read_bytes() == plain.read_bytes()


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        grb_io.save(tmp_path / "a.grb", SMALL)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.grb").stat().st_mode) == 0o640


@pytest.mark.parametrize("path", ["/dev/null", "/dev/full"])
def test_devices_are_written_and_stay_devices(path):
    for write in (lambda: grb_io.save(path, SMALL), lambda: grb_io.mmwrite(path, SMALL)):
        if path == "/dev/null":
            write()
        else:
            with pytest.raises(OSError, match="No space left"):
                write()
        assert stat.S_ISCHR(os.stat(path).st_mode)
    assert not os.path.exists(f"{path}.mtx")


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}"])
def test_a_file_that_is_open_already_is_appended_to(name, tmp_path):
    path, plain = tmp_path / "x", tmp_path / "plain.grb"
    grb_io.save(plain, SMALL)
    with path.open("wb") as file:
        file.write(b"before ")
        file.flush()
        grb_io.save(name.format(file.fileno()), SMALL)
        assert os.path.samestat(os.fstat(file.fileno()), path.stat())
    assert path.read_bytes() == b"before " + plain.read_bytes() and sorted(os.listdir(tmp_path)) == ["plain.grb", "x"]
    reading = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(OSError):
            grb_io.save(f"/dev/fd/{reading}/", SMALL)
    finally:
        os.close(reading)


@every_writer
def test_a_pipe_gets_the_bytes(name, tmp_path):
    ending, write = WRITERS[name]
    pipe, plain = tmp_path / f"pipe{ending}", tmp_path / f"plain{ending}"
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    write(SMALL, pipe)
    reader.join(10)
    write(SMALL, plain)
    assert len(got[0]) > 10 and stat.S_ISFIFO(pipe.stat().st_mode)
    if name != "npz":  # a zip archive has other flags where its writer cannot seek
        assert got[0] == plain.read_bytes()


@every_writer
def test_what_cannot_be_written_is_named_and_left(name, tmp_path):
    ending, write = WRITERS[name]
    folder = tmp_path / f"folder{ending}"
    folder.mkdir()
    with pytest.raises(IsADirectoryError, match="folder"):
        write(SMALL, folder)
    with pytest.raises(FileNotFoundError, match="there is no folder .*missing"):
        write(SMALL, tmp_path / "missing" / f"x{ending}")
    here = socket.socket(socket.AF_UNIX)
    try:
        here.bind(str(tmp_path / f"s{ending}"))
        with pytest.raises(OSError, match="a socket, which is never written"):
            write(SMALL, tmp_path / f"s{ending}")
    finally:
        here.close()
    assert sorted(os.listdir(tmp_path)) == sorted([folder.name, f"s{ending}"])


def test_threads_that_write_one_path_do_not_mix(tmp_path):
    path = tmp_path / "x.grb"
    matrices = [SMALL, A]
    failures = []

    def work(k):
        try:
            for _ in range(20):
                grb_io.save(path, matrices[k % 2])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert grb_io.load(path).nvals in (2, N)
    for thread in threads:
        thread.join()
    assert not failures and os.listdir(tmp_path) == ["x.grb"]


def test_an_interruption_leaves_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), Replacement(path) as file:
        file.stream.write(b"new")
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["a"] and path.read_bytes() == b"old"


def test_a_guessed_temporary_name_is_not_followed(tmp_path, monkeypatch):
    """A link planted at the temporary name is an error: it is created, never opened."""
    monkeypatch.setattr("secrets.token_hex", lambda count: "guess")
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / ".a.guess.part").symlink_to(victim)
    with pytest.raises(FileExistsError), Replacement(tmp_path / "a") as file:
        file.stream.write(b"new")
    assert victim.read_bytes() == b"mine"


def test_check_target_creates_nothing(tmp_path):
    check_target(tmp_path / "a")
    assert os.listdir(tmp_path) == []
    no_file = (tmp_path, IsADirectoryError), (f"{tmp_path}/new/", IsADirectoryError)
    for path, error in (*no_file, (tmp_path / "no" / "a", FileNotFoundError)):
        with pytest.raises(error):
            check_target(path)
