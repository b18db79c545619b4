"""Random sequences of changes to bcolz stores, by this package and by the real bcolz: after each both read the same.

The model is a NumPy array, or a dict of them. Every step opens the store anew, so that what counts is on disk.
"""

import os
import shutil

import bcolz
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import same_bits

import ndfile

# What bcolz-zipline 1.13 can create; the others it reads and changes when they are there.
CREATED = ["?", *"i1 u1 <i2 >i4 <i8 <u2 >u4 <u8 <f2 >f4 <f8 >f8 S1 S5 S300 <U1 <U5 >U3 <U70 V7 V300".split()]
CREATED += ["<M8[ns]", "<m8[ns]"]
FOUND = ["<c8", "<c16", "<M8[us]", "<M8[D]", "<m8[s]"]
FILLS = {"b": True, "i": -3, "u": 7, "f": 1.5, "S": b"a", "U": "é"}


def random_items(dtype, shape, seed):
    """Items of every kind: zeros, repetitions, noise, NaN."""
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    n = int(np.prod(shape, dtype=int))
    if dtype.kind in "SU":
        letters = "ab\0é中😀" if dtype.kind == "U" else "ab\0z"
        width = dtype.itemsize // (4 if dtype.kind == "U" else 1)
        texts = ["".join(rng.choice(list(letters), rng.integers(0, min(width, 9) + 1))) for _ in range(n)]
        return np.array(texts, object).astype(dtype).reshape(shape)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind == "V":
        return np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).reshape(shape)
    small = rng.integers(0, 100, shape).astype(dtype)
    if rng.random() < 0.5:
        return small
    if dtype.kind in "fc":
        small[rng.random(shape) < 0.3] = np.nan
        return small
    return np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).reshape(shape)


def fill_of(dtype):
    return FILLS.get(np.dtype(dtype).kind)


def grown(array, n, fill):
    """The first n rows, with rows of fill where there are none."""
    more = np.zeros((max(0, n - len(array)), *array.shape[1:]), array.dtype)
    if fill is not None:
        more[...] = fill
    return joined(array[:n], more)


def joined(*arrays):
    """One after the other, in the byte order of the first."""
    return np.concatenate(arrays).astype(arrays[0].dtype)


seeds = st.integers(0, 2**32)
cparams = st.tuples(
    st.sampled_from(["blosclz", "lz4", "lz4hc", "zlib", "zstd"]), st.integers(0, 9), st.integers(0, 2)
)
lengths = st.integers(0, 40)
slices = st.slices(40).filter(lambda s: s.step is None or s.step > 0)


class Ours:
    """Changes by this package."""

    @staticmethod
    def create(path, items, chunklen, params):
        fill = fill_of(items.dtype)
        with ndfile.open(path, "w", "bcolz") as f:
            f.add("", items, chunks=chunklen, compression=params, fill_value=fill, attrs={"k": 1})

    @staticmethod
    def change(path, name, work):
        with ndfile.open(path, "r+") as f:
            work(f.array if f.kind == "array" else f[name])

    @classmethod
    def append(cls, path, items):
        cls.change(path, "", lambda v: v.append(items))

    @classmethod
    def resize(cls, path, n):
        cls.change(path, "", lambda v: v.resize(n))

    @classmethod
    def trim(cls, path, n):
        cls.change(path, "", lambda v: v.resize(len(v) - n))

    @classmethod
    def set(cls, path, name, key, items):
        cls.change(path, name, lambda v: v.__setitem__(key, items))

    @staticmethod
    def create_table(path, columns, chunklen, params):
        with ndfile.open(path, "w", "bcolz") as t:
            for name, items in columns.items():
                fill = fill_of(items.dtype)
                t.add(name, items, chunks=chunklen, compression=params, fill_value=fill)

    @staticmethod
    def append_table(path, columns):
        with ndfile.open(path, "r+") as t:
            t.append(columns)

    @staticmethod
    def resize_table(path, n):
        with ndfile.open(path, "r+") as t:
            t.resize(n)

    @staticmethod
    def trim_table(path, n):
        with ndfile.open(path, "r+") as t:
            t.trim(n)

    @staticmethod
    def add(path, name, items):
        with ndfile.open(path, "r+") as t:
            t.add(name, items, chunks=5, fill_value=fill_of(items.dtype))

    @staticmethod
    def delete(path, name):
        with ndfile.open(path, "r+") as t:
            del t[name]


