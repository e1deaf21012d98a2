"""What was decided, and how to decide otherwise: Plan, force, explain.

Making a Plan costs about a microsecond; texts are put together only when somebody looks.
"""

import contextvars
from collections import deque
from time import perf_counter

# what may be forced: name -> (family, meaning)
FORCIBLE = {
    "rows": ("walk", "matrix times vector by rows (pull)"),
    "cols": ("walk", "matrix times vector by columns (push)"),
    "pull": ("walk", "the same as rows; in a traversal every level is pulled"),
    "push": ("walk", "the same as cols; in a traversal every level is pushed"),
    "dot": ("product", "matrix product by dot products over the places of the mask"),
    "gustavson": ("product", "matrix product row by row"),
    "numpy": ("engine", "no compiled kernels"),
    "numba": ("engine", "compiled kernels wherever they exist, compiled at once"),
    "reference": ("backend", "the reference backend (slow: for tests)"),
    "csr": ("format", "the plain rows of the matrix"),
    "tiled": ("format", "16 x 16 tiles with values"),
    "bittiled": ("format", "tiles of bits, the walk chosen by the frontier"),
    "bitblock": ("format", "8 x 8 blocks of bits"),
    "push_csc": ("format", "bit tiles by columns, driven by the vector's bits"),
    "push_csr": ("format", "bit tiles by rows, driven by the vector's tiles"),
    "pull_csc": ("format", "bit tiles by columns, driven by the unvisited places"),
}


class Forced:
    """The families that are forced at the moment; None means free."""

    __slots__ = ("backend", "engine", "format", "product", "walk")

    def __init__(self, walk=None, product=None, engine=None, backend=None, format=None):
        self.walk = walk
        self.product = product
        self.engine = engine
        self.backend = backend
        self.format = format

    def names(self):
        return tuple(name for name in (self.walk, self.product, self.engine, self.backend, self.format) if name)


FREE = Forced()
_here = contextvars.ContextVar("grb_tile_plan", default=None)
_everywhere = FREE  # set through gb.config["plan"]


def forced():
    """What is forced where the caller stands."""
    return _here.get() or _everywhere


def _with(base, names):
    """`base` with the named plans forced too.  Raises ValueError on an unknown name."""
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    fields = {field: getattr(base, field) for field in Forced.__slots__}
    for name in names:
        if name not in FORCIBLE:
            raise ValueError(f"plan: {name!r} cannot be forced; choose among {', '.join(FORCIBLE)}")
        fields[FORCIBLE[name][0]] = name
    return Forced(**fields)


class force:
    """Within the block, plans are as told: `with gb.plan(force="cols"):` or `gb.plan(force=("rows", "numpy"))`.

    Blocks nest; the inner one wins where both speak of the same thing.  Results are the same under every plan.
    Raises: ValueError on a name that is not in FORCIBLE, listing those that are.

    >>> from grb_tile.planner import force, forced
    >>> with force("cols"), force("numpy"):
    ...     forced().names()
    ('cols', 'numpy')
    """

    __slots__ = ("_names", "_undo")

    def __init__(self, force):
        _with(FREE, force)  # complain here, not at the `with`
        self._names = force
        self._undo = []

    def __enter__(self):
        now = _with(forced(), self._names)
        self._undo.append((_here, _here.set(now)))
        if now.engine:
            from grb_tile.backends.cpu.jit import cache as jit

            self._undo.append((jit._forced_mode, jit._forced_mode.set("never" if now.engine == "numpy" else "always")))
        if now.backend:
            from grb_tile.backends import select

            block = select.using(now.backend)
            block.__enter__()
            self._undo.append((block, None))
        return self

    def __exit__(self, *error):
        while self._undo:
            what, token = self._undo.pop()
            if token is None:
                what.__exit__(*error)
            else:
                what.reset(token)


def _force_everywhere(names):
    """gb.config["plan"] = names: force for the whole process; None frees."""
    global _everywhere
    new = _with(FREE, names) if names else FREE
    if new.engine or _everywhere.engine:
        from grb_tile.backends.cpu.jit import cache as jit

        jit.set_mode({None: "auto", "numpy": "never", "numba": "always"}[new.engine])
    _everywhere = new


