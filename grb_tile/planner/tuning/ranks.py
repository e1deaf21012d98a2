"""Ranks: what an exchange costs, and what calls of a loop cost that whole loops of one device do not make."""

from __future__ import annotations

from .threshold import define

_H200S = "two H200s of one host, NVLink: a probe outside this library"
_RANKS = "two cores, mpich 5.0.2 and Unix sockets (results/distributed.md): least time"
_LOOPS = "H200: rmat 22, 24, 25, 26 of edge factor 16, whole loops and iterations (warm)"
_SHEET = "by data sheet; not measured here"

# ---------------------------------------------------------------------- links

HOST_EXCHANGE_NS = define(60_000, "ns", "an exchange of a few bytes between processes of one host", _RANKS)
HOST_BYTE_NS = define(0.7, "ns a byte", "256 KB in 230 us, 60 of which are the exchange's", _RANKS)
DEVICE_EXCHANGE_NS = define(18_000, "ns", "an all-gather of 256 KB by NCCL that is waited for", _H200S)
NVLINK_BYTE_NS = define(1 / 360, "ns a byte", "360 GB/s: peer copies", _H200S)
PCIE_BYTE_NS = define(1 / 45, "ns a byte", "PCIe 5 x16: 64 GB/s, seven tenths of it reached", _SHEET)
NETWORK_EXCHANGE_NS = define(30_000, "ns", "an exchange between hosts by MPI and NCCL over InfiniBand", _SHEET)
NETWORK_BYTE_NS = define(1 / 45, "ns a byte", "InfiniBand NDR: 400 Gb/s, nine tenths of it reached", _SHEET)

# ---------------------------------------------------------------------- work of one device

RANKS_ENTRY_NS = define(0.005, "ns an entry", "of a product with x in the L2 cache: PageRank of rmat 22 and 24", _LOOPS)
RANKS_FAR_NS = define(0.0016, "ns an entry", "more for each doubling of x beyond RANKS_NEAR_BYTES: rmat 25, 26", _LOOPS)
RANKS_NEAR_BYTES = define(1 << 26, "bytes of x", "up to which an entry takes RANKS_ENTRY_NS", _LOOPS)
RANKS_LOOP_NS = define(60_000, "ns", "of a whole loop whatever the graph: launches, levels of few vertices", _LOOPS)
RANKS_BFS_NS = define(0.013, "ns a vertex", "a search by one device, direction by level", _LOOPS)
RANKS_COMPONENTS_NS = define(0.075, "ns a vertex", "components by one device (Afforest)", _LOOPS)
RANKS_SSSP_NS = define(0.2, "ns a vertex", "paths by one device: three searches' time a bucket", _LOOPS)
RANKS_LEVEL_NS = define(2_500, "ns a level", "of a search with levels by the thousand: USA-road-NE", _LOOPS)
RANKS_CALLS_NS = define(150_000, "ns a turn", "ten GraphBLAS calls of a loop, which a whole loop does not make", _LOOPS)
RANKS_PRODUCT_NS = define(250_000, "ns", "of calls before the kernel of a product over two devices: kron 21", _H200S)
RANKS_SEARCH_NS = define(0.023, "ns a vertex", "a search by kernels of two devices: rmat 26", _H200S)
RANKS_SEARCH_CALLS_NS = define(200_000, "ns", "of calls around such a search: kron 21, rmat 26", _H200S)
RANKS_MEETING_NS = define(
    5_000, "ns", "of kernels of two devices: two barriers of a grid, a flag there and back", _H200S
)

# ---------------------------------------------------------------------- decisions

REPLICATED_SHARE = define(
    0.25, "of the memory", "that a matrix kept whole on a rank may take beside its part and what is computed", "chosen"
)
