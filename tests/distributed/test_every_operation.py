"""Every operation over ranks as on one: operands cut anywhere, of several forms, under every kind of mask."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.distributed.backend import DistributedBackend
from support.ranks import on_ranks
from support.seeds import generator

N, M = 70, 45


def operands(form):
    """(A, B, S, u, v) of which A is N x M, B M x N, S N x N, u of size N, v of size M."""
    rng = generator("every operation", form)

    def matrix(m, n, count):
        at = np.sort(rng.choice(m * n, count, replace=False))
        values = np.full(count, 3.0) if form == "one value" else rng.integers(-4, 9, count).astype(float)
        return gb.Matrix.from_coo(at // n, at % n, values, nrows=m, ncols=n)

    def vector(n, count):
        at = np.sort(rng.choice(n, count, replace=False))
        return gb.Vector.from_coo(at, rng.integers(1, 9, count) if form != "one value" else 2, float, size=n)

    few = {"few entries": 3, "no entries": 0}.get(form)
    counts = [few] * 5 if few is not None else [300, 310, 500, 30, N if form == "one value" else 40]
    return (matrix(N, M, counts[0]), matrix(M, N, counts[1]), matrix(N, N, counts[2]),
            vector(N, counts[3]), vector(M, min(M, counts[4])))  # fmt: skip


SEMIRINGS = (
    "plus_times", "min_plus", "any_pair", "max_first", "plus_second", "ss.min_firsti", "ss.max_firsti1",
    "ss.min_firstj", "ss.plus_firstj1", "ss.min_secondi", "ss.max_secondi1", "ss.max_secondj", "ss.min_secondj1",
)  # fmt: skip
AGGREGATES = (
    "sum",
    "count",
    "mean",
    "max",
    "ss.first",
    "ss.last",
    "vars",
    "hypot",
    "exists",
    "prod",
    "ss.argmax",
    "ss.argmin",
)


def named(module, name):
    for part in name.split("."):
        module = getattr(module, part)
    return module


def changed(x, change):
    x = x.dup()
    change(x)
    return x


def masks(x):
    """Under each kind of mask: (name, keywords of new)"""
    return (
        ("", {}),
        (" at S", {"mask": x.S}),
        (" at ~S", {"mask": ~x.S}),
        (" at V", {"mask": x.V}),
        (" at ~V", {"mask": ~x.V}),
    )


def products(A, B, S, u, v):
    for name in SEMIRINGS:
        op = named(gb.semiring, name)
        for how, mask in masks(u):
            yield f"A v {name}{how}", lambda op=op, mask=mask: A.mxv(v, op).new(**mask)
            yield f"B' v {name}{how}", lambda op=op, mask=mask: B.T.mxv(v, op).new(**mask)
            yield f"v' B {name}{how}", lambda op=op, mask=mask: v.vxm(B, op).new(**mask)
            yield f"v' A' {name}{how}", lambda op=op, mask=mask: v.vxm(A.T, op).new(**mask)
        for how, mask in masks(S):
            yield f"A B {name}{how}", lambda op=op, mask=mask: A.mxm(B, op).new(**mask)
            yield f"A A' {name}{how}", lambda op=op, mask=mask: A.mxm(A.T, op).new(**mask)
            yield f"B' B {name}{how}", lambda op=op, mask=mask: B.T.mxm(B, op).new(**mask)
            yield (
                f"S S {name}{how} reduced",
                lambda op=op, mask=mask: S.mxm(S, op).new(**mask).reduce_scalar("plus").new(),
            )
    for how, mask in masks(S)[1:]:
        pattern = mask["mask"]
        for X, Y, text in ((S, S, "S S"), (S, S.T, "S S'"), (A, B, "A B"), (A, A.T, "A A'")):
            chain = lambda X=X, Y=Y, pattern=pattern: X.mxm(Y, "plus_pair").select(pattern)  # noqa: E731
            yield f"{text}{how} in a chain", lambda chain=chain: chain().new()
            yield f"{text}{how} in a chain, selected", lambda chain=chain: chain().select(">", 1).new()
            yield f"{text}{how} in a chain, summed", lambda chain=chain: chain().reduce_scalar("plus").new()
            yield (
                f"{text}{how} in a chain, by rows",
                lambda chain=chain: chain().select(">", 1).reduce_rowwise("plus").new(),
            )
    yield "inner", lambda: u.inner(u).new()
    yield "inner of positions", lambda: u.inner(u, gb.semiring.ss.plus_firstj).new()
    yield "outer", lambda: u.outer(v).new()
    yield "power", lambda: S.power(3).new()


def elementwise(A, B, S, u, v):
    for op in ("plus", "minus", "first", "second", "min", "ss.firsti", "ss.firstj1", "ss.secondi1", "ss.secondj"):
        f = named(gb.binary, op)
        for X, Y, name in ((A, B.T, "A B'"), (S, S.T, "S S'"), (u, gb.Vector.from_scalar(3.0, N), "u 3")):
            for how, mask in masks(X):
                yield f"{name} union {op}{how}", lambda X=X, Y=Y, f=f, mask=mask: X.ewise_add(Y, f).new(**mask)
                yield f"{name} both {op}{how}", lambda X=X, Y=Y, f=f, mask=mask: X.ewise_mult(Y, f).new(**mask)
        if "." not in op:
            yield f"A B' with defaults {op}", lambda f=f: A.ewise_union(B.T, f, 100.0, -7.0).new()
    for X, name in ((A, "A"), (u, "u")):
        for how, mask in masks(X):
            for text in ("ainv", "abs", "one", "ss.positioni", "ss.positioni1", "ss.positionj"):
                op = named(gb.unary, text)
                yield f"{name} apply {text}{how}", lambda X=X, op=op, mask=mask: X.apply(op).new(**mask)
            for left, right in ((None, 3.0), (3.0, None)):
                yield (
                    f"{name} minus {left} {right}{how}",
                    lambda X=X, a=left, b=right, mask=mask: X.apply("minus", left=a, right=b).new(**mask),
                )
            for text in ("rowindex", "colindex") if X is A else ("index",):
                op = named(gb.indexunary, text)
                yield f"{name} {text}{how}", lambda X=X, op=op, mask=mask: X.apply(op, 2).new(**mask)
            for text in (
                "tril",
                "triu",
                "diag",
                "offdiag",
                "rowle",
                "rowgt",
                "colle",
                "colgt",
                "valuegt",
                "valuele",
                "valueeq",
            ):
                if X is A or text.startswith("value"):
                    op = named(gb.select, text)
                    yield f"{name} select {text}{how}", lambda X=X, op=op, mask=mask: X.select(op, 3).new(**mask)
    yield "u select index", lambda: u.select(gb.select.indexle, 33).new()
    for X, Y, name in ((A, B.T, "A B'"), (S, S, "S S"), (u, u, "u u"), (u, (u * (1 + 1e-6)).new(), "u about u")):
        Y = Y.new() if hasattr(Y, "new") else Y
        yield f"{name} isequal", lambda X=X, Y=Y: X.isequal(Y)
        for rel, tol in ((1e-7, 0.0), (1e-5, 0.0), (0.0, 1e-7), (0.0, 1.0), (1e-9, 1e-9)):
            yield (
                f"{name} isclose {rel} {tol}",
                lambda X=X, Y=Y, rel=rel, tol=tol: X.isclose(Y, rel_tol=rel, abs_tol=tol),
            )


def reductions(A, B, S, u, v):
    for name in ("plus", "max", "min", "times", "any"):
        op = "plus" if name == "any" else name
        yield f"A rows {name}", lambda op=op: A.reduce_rowwise(op).new()
        yield f"A columns {name}", lambda op=op: A.reduce_columnwise(op).new()
        yield f"A' rows {name}", lambda op=op: A.T.reduce_rowwise(op).new()
        yield f"A {name}", lambda op=op: A.reduce_scalar(op).new()
        yield f"u {name}", lambda op=op: u.reduce(op).new()
        yield f"scan of u {name}", lambda op=op: u.ss.scan(op)
        for order in ("rowwise", "columnwise"):
            yield f"scan of A {order} {name}", lambda op=op, order=order: A.ss.scan(op, order)
    for name in AGGREGATES:
        agg = named(gb.agg, name)
        yield f"A rows agg {name}", lambda agg=agg: A.reduce_rowwise(agg).new()
        yield f"A columns agg {name}", lambda agg=agg: A.reduce_columnwise(agg).new()
        yield f"A agg {name}", lambda agg=agg: A.reduce_scalar(agg).new()
        yield f"u agg {name}", lambda agg=agg: u.reduce(agg).new()
    for how, k in itertools.product(("first", "last", "largest", "smallest"), (1, 3, 50)):
        yield f"selectk rows {how} {k}", lambda how=how, k=k: A.ss.selectk(how, k)
        yield f"selectk columns {how} {k}", lambda how=how, k=k: A.ss.selectk(how, k, order="columnwise")
        yield f"selectk u {how} {k}", lambda how=how, k=k: u.ss.selectk(how, k)


def structures(A, B, S, u, v):
    small, other = A[:5, :4].new(), B[:3, :6].new()
    K = small.kronecker(other, "times").new()
    for how, mask in masks(K):
        yield f"kronecker{how}", lambda mask=mask: small.kronecker(other, "plus").new(**mask)
    lists = ([3, 69, 0, 3, 20], slice(60, 5, -3), slice(None), range(10, 40), slice(0, 70, 64), [69])
    for I in lists:
        yield f"u[{I}]", lambda I=I: u[I].new()
        yield f"A[{I}, :]", lambda I=I: A[I, :].new()
        yield f"B[:, {I}]", lambda I=I: B[:, I].new()
        yield f"S[{I}, {I}]", lambda I=I: S[I, I].new()
        yield f"S[{I}, 7]", lambda I=I: S[I, 7].new()
        if I != lists[0]:
            size = len(u[I].new().to_dense(fill_value=0))
            w = gb.Vector.from_dense(np.arange(size) + 0.5)
            yield f"u[{I}] <<", lambda I=I, w=w: changed(u, lambda x: x[I] << w)
            yield f"u[{I}] << 7", lambda I=I: changed(u, lambda x: x[I] << 7)
            yield f"u[{I}](+) << 7", lambda I=I: changed(u, lambda x: x[I]("plus") << 7)
            yield f"S[{I}, 7] <<", lambda I=I, w=w: changed(S, lambda x: x[I, 7] << w)
            yield f"S[7, {I}] <<", lambda I=I, w=w: changed(S, lambda x: x[7, I] << w)
            yield f"S[{I}, {I}] << 5", lambda I=I: changed(S, lambda x: x[I, I] << 5)
            yield f"S[{I}, :]", lambda I=I: changed(S, lambda x: x[I, :] << S[I, :].new().apply("ainv").new())
            yield f"S(~S.V)[{I}, :]", lambda I=I: changed(S, lambda x: x(~S.V, replace=True)[I, :] << 3)
    yield "row", lambda: A[3, :].new()
    yield "column", lambda: A[:, 3].new()
    yield (
        "elements",
        lambda: [x[i].new().value for x in (u,) for i in (0, 33, 69)] + [A[i, 4].new().value for i in range(N)],
    )
    yield "transpose", lambda: A.T.new()
    yield "diag of u", lambda: u.diag(-2)
    yield "diag of S", lambda: S.diag(3)
    yield "concat", lambda: gb.ss.concat([[A, S], [B.T.new(), S]])
    yield "concat of vectors", lambda: gb.ss.concat([u, v, u])
    yield "split", lambda: [tile for row in S.ss.split([[20, 50], [1, 69]]) for tile in row]
    yield "resize", lambda: changed(A, lambda x: x.resize(33, 80))
    yield "resize of u", lambda: changed(u, lambda x: x.resize(200))
    yield "clear", lambda: changed(A, lambda x: x.clear())
    yield "reposition", lambda: A.reposition(3, -2).new()
    yield "reshape", lambda: A.ss.reshape(M, N)
    yield "compactify", lambda: A.ss.compactify("first", 5)
    yield "dense", lambda: [u.to_dense(fill_value=-1).tolist(), A.to_dense(fill_value=-1).tolist()]
    for how, mask in masks(S)[1:]:
        for accum in (None, "plus", "second"):
            for replace in (False, True):

                def written(x, mask=mask["mask"], accum=accum, replace=replace):
                    x(mask, accum, replace=replace) << S.T

                yield f"write{how} {accum} {replace}", lambda written=written: changed(S, written)


GROUPS = {"products": products, "element-wise": elementwise, "reductions": reductions, "structures": structures}


def comparable(x):
    """Numbers to ten digits, zeros of one sign: sums of ranks and of compiled code are added in other orders."""
    if isinstance(x, (list, tuple)):
        return [comparable(each) for each in x]
    if isinstance(x, float):
        return f"{x + 0.0:.10g}"
    if hasattr(x, "to_coo"):
        return [x.shape, x.dtype.name, comparable([np.asarray(array).tolist() for array in x.to_coo()])]
    return [x.dtype.name, comparable(x.value)] if isinstance(x, gb.Scalar) else x


def results(group, form, ranks):
    """What each call gives, or the error; of most forms of every third call."""
    found, part = {}, int(generator("part", group, form, ranks).integers(3))
    for k, (name, call) in enumerate(GROUPS[group](*operands(form))):
        if k % 3 == part or form == "values" and (group != "products" or k % 2 == part % 2):
            try:
                found[name] = comparable(call())
            except (gb.exceptions.GraphblasException, ValueError, TypeError, IndexError) as error:
                found[name] = type(error).__name__
    return found


FORMS = ("values", "one value", "few entries", "no entries")


@pytest.mark.parametrize(("form", "ranks"), list(zip(FORMS, (3, 2, 3, 2), strict=True)))
@pytest.mark.parametrize("group", GROUPS)
def test_as_on_one(group, form, ranks):
    wanted = results(group, form, ranks)
    wrong = [name for name, x in wanted.items() if type(x) is str and not x.isnumeric()]
    assert len(wrong) < len(wanted) / 4, wrong
    for found in on_ranks(f"ranks{ranks}", lambda: results(group, form, ranks), timeout=60.0):
        assert found.keys() == wanted.keys()
        for name, x in wanted.items():
            assert found[name] == x, (name, found[name], x)


@pytest.mark.parametrize("ranks", [2, 3])
def test_products_with_a_matrix_that_every_rank_has(ranks):
    """Ranks that may keep the whole of an operand: S S' and S S under each mask in a chain, each several times."""

    def found():
        S = operands("values")[2]
        P = S.select("offdiag").new()
        given = []
        for X, (_, mask) in itertools.product((S, P), masks(S)[1:] + masks(P)[1:]):
            for Y in (X.T, X, S.T):
                chain = X.mxm(Y, "plus_pair").select(mask["mask"])
                given += [chain.reduce_scalar("plus").new(), chain.new(), chain.reduce_rowwise("max").new()]
        return comparable(given)

    wanted = found()
    for repeated in on_ranks(f"ranks{ranks}", lambda: [found(), found()], backend=DistributedBackend, timeout=60.0):
        assert repeated == [wanted, wanted]