class Theirs:
    """Changes by bcolz."""

    @staticmethod
    def cparams(params):
        return bcolz.cparams(cname=params[0], clevel=params[1], shuffle=params[2])

    @classmethod
    def options(cls, items, chunklen, params):
        how = {"chunklen": chunklen, "cparams": cls.cparams(params)}
        fill = fill_of(items.dtype)
        return how if fill is None else {**how, "dflt": fill}

    @classmethod
    def create(cls, path, items, chunklen, params):
        shutil.rmtree(path, ignore_errors=True)
        c = bcolz.carray(items, rootdir=path, mode="w", **cls.options(items, chunklen, params))
        c.attrs["k"] = 1
        c.flush()

    @staticmethod
    def append(path, items):
        c = bcolz.open(path, "a")
        c.append(items)
        c.flush()

    @staticmethod
    def resize(path, n):
        c = bcolz.open(path, "a")
        c.resize(n)
        c.flush()

    @staticmethod
    def trim(path, n):
        c = bcolz.open(path, "a")
        c.trim(n)
        c.flush()

    @staticmethod
    def set(path, name, key, items):
        c = bcolz.open(path, "a")
        c = c[name] if name else c
        c[key] = items
        c.flush()

    @classmethod
    def create_table(cls, path, columns, chunklen, params):
        shutil.rmtree(path, ignore_errors=True)
        # of arrays: of carrays in memory it copies what was never set
        how = {"chunklen": chunklen, "cparams": cls.cparams(params)}
        bcolz.ctable(list(columns.values()), names=list(columns), rootdir=path, mode="w", **how).flush()

    @staticmethod
    def append_table(path, columns):
        t = bcolz.open(path, "a")
        t.append([columns[name] for name in t.names])
        t.flush()

    @staticmethod
    def resize_table(path, n):
        t = bcolz.open(path, "a")
        t.resize(n)
        t.flush()

    @staticmethod
    def trim_table(path, n):
        t = bcolz.open(path, "a")
        t.trim(n)
        t.flush()

    @staticmethod
    def add(path, name, items):
        t = bcolz.open(path, "a")
        t.addcol(items, name, chunklen=5)
        t.flush()

    @staticmethod
    def delete(path, name):
        t = bcolz.open(path, "a")
        t.delcol(name)
        t.flush()


WRITERS = [Ours, Theirs]


def check(path, model):
    """Both read the model; nothing is wrong with the store."""
    theirs = bcolz.open(path, "r")
    if isinstance(model, dict):
        found = ndfile.read(path)
        assert list(found) == theirs.names == list(model)
        for name, want in model.items():
            same_bits(found[name], want)
            assert theirs[name][:].tobytes() == want.tobytes()
        rows = theirs[:]
        assert len(rows) == len(next(iter(model.values())))
    else:
        same_bits(ndfile.read(path), model)
        found = theirs[:]
        assert (found.dtype, found.shape) == (model.dtype, model.shape)
        assert found.tobytes() == model.tobytes()
        # parts are decoded block by block, which takes the right typesize in the chunk
        assert theirs[1:-1:3].tobytes() == model[1:-1:3].tobytes()
    del theirs
    assert [p for p in ndfile.verify(path) if p.error is not ndfile.ValueNotRepresentableError] == []


@st.composite
def plans(draw, dtypes=CREATED + FOUND):
    """A carray and what happens to it: who does it, what, with which numbers."""
    dtype = draw(st.sampled_from(dtypes))
    row = draw(st.sampled_from([(), (), (3,), (2, 2)]))
    kinds = st.sampled_from(["append", "append", "set", "trim", "resize"])
    step = st.tuples(st.sampled_from(WRITERS), kinds, lengths, slices, seeds)
    creator = draw(st.sampled_from(WRITERS if dtype in CREATED else [Ours]))
    steps = draw(st.lists(step, max_size=6))
    return creator, dtype, row, draw(st.integers(1, 17)), draw(cparams), draw(lengths), steps, draw(seeds)


@settings(max_examples=150)
@given(plans())
def test_carray(plan):
    creator, dtype, row, chunklen, params, n, steps, seed = plan
    model = random_items(dtype, (n, *row), seed)
    fill = fill_of(dtype)
    creator.create("x", model, chunklen, params)
    check("x", model)
    for writer, kind, n, key, seed in steps:
        if kind == "append":
            items = random_items(dtype, (n, *row), seed)
            writer.append("x", items)
            model = joined(model, items)
        elif kind == "set":
            items = random_items(dtype, model[key].shape, seed)
            if len(items):
                writer.set("x", "", key, items)
                model = model.copy()
                model[key] = items
        elif kind == "trim":
            writer.trim("x", n % (len(model) + 1))
            model = model[: len(model) - n % (len(model) + 1)]
        else:
            # bcolz cannot read back the fill value that it wrote for bytes without a meaning
            writer = Ours if np.dtype(dtype).kind == "V" and n > len(model) else writer
            writer.resize("x", n)
            model = grown(model, n, fill)
        check("x", model)
    assert ndfile.info("x")["attrs"] == dict(bcolz.open("x", "r").attrs) == {"k": 1}


