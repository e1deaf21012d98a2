"""Random programs of writes and reads on one object, run by the library and by a dictionary {position: value}.

The dictionary's rules are those of the specification, written out position by position: nothing is shared with the
library.  A program is a list of steps (name, arguments), so that a failing one can be printed and run again.
"""

import numpy as np

import grb_tile as gb

ACCUMULATORS = {
    "plus": lambda x, y: x + y,
    "minus": lambda x, y: x - y,
    "first": lambda x, y: x,
    "second": lambda x, y: y,
    "min": min,
    "max": max,
}


def written(c, t, positions, inside, allowed, accum, replace, subassign):
    """C after a write of t (a dict) to the positions for which inside(p), under the mask allowed(p)."""
    result = {}
    for p in positions:
        here = inside(p)
        if subassign and not here:
            if p in c:
                result[p] = c[p]
            continue
        if not allowed(p):
            if p in c and not replace:
                result[p] = c[p]
            continue
        if not here:
            if p in c:
                result[p] = c[p]
        elif accum is not None and p in c:
            result[p] = ACCUMULATORS[accum](c[p], t[p]) if p in t else c[p]
        elif p in t:
            result[p] = t[p]
    return result


class Program:
    """One object of the library and its dictionary; `step` makes a random step in both."""

    def __init__(self, rng, shape, dtype, share):
        self.rng, self.shape, self.dtype = rng, shape, dtype
        self.positions = list(np.ndindex(*shape))
        self.model = self.random_entries(share)
        self.object = self.build(self.model)
        self.copies = []  # (what somebody else keeps, the dictionary it must equal for ever)
        self.log = []

    # ---------------------------------------------------------------- random things

    def value(self):
        return bool(self.rng.integers(2)) if self.dtype == "BOOL" else int(self.rng.integers(-4, 5))

    def random_entries(self, share):
        return {p: self.value() for p in self.positions if self.rng.random() < share}

    def build(self, entries, shape=None, dtype=None):
        shape, dtype = shape or self.shape, dtype or self.dtype
        columns = [np.array([p[axis] for p in entries], np.int64) for axis in range(len(shape))]
        values = np.array(list(entries.values()), getattr(gb.dtypes, dtype).np_type)
        if len(shape) == 1:
            return gb.Vector.from_coo(columns[0], values, dtype, size=shape[0])
        return gb.Matrix.from_coo(*columns, values, dtype, nrows=shape[0], ncols=shape[1])

    def index(self, size):
        """(what stands between the brackets, the positions it picks, does it keep the dimension?)"""
        rng, kind = self.rng, self.rng.integers(4)
        if kind == 0:
            i = int(rng.integers(-size, size))
            return i, [i % size], False
        if kind == 1:
            return slice(None), list(range(size)), True
        if kind == 2:
            start, step = int(rng.integers(size)), int(rng.integers(1, 4))
            return slice(start, None, step), list(range(start, size, step)), True
        chosen = rng.integers(0, size, rng.integers(1, 5)).tolist()
        return chosen, chosen, True

    def random_mask(self, shape):
        """(the mask, the function allowed(p), its text) or (None, always, "")."""
        kind = self.rng.integers(6)
        if kind == 0:
            return None, lambda p: True, ""
        share = self.rng.choice([0.02, 0.3])
        entries = {p: int(self.rng.integers(2)) for p in np.ndindex(*shape) if self.rng.random() < share}
        M = self.build(entries, shape, "INT8")
        structural, complement = kind % 2 == 0, kind > 3
        chosen = {p for p, x in entries.items() if structural or x}
        mask = M.S if structural else M.V
        text = f"{'~' if complement else ''}{sorted(chosen)}"
        return (~mask if complement else mask), (lambda p: (p in chosen) != complement), text

    # ---------------------------------------------------------------- steps

    def step(self):
        names = ["put", "put", "accumulate", "accumulate", "delete", "assign", "assign", "expression", "read", "look"]
        name = str(self.rng.choice([*names, "keep", "whole"]))
        self.log.append([name])
        getattr(self, name)()

    def note(self, *parts):
        self.log[-1] += parts

    def key(self):
        p = self.positions[self.rng.integers(len(self.positions))]
        return p, p if len(p) == 2 else p[0]

    def put(self):
        p, key = self.key()
        x = self.value()
        self.note(p, x)
        self.object[key] = x
        self.model[p] = x

    def accumulate(self):
        p, key = self.key()
        for _ in range(self.rng.integers(1, 4)):
            x, accum = self.value(), self.accumulator(always=True)
            self.note(p, accum, x)
            self.object(accum)[key] << x
            self.model[p] = ACCUMULATORS[accum](self.model[p], x) if p in self.model else x
            self.wrap()

    def delete(self):
        p, key = self.key()
        self.note(p)
        del self.object[key]
        self.model.pop(p, None)

    def accumulator(self, always=False):
        if not always and self.rng.integers(2):
            return None
        return str(self.rng.choice(["second", "first"] if self.dtype == "BOOL" else list(ACCUMULATORS)))

    def wrap(self):
        self.model = {p: self.cast(x) for p, x in self.model.items()}

    def cast(self, x):
        return (x + 128) % 256 - 128 if self.dtype == "INT8" else x

    def assign(self):
        """C[I](M, accum, replace) << x or C(M, accum, replace)[I] << x with a scalar, an empty one or an object."""
        rng = self.rng
        picked = [self.index(size) for size in self.shape]
        keys = tuple(key for key, _, _ in picked)
        keys = keys if len(keys) == 2 else keys[0]
        kept = [k for k, (_, _, keeps) in enumerate(picked) if keeps]
        subassign = bool(kept) and bool(rng.integers(2))
        region_shape = tuple(len(picked[k][1]) for k in kept)
        places = [lists for _, lists, _ in picked]
        last = {}  # position in C -> index into the region: of repeated indices the last counts
        for at in np.ndindex(*[len(lists) for lists in places]):
            last[tuple(lists[a] for lists, a in zip(places, at, strict=True))] = tuple(at[k] for k in kept)
        vector_mask = len(self.shape) == 2 and len(kept) == 1
        if subassign:
            mask, allowed_at, text = self.random_mask(region_shape)
            subassign = mask is not None
        elif vector_mask and rng.integers(2):  # row or column assign: the mask of that line
            mask, allowed_at, text = self.random_mask((self.shape[kept[0]],))
            line = 1 - kept[0]
        else:
            mask, allowed_at, text = self.random_mask(self.shape)
            vector_mask = False
        vector_mask = vector_mask and mask is not None and not subassign
        replace = mask is not None and bool(rng.integers(2)) and (bool(kept) or not subassign)
        accum = self.accumulator()
        kind = rng.integers(4) if kept else rng.integers(2)
        if kind == 0:
            value, t = gb.Scalar(self.dtype), {}
        elif kind == 1:
            value = self.value()
            t = dict.fromkeys(last, value)
        else:
            entries = {p: self.value() for p in np.ndindex(*region_shape) if rng.random() < 0.6}
            value = self.build(entries, region_shape)
            t = {p: entries[at] for p, at in last.items() if at in entries}
        self.note(keys, t, "mask", text, accum, "replace" if replace else "", "subassign" if subassign else "")
        options = {"accum": accum} | ({} if mask is None else {"mask": mask, "replace": replace})
        if subassign:
            self.object[keys](**options) << value
        else:
            self.object(**options)[keys] << value
        if subassign:

            def allowed(p):
                return p not in last or allowed_at(last[p])

        elif vector_mask:
            number = places[line][0]

            def allowed(p):
                return p[line] != number or allowed_at((p[kept[0]],))

        else:
            allowed = allowed_at
        self.model = written(self.model, t, self.positions, last.__contains__, allowed, accum, replace, subassign)
        self.wrap()

    def expression(self):
        """C(M, accum, replace) << an expression, an object or a number."""
        rng = self.rng
        mask, allowed, text = self.random_mask(self.shape)
        accum = self.accumulator()
        replace = mask is not None and bool(rng.integers(2))
        entries = self.random_entries(rng.choice([0.02, 0.5]))
        kind = rng.integers(3)
        value, t = self.build(entries), entries
        if kind == 0:
            value = value.apply(gb.unary.identity)
        elif kind == 1:
            value = self.value()
            t = dict.fromkeys(self.positions, value)
        self.note(t, "mask", text, accum, "replace" if replace else "")
        options = {"accum": accum} | ({} if mask is None else {"mask": mask, "replace": replace})
        self.object(**options) << value
        self.model = written(self.model, t, self.positions, lambda p: True, allowed, accum, replace, False)
        self.wrap()

    def read(self):
        p, key = self.key()
        found = self.object.get(*p)
        assert found == self.model.get(p), f"{p}: {found} for {self.model.get(p)}"
        assert (self.object[key].new().value == self.model.get(p)) is True

    def look(self):
        kind = self.rng.integers(4)
        self.note(int(kind))
        if kind == 0:
            assert self.object.nvals == len(self.model) == self.object.dup().nvals
        elif kind == 1:
            self.verify()
        elif kind == 2:
            assert self.object.isequal(self.build(self.model))
        elif self.object.ndim == 2:  # the transpose is remembered from here on
            other = self.object.T.new()
            assert entries_of(other) == {(j, i): x for (i, j), x in self.model.items()}
            self.copies.append((other, {(j, i): x for (i, j), x in self.model.items()}))
        else:
            assert self.object.reduce().new().value is not None or not self.model

    def keep(self):
        """Somebody else keeps a copy, a result that could share arrays, or the store itself."""
        kind, C = self.rng.integers(5), self.object
        self.note(int(kind))
        if kind == 0:
            other = C.dup()
        elif kind == 1:
            other = C.apply(gb.unary.identity).new()
        elif kind == 2:
            other = C.select("valuege", -1000).new() if self.dtype != "BOOL" else C.dup()
        elif kind == 3:
            other = C._store
        else:
            other = C.T if C.ndim == 2 else C[:].new()
            other = other.new() if C.ndim == 2 else other
        model = {p[::-1]: x for p, x in self.model.items()} if kind == 4 and C.ndim == 2 else dict(self.model)
        self.copies.append((other, model))

    def whole(self):
        kind = self.rng.integers(8)
        self.note(int(kind))
        if kind == 0:
            self.object.clear()
            self.model = {}
        elif kind == 1:
            self.model = self.random_entries(0.7)
            self.object << self.build(self.model)
        elif kind == 2:
            self.object = self.object.dup()

    def verify(self):
        found = entries_of(self.object)
        assert found == self.model, f"{found}\n{self.model}"
        assert self.object.nvals == len(self.model)

    def verify_copies(self):
        for other, model in self.copies:
            assert entries_of(other) == model, f"{type(other).__name__} kept by somebody else"


def entries_of(x):
    """{position: value} of an object or a store."""
    if not hasattr(x, "to_coo"):
        x = (gb.Matrix if len(x.shape) == 2 else gb.Vector)._from_store(x)
    *indices, values = x.to_coo()
    positions = zip(*(i.tolist() for i in indices), strict=True)
    return dict(zip(positions, values.tolist(), strict=True))
