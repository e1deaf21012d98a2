"""BFS and SSSP: which kernel, which direction."""

from __future__ import annotations

from .threshold import CPU_GRAPHS, H200_BFS, PLANS, RECORD, TILES, define

# ---------------------------------------------------------------------- BFS and SSSP

HIGH_DIAMETER_MEAN = define(
    8.5, "entries a row", "roads have 2 to 3, grids 4 to 8; random graphs of 10 have few levels", H200_BFS
)
HIGH_DIAMETER_VERTICES = define(2048, "vertices", "fewer cannot have the levels that pay for a second launch", H200_BFS)
HIGH_DIAMETER_DEGREE = define(32, "entries a row", "a row that one warp appends in a step", H200_BFS)
HIGH_DIAMETER_HEAVY = define(
    1 / 16, "share of the entries", "in longer rows; the frontier decides at run time above it", "not measured"
)
HIGH_DIAMETER_HEAVY_ENTRIES = define(
    1 << 19, "entries", "of longer rows: a block counts its edges of a level in 20 bits", "by construction"
)
SSSP_HIGH_DIAMETER_DEGREE = define(
    64, "entries a row", "a row that one thread relaxes alone", "H200: grid 2000, USA-road-NE"
)
BFS_SHORT_ROWS = define(4.2, "entries a row", "up to it 4 first neighbours of a vertex are kept, else 8", H200_BFS)
LOW_SKEW = define(256, "longest row over the mean", "below it no hub is worth looking up first", H200_BFS)
NEAR_NUMBERS = define(64, "n over a distance of numbers", "nearer than n / 64 counts as near", H200_BFS)
LOCAL_SHARE = define(
    0.25, "share of the vertices", "whose highest-degree neighbour has a near number", "H200: cnr-2000, fem 70"
)
TILES_ENTRIES = define(1 << 20, "entries", "fewer do not pay for making tiles", "H200: the ten graphs of the record")
TILES_DIAMETER_MEAN = define(5.0, "entries a row", "up to it (roads) the high-diameter kernel beats tiles", PLANS)
TILES_FULL = define(7.0, "entries of a 16 x 16 tile", f"{TILES}, 3.4, leaves it open; BFS", f"H200: {RECORD}")

BEAMER = "Beamer's alpha (SC 2012); the value: a sweep of powers of two"
BFS_ALPHA = define(16, "unexplored edges an edge of the frontier", BEAMER, H200_BFS)
MULTI_BFS_ALPHA = define(32, "unexplored edges an edge of the frontier", BEAMER, "H200: kron 20, 64 sources")
CPU_MULTI_BFS_PULL = define(
    3.0, "edges pulled", "in the time in which a push step of multi-source BFS writes one", CPU_GRAPHS
)
TILES_PUSH_CSC = define(
    2,
    "vertices a vertex of the frontier",
    f"{TILES}, section 3.4, has 100; with a queue of the frontier's tiles push_csc wins up to a half",
    "H200: fem 40 and 70",
)
TILES_PULL_CSC = define(
    16, "vertices an unvisited vertex", f"{TILES}, section 3.4: few unvisited", "H200: fem 40 and 70"
)
TILES_SPARSE_X = define(0.01, "share of x's positions", f"{TILES}, 3.4: push_csc below, push_csr above", "the paper")
SSSP_PULL_AT = define(2, "edges of unsettled vertices an edge of the frontier", "a sweep", "H200: kron 20 and 21")
SSSP_STEP = define(
    1.0,
    "mean weights over the mean degree",
    "delta-stepping (Meyer and Sanders 2003): first step",
    "H200: kron 20 and 21",
)
SSSP_MOST_STEP = define(2.0, "mean weights", "steps double up to it", "H200: kron 20 and 21")
SSSP_HIGH_DIAMETER_STEP = define(
    24.0, "mean weights", "near and far piles (Davidson et al. 2014), section 4", "H200: grid 2000, USA-road-NE"
)
