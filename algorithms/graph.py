"""Graph: an adjacency matrix with the properties that algorithms ask for, each computed once and kept with the matrix.

An edge i -> j is an entry A(i, j), whatever its value: an explicit zero or False is an edge (of weight 0).
After LAGraph's LAGraph_Graph (Szarnyas et al., "LAGraph: Linear Algebra, Network Analysis Libraries, and the Study of
Graph Algorithms", 2021): a cached property is either absent or exact, and no algorithm changes the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, dtypes, exceptions, graph, memory, monoid, semiring

from . import arguments
from .display_html import graph_html
from .graph_input import describe
from .summary import GraphSummary, edge_density

QUANTILES = (0.5, 0.9, 0.99)  # of the degrees of a summary
CERTAIN = 1 << 26  # bytes that are never asked about
_KINDS = (bool, np.bool_), (float, np.floating)  # of labels that are equal to those of another kind

OTHER_NAMES = {  # of NetworkX and igraph: what to write here
    "nodes": "G.labels, or range(G.n) where it is None", "vs": "G.labels, or range(G.n) where it is None",
    "number_of_nodes": "G.n", "order": "G.n", "vcount": "G.n", "number_of_edges": "G.nedges", "size": "G.nedges",
    "ecount": "G.nedges", "edges": "G.A.to_edgelist()", "es": "G.A.to_edgelist()", "adj": "G.A",
    "neighbors": "G.A[G.vertex(v), :].new()", "successors": "G.A[G.vertex(v), :].new()",
    "predecessors": "G.A[:, G.vertex(v)].new()", "degree": "algorithms.degree(G)",
    "is_directed": "G.directed", "subgraph": "G.A[I, I].new()", "add_edge": "G.A[i, j] = weight and G.forget()",
}  # fmt: skip


class Graph:
    """The graph of a square matrix A: an edge i -> j for each entry A(i, j).

    A          a Matrix, or what describes a graph: the path of a file in any format of io.read; a table of edges (a
               data frame of pandas or Polars, a pyarrow Table; its columns as in io.from_dataframe), or a data frame
               with the same labels of rows and columns, which is the matrix; a NetworkX or igraph graph; a SciPy sparse
               array; a sparse tensor of PyTorch; a dense two-dimensional array (zeros are no edges); what a reader of
               io gave (EdgeList, LabelledMatrix, Read)
    directed   False: undirected.  Edges of a table or an edge list are then entered in both directions, anything else
               must have A = A' (checked at once); True: directed; None: as the source says, else undirected if A = A'
    name       shown in the repr
    labels     names of the nodes 0 .. n - 1, each different, which results give back, and by which algorithms are told
               nodes; those of files, tables and graphs are taken over.  None: nodes are numbers
    source, target, weight   the columns of a table; weight: also the attribute of the edges of a NetworkX or igraph
               graph, "weight" when None; False: no weights, of a file too
    dup_op     combines repeated edges, as in io.read_edge_list: when None the least weight counts, and a RepeatedEdges
               warning has their number; in Matrix Market and .npz files they are an error then

    Cached: out_degree, in_degree, is_symmetric, is_symmetric_structure, nself, emin, emax, and what algorithms derive.
    They are kept with A (`gb.graph.cached`), not with the Graph: each Graph of A has them, an algorithm that is given A
    itself too, and a change of A drops them.  After a change `forget()` checks anew what was declared.

    Raises: DimensionMismatch when A is not square, ValueError when directed=False and A is not symmetric or when there
    are not n labels, TypeError when A cannot be read, or is told what it does not have (columns of a Matrix).

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import Graph
    >>> G = Graph(gb.Matrix.from_coo([0, 1, 1], [1, 0, 2], [5, 5, 7], nrows=3, ncols=3))
    >>> G.n, G.nedges, G.directed, int(G.emax)
    (3, 3, True, 7)
    """

    def __init__(
        self,
        A: Any,
        directed: bool | None = None,
        *,
        name: str | None = None,
        labels: Sequence[Any] | None = None,
        source: Any = None,
        target: Any = None,
        weight: Any = None,
        dup_op: Any = None,
    ) -> None:
        if directed is not None and not isinstance(directed, bool):
            raise TypeError(f"directed: expected True, False or None (find out), got {directed!r}")
        options = {"source": source, "target": target, "weight": weight, "dup_op": dup_op}
        options = {key: value for key, value in options.items() if value is not None}
        A, default_name, kind, own_labels = describe(A, directed, options)
        _check_square(A)
        self.A: Matrix = A
        self.name = name if name is not None else default_name
        self.labels: Sequence[Any] | None = _check_labels(own_labels if labels is None else labels, A.nrows)
        self._numbers: dict[Any, int] | None = None  # of the labels, see number_of
        self._declared = directed if directed is not None else kind
        self._of_symmetric = False
        if kind is False:
            self.keep("is_symmetric", lambda: True)
            self.keep("is_symmetric_structure", lambda: True)
        self._check_symmetry()

    def _check_symmetry(self) -> None:
        """Refuse a graph that is declared undirected where A is not symmetric."""
        if self._declared is False and not self.is_symmetric:
            what = "values" if self.is_symmetric_structure else "structure"
            raise ValueError(
                f"directed=False: the {what} of A ({self.n} x {self.n}, {self.A.nvals} entries) is not symmetric; "
                "pass directed=True, or make it symmetric first: A = gb.binary.any(A | A.T).new()"
            )

    @classmethod
    def of_symmetric(cls, A: Matrix, *, name: str | None = None) -> Graph:
        """The undirected graph of a matrix that is symmetric by construction: A = A' is taken for granted.

        Without that, an undirected graph of the same kind is Graph(A, directed=False), which compares A with A'.
        Where A is not symmetric after all, results are of no use, or an InvalidValue says so.
        """
        G = cls(A, directed=True, name=name)
        G._declared, G._of_symmetric = False, True
        return G

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.A.nrows

    @property
    def nedges(self) -> int:
        """Number of edges; an undirected edge, stored twice, counts once."""
        return self.A.nvals if self.directed else (self.A.nvals + self.nself) // 2

    @property
    def directed(self) -> bool:
        """True unless A = A'."""
        return not self.is_symmetric if self._declared is None else self._declared

    @property
    def AT(self) -> Matrix:
        """A', the edges reversed; A itself where A = A' is known already.  The transpose is kept with A."""
        return self.A if self.known_symmetric else self.A.T.new(name="AT")

    @property
    def known_symmetric(self) -> bool:
        """Whether A = A' is known already; computes nothing."""
        return self._of_symmetric or bool(graph.known(self.A).get("is_symmetric"))

    @property
    def is_symmetric(self) -> bool:
        """Whether A = A', in structure and values."""
        return self._of_symmetric or graph.is_symmetric(self.A)

    @property
    def is_symmetric_structure(self) -> bool:
        """Whether j -> i exists for each edge i -> j."""
        return self._of_symmetric or graph.is_symmetric_structure(self.A)

    @property
    def out_degree(self) -> Vector:
        """d = A plus.pair 1: edges that leave each node; INT64, absent where there is none."""
        return self.keep("out_degree", lambda: self._count(self.A))

    @property
    def in_degree(self) -> Vector:
        """d = A' plus.pair 1: edges that enter each node; INT64, absent where there is none."""
        return self.keep("in_degree", lambda: self._count(self.AT))

    @property
    def nself(self) -> int:
        """Number of edges from a node to itself."""
        return self.keep("nself", lambda: self.A.diag().nvals)

    @property
    def emin(self) -> Any:
        """Smallest weight, None without edges."""
        return self.keep("emin", lambda: self.A.reduce_scalar(monoid.min).new().value)

    @property
    def emax(self) -> Any:
        """Largest weight, None without edges."""
        return self.keep("emax", lambda: self.A.reduce_scalar(monoid.max).new().value)

    def weights_as(self, dtype: Any) -> Matrix:
        """W = A of type `dtype`, kept with A; A itself where it is of that type."""
        if self.A.dtype is dtype:
            return self.A
        return self.keep(("weights", dtype.name), lambda: self.A.dup(dtype, name="W"))

    def vertex(self, label: Any) -> int:
        """The number of the node with this label; algorithms take it for the number also where labels are numbers.

        Raises: KeyError where no node has the label, ValueError where two nodes have the same.

        >>> import grb_tile as gb
        >>> from grb_tile.algorithms import Graph
        >>> Graph(gb.Matrix(bool, 2, 2), labels=["ann", "bob"]).vertex("bob")
        1
        """
        number = self.number_of(label)
        if number is None:
            raise KeyError(f"label: no node is called {label!r}; the labels are in G.labels")
        return arguments.VertexNumber(number) if isinstance(label, (int, np.integer)) else number

    def number_of(self, label: Any) -> int | None:
        """The number of the node with this label, None where there is none.  1.0 and True are not the label 1."""
        labels = range(self.n) if self.labels is None else self.labels
        if isinstance(labels, range):  # without a table of them
            whole = isinstance(label, (int, np.integer)) and not isinstance(label, bool)
            return labels.index(int(label)) if whole and int(label) in labels else None
        if self._numbers is None:
            numbers = {each: i for i, each in enumerate(labels)}
            if len(numbers) < len(labels):
                i, again = next((i, each) for i, each in enumerate(labels) if numbers[each] != i)
                raise ValueError(
                    f"labels: {again!r} is the label of the nodes {i} and {numbers[again]}; labels are to differ"
                )
            self._numbers = numbers
        try:
            number = self._numbers.get(label)
        except TypeError:  # a list, say
            return None
        if number is None or any(isinstance(label, kind) != isinstance(labels[number], kind) for kind in _KINDS):
            return None
        return number

    if not TYPE_CHECKING:  # type checkers take a class's __getattr__ for every name

        def __getattr__(self, name):
            here = OTHER_NAMES.get(name)
            hint = "" if here is None else f"; write {here} (docs/NAMES.md)"
            raise AttributeError(f"'Graph' object has no attribute {name!r}{hint}", name=name, obj=self)

    @property
    def numbered(self) -> Graph:
        """This graph without its labels: vertices are numbers.  What is kept with A is shared."""
        if self.labels is None:
            return self
        found = copy(self)
        found.labels = None
        return found

    def label(self, number: int) -> Any:
        """The label of the node with this number, the number itself where the graph has no labels."""
        return number if self.labels is None else self.labels[number]

    def summary(self) -> GraphSummary:
        """Size, degrees, weights and storage; prints as a table.

        >>> import grb_tile as gb
        >>> from grb_tile.algorithms import Graph
        >>> Graph(gb.generators.grid(3, 3)).summary().edges
        12
        """
        room_for(self, "summary", 9)
        degrees = np.zeros(self.n, np.int64)
        nodes, counts = self.out_degree.to_coo()
        degrees[nodes] = counts
        touched = degrees > 0
        if self.directed:
            touched[self.in_degree.to_coo(values=False)[0]] = True
        ordered = self.A.dtype.np_type.kind in "biuf"
        median, ninety, most = (
            np.quantile(degrees, QUANTILES, method="inverted_cdf").astype(int).tolist() if self.n else (0, 0, 0)
        )
        return GraphSummary(
            name=self.name,
            nodes=self.n,
            edges=self.nedges,
            directed=self.directed,
            loops=self.nself,
            isolated=int(self.n - touched.sum()),
            density=edge_density(self.n, self.nedges, self.directed),
            mean_degree=float(degrees.mean()) if self.n else 0.0,
            median_degree=median,
            degree_90=ninety,
            degree_99=most,
            largest_degree=int(degrees.max(initial=0)),
            weight_type=self.A.dtype.name,
            smallest_weight=self.emin if ordered else None,
            largest_weight=self.emax if ordered else None,
            storage=self.A.ss.format,
        )

    def keep(self, key: Any, make: Callable[[], Any]) -> Any:
        """`gb.graph.cached` of A: for the parts of A that an algorithm derives.

        What is derived from of_symmetric's promise has keys of its own, so that it never passes for a property of A.
        """
        return graph.cached(self.A, ("of_symmetric", key) if self._of_symmetric else key, make)

    def forget(self) -> None:
        """Drop every cached property of A, and check anew what was declared: to be called after A was changed.

        What was declared stays: labels, name, directed=True or False, and of_symmetric's promise.

        Raises: DimensionMismatch when A is no longer square, ValueError when there are not as many labels as nodes, or
        when directed=False was declared and A is no longer symmetric.
        """
        graph.forget(self.A)
        self._numbers = None
        _check_square(self.A)
        _check_labels(self.labels, self.A.nrows)
        self._check_symmetry()

    def _count(self, A: Matrix) -> Vector:
        # d = A plus.pair 1
        ones = Vector.from_scalar(1, self.n, dtypes.INT64)
        return semiring.plus_pair[dtypes.INT64](A @ ones).new(name="degree")

    def _known_directed(self) -> bool | None:
        """`directed`, None where it is not known yet; computes nothing."""
        if self._declared is not None:
            return self._declared
        symmetric = graph.known(self.A).get("is_symmetric")
        return None if symmetric is None else not symmetric

    def _repr_html_(self) -> str:
        return graph_html(self, self._known_directed())

    def __repr__(self) -> str:
        cached = graph.known(self.A)
        known = {None: "direction not asked for yet", True: "directed", False: "undirected"}[self._known_directed()]
        name = f"{self.name}: " if self.name else ""
        names = ", ".join(key for key in cached if isinstance(key, str))
        entries = f"{self.A.nvals} entries of {self.A.dtype.name}"
        return f"Graph({name}{self.n} nodes, {entries}, {known}; cached: {names or 'nothing'})"


