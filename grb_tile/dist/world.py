"""World: the ranks that compute together, and how a process becomes one of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..backends import select
from ..exceptions import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

NAME = "distributed"
_alone: World | None = None  # that of one rank


class World:
    """The ranks of this program.

    rank, size   this rank's number, 0 .. size - 1, and how many there are

    >>> import grb_tile as gb
    >>> gb.dist.run(2, lambda world: (world.rank, world.size, gb.Vector.from_coo([0, 1], [1, 2]).reduce().new().value))
    [(0, 2, 3), (1, 2, 3)]
    """

    def __init__(self, backend: Any) -> None:
        self._backend = backend
        self.rank: int = backend.rank
        self.size: int = backend.size

    def __repr__(self) -> str:
        return f"World(rank={self.rank}, size={self.size})"

    @property
    def channel(self) -> str:
        """How arrays of devices go from rank to rank: "over NCCL 2.28.3", "through the host (...)" with the reason.

        "" where ranks compute on the CPU, or there is one.
        """
        return self._backend.comm.channel

    def barrier(self) -> None:
        """Returns when every rank has come."""
        self._backend.comm.barrier("barrier")

    def allgather(self, item: Any) -> list[Any]:
        """[item of rank 0, item of rank 1, ...] on every rank: a small Python object of each."""
        return self._backend.comm.allgather(item, "allgather")

    def broadcast(self, item: Any, root: int = 0) -> Any:
        """The item of rank `root` on every rank."""
        return self._backend.comm.broadcast(item, root, "broadcast")

    @property
    def traffic(self) -> dict[str, float]:
        """{"bytes_sent", "bytes_received", "seconds"}: of this rank since the start, waiting included."""
        comm = self._backend.comm
        return {"bytes_sent": comm.bytes_sent, "bytes_received": comm.bytes_received, "seconds": comm.seconds}


def init(comm: Any = None, *, backend: str | None = None, timeout: float = 300.0) -> World:
    """This process becomes a rank: from now on objects are distributed over all ranks.

    comm: an mpi4py communicator; without one that of the launcher (`mpiexec`, `srun`, `grb-tile run`), or one rank.
    backend: what computes on each rank, "cpu" or "cuda"; by default the backend in use.  With "cuda" a rank takes the
    device of its number among the ranks of its host, modulo the devices that it sees, unless GRB_TILE_DEVICE or
    "cuda:1" names one.  Arrays of devices go by NCCL where each rank has one of its own, else through the host
    (`channel`).  timeout: seconds that a rank waits for others in an exchange.
    With one rank neither mpi4py nor NCCL is imported and nothing changes: objects stay ordinary.
    Called again, it returns the same World.
    """
    from ..backends.distributed.connect import connect, over_devices, rank_on_host

    global _alone
    found = select.in_use()
    if found is not None and found.name == NAME or _alone is not None:
        return world()
    connected = connect(comm, timeout)
    if connected.size > 1:
        base = select.named(select.own_device(backend, rank_on_host(connected)))
        made = select.over_ranks(over_devices(connected, base), base)
        select.register(NAME, made)
        select.use(NAME)
        return World(made)
    base = select.use(backend) if backend else select.current()
    _alone = World(select.over_ranks(connected, base))
    return _alone


def world() -> World:
    """The World of the caller.  Raises: InvalidValue before `init`."""
    backend = select.current()
    if hasattr(backend, "comm"):
        return World(backend)
    if _alone is None:
        raise InvalidValue("no ranks here: call gb.dist.init() first, and none of gb.dist within gb.dist.local()")
    return _alone


def owned(backend: Any, store: Any) -> Any:
    """The store that objects of the world have: a part, of one rank alone an ordinary store."""
    return store.local if backend.size == 1 and select.current() is not backend else store


def run(
    size: int,
    function: Callable[..., Any],
    *args: Any,
    devices: int | Sequence[int] | None = None,
    timeout: float = 300.0,
) -> list[Any]:
    """[function(world, *args) of rank 0, of rank 1, ...]: ranks that are threads of this process.

        gb.dist.run(2, program, devices=2)          # rank 0 on cuda:0, rank 1 on cuda:1

    devices: the numbers of devices, or how many there are; ranks take them in turn.  Where each has one of its own,
    arrays go by NCCL; ranks that share a device exchange through the host.  None: all compute with the backend in use.
    Raises: the first error of a rank.
    """
    from ..backends.distributed import loopback
    from ..backends.distributed.connect import over_devices

    numbers = range(devices) if isinstance(devices, int) else devices
    if numbers is not None and not len(numbers):
        raise InvalidValue(f"devices: {devices!r} names none")
    base = select.current() if numbers is None else None

    def of_rank(host: Any) -> Any:
        local = base or select.named(f"{select.NUMBERED}:{numbers[host.rank % len(numbers)]}")
        comm = over_devices(host, local)
        backend = select.over_ranks(comm, local)
        with select.entered(f"{NAME}-{backend.number}", backend):
            try:
                return function(World(backend), *args)
            finally:
                backend.close()
                comm.close()

    return loopback.run(size, of_rank, timeout=timeout)


@contextmanager
def local() -> Iterator[None]:
    """Within the block objects are this rank's own: made, computed and seen by this rank alone.

    with gb.dist.local():
        first, mine = ranks.local
        best = mine.reduce(gb.monoid.max).new()
    """
    backend = world()._backend
    with select.using(backend.local.name):
        yield