def _listen():
    from grb_tile.config import config

    listen = getattr(config, "listen", None)
    if listen is not None:
        listen("plan", _force_everywhere)
        if config.get("plan", None):
            _force_everywhere(config.get("plan"))


_listen()


class Plan:
    """One decision.  walk: what will run; format: the storage it walks; rule: the predicate that decided (RULES)."""

    __slots__ = ("_started", "engine", "figures", "format", "operation", "rule", "seconds", "walk")

    def __init__(self, operation, walk, format, rule, figures=()):
        self.operation = operation
        self.walk = walk
        self.format = format
        self.rule = rule
        self.figures = figures
        self.engine = None
        self.seconds = None
        self._started = perf_counter()
        _history.append(self)

    def done(self, backend):
        """Note the time since the decision, and who did the work unless that is known."""
        self.seconds = perf_counter() - self._started
        if self.engine is None:
            self.engine = backend.name

    def use_plain_rows(self):
        """Note that the form that was asked for has no walk for this product, so that the matrix's rows serve."""
        self.rule, self.figures, self.format = "form_unsuited", (self.format,), "csr"

    @property
    def reason(self):
        """Why, in words and figures."""
        return RULES[self.rule].format(*self.figures)

    def as_dict(self):
        """The plan as plain values: operation, walk, format, rule, reason, engine, ms."""
        return {
            "operation": self.operation, "walk": self.walk, "format": self.format, "rule": self.rule,
            "reason": self.reason, "engine": self.engine, "ms": None if self.seconds is None else self.seconds * 1e3,
        }  # fmt: skip

    def __repr__(self):
        took = "" if self.seconds is None else f" {self.seconds * 1e3:.3f} ms"
        engine = f" {self.engine}" if self.engine else ""
        return f"{self.operation}: {self.walk} over {self.format}{engine}{took}; {self.rule}: {self.reason}"


RULES = {
    "forced": "the caller forced it",
    "form_unsuited": "{0} was asked for, which has no walk for this product on this backend",
    "vector_empty": "the vector holds nothing",
    "matrix_small": "{0} entries: nothing to gain by weighing",
    "only_orientation": "only this orientation of the matrix is at hand: {0:.0f} against {1:.0f} and a transpose at {2:.0f} more",
    "columns_cheaper": "columns of the vector's {2} entries cost about {1:.0f}, permitted rows {0:.0f}",
    "rows_cheaper": "permitted rows cost about {0:.0f}, columns of the vector's {2} entries {1:.0f}",
    "same_as_last": "rows {0:.0f} against columns {1:.0f}: too close to change the direction of the last call",
    "mask_small": "{2} places in the mask: dots cost about {0:.0f}, rows {1:.0f}",
    "no_mask": "no mask, or a complement: every place may be written",
    "rows_of_product": "rows cost about {1:.0f}, dots over the mask's {2} places {0:.0f}",
    "by_level": "{0} levels, {1} of them pulled",
    "tiles_full": "{0} levels, {1} of them pulled; a 16 x 16 tile holds {2:.1f} entries",
}

_history = deque(maxlen=64)


def record_plan(operation, walk, format, rule, figures=()):
    return Plan(operation, walk, format, rule, figures)


def history():
    """The latest plans, oldest first."""
    return list(_history)


class Report:
    """Plans as text, one a line; `.plans` has them as objects, `.as_dicts()` as dictionaries."""

    def __init__(self, plans):
        self.plans = plans

    def as_dicts(self):
        return [plan.as_dict() for plan in self.plans]

    def __iter__(self):
        return iter(self.plans)

    def __len__(self):
        return len(self.plans)

    def __str__(self):
        return "\n".join(map(repr, self.plans)) if self.plans else "nothing was planned yet"

    __repr__ = __str__


def report_of(plans):
    return Report(list(plans))


def explain(last=1):
    """What the planner chose in the last call (or the `last` calls), why, with which figures, and how long it took.

    >>> import grb_tile as gb
    >>> report = gb.explain()
    """
    plans = list(_history)
    return Report(plans[-last:] if last else plans)