def as_graph(G: Any) -> Graph:
    """G itself, or the Graph of a matrix given instead, with which its properties are kept (`gb.graph.cached`)."""
    return G if isinstance(G, Graph) else Graph(G)


def room_for(G: Any, name: str, each: float) -> Graph:
    """as_graph, for an algorithm with arrays of a number for each node.  each, raises: as `check_room`."""
    G = as_graph(G)
    check_room(G.A, G.n, name, each)
    return G


def check_room(A: Matrix, count: int, name: str, each: float) -> None:
    """Refuse what needs arrays of `count` numbers, one for each node, that do not fit into memory.

    each   bytes for each node, measured where few nodes have edges; compiled loops, which other graphs have, take a
           quarter of it or more
    Raises: OutOfMemory, which names the algorithm and the bytes, before anything is allocated.
    """
    wanted = int(count * each)
    if wanted < CERTAIN:
        return
    few = 2 * A.nvals < count
    remedy = "give a smaller graph, or free objects"
    if few:
        remedy = (
            f"at most {2 * A.nvals:,} nodes have edges: number those alone, with used = numpy.unique(A.to_coo()[:2]) "
            "and A[used, used], or have the labels of edges numbered by gb.io.from_pandas_edgelist"
        )
    what = f"{name}: arrays with a number for each of the {count:,} nodes"
    memory.require(wanted if few else wanted // 4, what, remedy)


def _check_square(A: Matrix) -> None:
    if A.nrows != A.ncols:
        raise exceptions.DimensionMismatch(
            f"A: a graph needs a square matrix, got {A.nrows} x {A.ncols}; "
            f"resize it (A.resize({max(A.shape)}, {max(A.shape)})) if rows and columns name the same nodes"
        )


def _check_labels(labels: Sequence[Any] | None, n: int) -> Sequence[Any] | None:
    """`labels` if there are n of them."""
    if labels is None:
        return None
    if isinstance(labels, (str, bytes)) or not hasattr(labels, "__len__"):
        raise TypeError(f"labels: expected a sequence of {n} names, got {labels!r}")
    if len(labels) != n:
        raise ValueError(f"labels: expected {n} names, one per node, got {len(labels)}")
    return labels.tolist() if hasattr(labels, "tolist") else labels