TABLE_DTYPES = ["?", "<i4", ">f8", "u1", "S3", "<U2", "<M8[ns]"]


@st.composite
def table_plans(draw):
    column = st.tuples(st.sampled_from(TABLE_DTYPES), st.sampled_from([(), (), (2,)]))
    columns = draw(st.dictionaries(st.sampled_from("abcde"), column, min_size=1, max_size=4))
    kinds = st.sampled_from(["append", "append", "set", "trim", "resize", "add", "delete"])
    step = st.tuples(st.sampled_from(WRITERS), kinds, lengths, slices, column, seeds)
    steps = draw(st.lists(step, max_size=6))
    creator = draw(st.sampled_from(WRITERS))
    return creator, columns, draw(st.integers(1, 17)), draw(cparams), draw(lengths), steps, draw(seeds)


@settings(max_examples=60)
@given(table_plans())
def test_ctable(plan):
    creator, columns, chunklen, params, n, steps, seed = plan
    model = {name: random_items(d, (n, *row), seed + i) for i, (name, (d, row)) in enumerate(columns.items())}
    creator.create_table("t", model, chunklen, params)
    # bcolz takes one fill value for all columns
    fills = {name: fill_of(a.dtype) if creator is Ours else None for name, a in model.items()}
    check("t", model)
    for k, (writer, kind, n, key, (dtype, row), seed) in enumerate(steps):
        names = list(model)
        name = names[seed % len(names)]
        length = len(model[name])
        if kind == "append":
            items = {
                x: random_items(a.dtype, (n, *a.shape[1:]), seed + i)
                for i, (x, a) in enumerate(model.items())
            }
            writer.append_table("t", items)
            model = {x: joined(a, items[x]) for x, a in model.items()}
        elif kind == "set":
            items = random_items(model[name].dtype, model[name][key].shape, seed)
            if len(items):
                writer.set("t", name, key, items)
                model[name] = model[name].copy()
                model[name][key] = items
        elif kind == "trim":
            writer.trim_table("t", n % (length + 1))
            model = {x: a[: length - n % (length + 1)] for x, a in model.items()}
        elif kind == "resize":
            writer.resize_table("t", n)
            model = {x: grown(a, n, fills[x]) for x, a in model.items()}
        elif kind == "add":
            items = random_items(dtype, (length, *row), seed)
            writer.add("t", f"new{k}", items)
            model[f"new{k}"] = items
            fills[f"new{k}"] = fill_of(dtype) if writer is Ours else None
        elif len(names) > 1:
            writer.delete("t", name)
            del model[name]
            assert name not in os.listdir("t")
        check("t", model)


def test_chunk_lengths_as_bcolz_chooses_them():
    """By the rows that are expected."""
    for n, dtype in ((10, "i4"), (1000, "f8"), (100_000, "u1"), (1_000_000, "f8"), (50, "S300")):
        items = np.zeros(n, dtype)
        for expected in (None, 10 * n, 10**9):
            how = {} if expected is None else {"expectedlen": expected}
            shutil.rmtree("theirs", ignore_errors=True)
            theirs = bcolz.carray(items[:10], rootdir="theirs", mode="w", **how)
            with ndfile.open("ours", "w", "bcolz") as f:
                f.add("", items[:10], expected_rows=expected)
            assert ndfile.info("ours")["arrays"][""]["chunks"] == (theirs.chunklen,)


@pytest.mark.parametrize("name", ["__attrs__", "meta/sizes", "meta/storage"])
def test_metadata_as_bcolz_writes_them(name):
    for items, how in (
        (np.arange(25), {"dflt": 7}),
        (np.arange(25, dtype=">f4"), {}),
        (np.array([b"a", b"bcd"]), {}),
        (np.array(["é"]), {"dflt": "中"}),
        (np.zeros((4, 3), "M8[ns]"), {}),
        (np.zeros(0, "?"), {}),
    ):
        shutil.rmtree("theirs", ignore_errors=True)
        params = bcolz.cparams(clevel=3, shuffle=2, cname="zlib")
        bcolz.carray(items, rootdir="theirs", mode="w", chunklen=10, cparams=params, **how).flush()
        with ndfile.open("ours", "w", "bcolz") as f:
            f.add("", items, chunks=10, compression=("zlib", 3, 2), fill_value=how.get("dflt"))
        with open(f"theirs/{name}") as a, open(f"ours/{name}") as b:
            theirs, ours = a.read(), b.read()
        if name == "meta/sizes":  # the sum of the compressed bytes depends on the compressor
            theirs, ours = (text.split('"cbytes"')[0] for text in (theirs, ours))
        assert ours == theirs
