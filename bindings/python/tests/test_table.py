"""Tables: columns, rows, queries, growing, and what pandas and Arrow see."""

import datetime
import gc
import operator
import os
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pandas
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import ROOT, same

import ndfile

N = 250
RNG = np.random.default_rng(5)
COLUMNS = {
    "sym": RNG.choice(np.array([b"A", b"BB", b"CCC"]), N),
    "price": np.round(RNG.random(N) * 40, 1),
    "size": RNG.integers(-20, 20, N, "i4"),
    "big": RNG.integers(2**63, 2**64, N, "u8"),
    "flag": RNG.random(N) < 0.5,
    "name": RNG.choice(np.array(["é", "中文", ""]), N),
    "day": np.datetime64("2020-01-01", "ns") + RNG.integers(0, 9, N).astype("m8[D]"),
    "took": RNG.integers(0, 9, N).astype("m8[s]"),
    "ratio": np.where(RNG.random(N) < 0.2, np.nan, RNG.random(N)).astype(">f4"),
    "grid": RNG.random((N, 2, 3)),
}
NATIVE = {name: a.astype(a.dtype.newbyteorder("=")) for name, a in COLUMNS.items()}
FLAT = {name: a for name, a in COLUMNS.items() if a.ndim == 1}


def rows_of(columns):
    """The columns as a structured array."""
    n = len(next(iter(columns.values())))
    rows = np.empty(n, [(name, a.dtype, a.shape[1:]) for name, a in columns.items()])
    for name, a in columns.items():
        rows[name] = a
    return rows


ROWS = rows_of(NATIVE)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.bcolz"
    ndfile.save(path, COLUMNS, chunks=32, attrs={"made": "here"}, var_attrs={"price": {"unit": "EUR"}})
    with ndfile.open(path) as t:
        yield t


@pytest.fixture
def small():
    """A table of two columns, open for changes."""
    ndfile.save("s.bcolz", {"a": [1, 2, 3], "m": np.zeros((3, 2))})
    with ndfile.open("s.bcolz", "r+") as t:
        yield t


# Columns and rows


def test_mapping(table):
    assert isinstance(table, ndfile.Table)
    assert isinstance(table, ndfile.File)
    assert (table.kind, table.nrows, len(table)) == ("table", N, N)
    assert list(table) == list(table.columns) == list(COLUMNS)
    assert table["price"] is table["price"]
    assert table.get("nothing") is None
    with pytest.raises(KeyError, match="nothing"):
        table["nothing"]
    for name, want in NATIVE.items():
        same(table[name][...], want)
    assert dict(table.attrs) == {"made": "here"}
    assert dict(table["price"].attrs) == {"unit": "EUR"}
    info = ndfile.info(table.path)
    assert (info["kind"], info["nrows"], list(info["arrays"])) == ("table", N, list(COLUMNS))
    assert repr(table).startswith("<ndfile.Table ")
    assert "price" in table._repr_html_()
    read = ndfile.read(table.path)
    assert list(read) == list(COLUMNS)
    for name, want in NATIVE.items():
        same(read[name], want)


@given(
    key=st.one_of(
        st.integers(-N, N - 1),
        st.slices(N),
        st.just(...),
        st.lists(st.integers(-N, N - 1), max_size=20),
        st.lists(st.integers(-N, N - 1), max_size=20).map(lambda i: np.array(i, int)),
    )
)
def test_rows(table, key):
    found, want = table[key], ROWS[np.array(key, int) if isinstance(key, list) else key]
    assert type(found) is type(want)
    assert found.dtype == want.dtype
    assert found.tobytes() == want.tobytes()


def test_some_columns(table):
    names = ["size", "grid", "sym"]
    assert table[names].dtype.names == tuple(names)
    assert table[names].tobytes() == rows_of({name: NATIVE[name] for name in names}).tobytes()
    assert table.read(slice(3, 5), ["size"])["size"].tolist() == COLUMNS["size"][3:5].tolist()
    mask = COLUMNS["flag"]
    assert table[mask].tobytes() == ROWS[mask].tobytes()
    assert table.read(7, ["size", "flag"]).tolist() == (COLUMNS["size"][7], COLUMNS["flag"][7])
    assert table.read(columns=[]).shape == (N,)
    with pytest.raises(KeyError):
        table[["size", "nothing"]]


@pytest.mark.parametrize("key", [N, -N - 1, [N], np.zeros(3, bool), 1.5, None, (1, 2), ["size", 1]])
def test_rows_out_of_bounds(table, key):
    with pytest.raises(IndexError, match=r"t\.bcolz"):
        table[key]


def test_iterblocks(table):
    for n, columns in ((None, None), (100, ["sym", "grid"]), (N, None)):
        blocks = list(table.iterblocks(n, columns))
        assert all(len(b) == n for b in blocks[:-1])
        assert np.concatenate(blocks).tobytes() == table.read(columns=columns).tobytes()


def test_pickle_and_fork(table):
    copy = pickle.loads(pickle.dumps(table))
    assert isinstance(copy, ndfile.Table)
    assert copy.nrows == N
    assert copy[3] == table[3]
    copy.close()


def test_no_columns():
    with ndfile.open("x.bcolz", "w"):
        pass
    with ndfile.open("x.bcolz", "r+") as t:
        assert (t.kind, t.nrows, t.columns, t[...].shape) == ("table", 0, (), (0,))
        t["a"] = [1, 2]
        assert t.nrows == 2
    assert ndfile.read("x.bcolz")["a"].tolist() == [1, 2]


def test_kind_follows_the_first_array():
    for name, kind in (("", "array"), ("a", "table")):
        with ndfile.open("x.bcolz", "w") as f:
            f[name] = [1, 2]
            assert f.kind == kind
            if kind == "array":
                f.array.append([3])
                with pytest.raises(ndfile.NdfileError):
                    f["a"] = [1, 2]
                for use in (
                    lambda f=f: f.nrows,
                    lambda f=f: f[0],
                    lambda f=f: f.where([]),
                    lambda f=f: f.trim(1),
                ):
                    with pytest.raises(ndfile.ArgumentError, match="not a table"):
                        use()
        with ndfile.open("x.bcolz") as f:
            assert f.kind == kind


# Queries

OPS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
CONSTANTS = {
    "sym": st.sampled_from([b"A", b"BB", b"B", b"", b"CCCC"]),
    "price": st.one_of(st.integers(-1, 41), st.sampled_from(list(map(float, COLUMNS["price"])))),
    "size": st.one_of(st.integers(-25, 25), st.floats(-25, 25)),
    "big": st.one_of(st.integers(0, 2**65), st.sampled_from([int(x) for x in COLUMNS["big"]])),
    "flag": st.booleans(),
    "name": st.sampled_from(["é", "中文", "", "f", "中"]),
    "day": st.integers(-1, 10).map(lambda d: np.datetime64("2020-01-01") + np.timedelta64(d, "D")),
    "took": st.integers(-1, 10).map(lambda s: np.timedelta64(s, "s")),
    "ratio": st.floats(width=32),
}
TERMS = st.lists(
    st.sampled_from(sorted(CONSTANTS)).flatmap(
        lambda name: st.tuples(st.just(name), st.sampled_from(sorted(OPS)), CONSTANTS[name])
    ),
    max_size=3,
)


def matches(terms, start=0, stop=None):
    """Rows by NumPy."""
    mask = np.zeros(N, bool)
    mask[start:stop] = True
    for name, op, value in terms:
        column = NATIVE[name]
        if column.dtype.kind in "iu":  # exactly, by Python's integers
            column = column.astype(object)
        mask &= OPS[op](column, value).astype(bool)
    return np.flatnonzero(mask)


@given(
    terms=TERMS,
    start=st.integers(-N - 5, N + 5),
    stop=st.one_of(st.none(), st.integers(-N - 5, N + 5)),
    skip=st.integers(0, 30),
    limit=st.one_of(st.none(), st.integers(0, 60)),
)
def test_where_like_numpy(table, terms, start, stop, skip, limit):
    want = matches(terms, start, stop)[skip:][:limit]
    rows = table.where_rows(terms, start=start, stop=stop, skip=skip, limit=limit)
    assert rows.dtype == np.int64
    assert rows.tolist() == want.tolist()
    found = table.where(terms, ["size", "grid"], start=start, stop=stop, skip=skip, limit=limit)
    assert found.tobytes() == rows_of({k: NATIVE[k][want] for k in ("size", "grid")}).tobytes()


def test_where_in_several_calls(table, monkeypatch):
    """More rows than one call gives."""
    monkeypatch.setattr(ndfile._query, "_ROOM", 7)
    terms = [("size", ">", 0)]
    want = matches(terms)
    assert table.where_rows(terms).tolist() == want.tolist()
    assert table.where_rows(terms, skip=10, limit=20).tolist() == want[10:30].tolist()
    assert table.where(terms).tobytes() == ROWS[want].tobytes()


@pytest.mark.parametrize(
    ("term", "want"),
    [
        (("sym", "==", "BB"), COLUMNS["sym"] == b"BB"),
        (("sym", "==", np.bytes_(b"BB")), COLUMNS["sym"] == b"BB"),
        (("price", ">", np.float32(7.5)), COLUMNS["price"] > 7.5),
        (("size", "<", np.int8(3)), COLUMNS["size"] < 3),
        (("size", "==", True), COLUMNS["size"] == 1),
        (("day", "<", "2020-01-04"), NATIVE["day"] < np.datetime64("2020-01-04")),
        (("day", "<", datetime.date(2020, 1, 4)), NATIVE["day"] < np.datetime64("2020-01-04")),
        (("day", "==", datetime.datetime(2020, 1, 4)), NATIVE["day"] == np.datetime64("2020-01-04")),
        (("day", "==", pandas.Timestamp("2020-01-04")), NATIVE["day"] == np.datetime64("2020-01-04")),
        (
            (
                "day",
                "==",
                datetime.datetime(2020, 1, 4, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
            ),
            NATIVE["day"] == np.datetime64("2020-01-04"),
        ),
        (("day", "!=", np.datetime64("NaT")), np.ones(N, bool)),
        (("took", "<", datetime.timedelta(seconds=3)), NATIVE["took"] < np.timedelta64(3, "s")),
        (("took", "<", np.timedelta64(2500, "ms")), NATIVE["took"] < np.timedelta64(2500, "ms")),
        (("took", "==", np.timedelta64(2500, "ms")), np.zeros(N, bool)),
        (("took", ">=", 3), NATIVE["took"] >= np.timedelta64(3, "s")),
        (("took", "==", np.timedelta64("NaT")), np.zeros(N, bool)),
        (("ratio", "!=", float("nan")), np.ones(N, bool)),
    ],
)
def test_constants(table, term, want):
    assert table.where_rows([term]).tolist() == np.flatnonzero(want).tolist()


@pytest.mark.parametrize(
    ("terms", "error"),
    [
        ([("nothing", "==", 1)], KeyError),
        ([("size", "=", 1)], ValueError),
        ([("size", "==")], ValueError),
        ("size", ValueError),
        ([("size", "==", "A")], ValueError),
        ([("sym", "==", 1)], ValueError),
        ([("day", "==", "yesterday")], ValueError),
        ([("took", "==", np.timedelta64(1, "M"))], ValueError),
        ([("size", "==", np.timedelta64(1, "s"))], ValueError),
        ([("size", "==", 1j)], TypeError),
        ([("size", "==", None)], ValueError),
        ([("grid", "==", 1)], NotImplementedError),
    ],
)
def test_where_refused(table, terms, error):
    with pytest.raises(error):
        table.where(terms)


def test_where_limits(table):
    with pytest.raises(ValueError, match="limit"):
        table.where([], limit=-1)
    with pytest.raises(ValueError, match="skip"):
        table.where([], skip=-1)
    assert table.where([], limit=0).shape == (0,)


# Changes


def test_append(small):
    v = small["a"]
    small.append({"m": [[1, 2]], "a": [4]})
    small.append({"a": 5, "m": [3, 4]})
    rows = np.zeros(2, [("m", "f4", 2), ("a", "i2")])
    rows["a"] = 6, 7
    small.append(rows)
    small.append(rows[0])
    small.append({"a": [8], "m": [[5, 6]]})
    small.append(small)
    assert small.nrows == len(v) == len(small["m"]) == 18
    assert v[...].tolist() == [1, 2, 3, 4, 5, 6, 7, 6, 8] * 2
    small.flush()
    same(ndfile.read("s.bcolz", "a"), v[...])
    assert ndfile.read("s.bcolz", "m")[3:5].tolist() == [[1, 2], [3, 4]]


def test_append_frame():
    frame = pandas.DataFrame(
        {"n": [1, 2], "s": ["ab", "c"], "t": pandas.to_datetime(["2020-01-01", "2021-01-01"])}
    )
    with ndfile.open("x.bcolz", "w") as t:
        t.create("n", 0, "i8")
        t.create("s", 0, "U4")
        t.create("t", 0, "M8[ns]")
        t.append(frame.astype({"t": "datetime64[ns]"}))
        with pytest.raises(ValueError, match="s"):
            t.append(frame.assign(s="too long"))
    with ndfile.open("x.bcolz") as t:
        assert t.nrows == 2
        assert t["s"][...].tolist() == ["ab", "c"]
        pandas.testing.assert_frame_equal(t.to_pandas(), frame, check_dtype=False)


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ({"a": [1]}, KeyError),
        ({"a": [1], "m": [[1, 2]], "b": [1]}, KeyError),
        ({"a": [1, 2], "m": [[1, 2]]}, ValueError),
        ({"a": [1], "m": [[1, 2, 3]]}, ValueError),
        ({"a": [1.5], "m": [[1, 2]]}, ValueError),
        ({"a": np.array([1.5]), "m": [[1, 2]]}, ValueError),
        ({"a": np.array(["x"]), "m": [[1, 2]]}, TypeError),
        ({"a": ["x"], "m": [[1, 2]]}, ValueError),
        ({"a": np.ma.masked_equal([1], 1), "m": [[1, 2]]}, ValueError),
        ([1, 2], ValueError),
        (np.zeros(3), ValueError),
    ],
)
def test_append_refused(small, rows, error):
    with pytest.raises(error):
        small.append(rows)
    assert small.nrows == 3
    assert {len(v) for v in small.values()} == {3}


def test_resize_and_trim(small):
    v = small["m"]
    small.resize(5)
    assert (small.nrows, v.shape, small["a"][...].tolist()) == (5, (5, 2), [1, 2, 3, 0, 0])
    small.trim(4)
    assert (small.nrows, v.shape, small["a"][...].tolist()) == (1, (1, 2), [1])
    for n in (2, -1):
        with pytest.raises(IndexError):
            small.trim(n)
    with pytest.raises(ndfile.ArgumentError):
        small.resize(-1)
    small.trim(0)
    small.resize(0)
    assert (small.nrows, small[...].shape) == (0, (0,))


def test_columns_grow_together(small):
    for change in (lambda: small["a"].append([1]), lambda: small["a"].resize(2)):
        with pytest.raises(ndfile.NotSupportedError):
            change()
    small["a"][1:] = [8, 9]
    assert ndfile.read("s.bcolz", "a").tolist() == [1, 8, 9]


def test_add_and_delete(small):
    small["new"] = np.array([b"x", b"y", b"z"])
    small.create("filled", (3,), "f4", fill_value=1.5)
    assert small.columns == ("a", "m", "new", "filled")
    for data in ([1, 2], 5, [1, 2, 3, 4]):
        with pytest.raises(ndfile.ShapeError):
            small["wrong"] = data
    old = small["a"]
    del small["a"]
    with pytest.raises(KeyError):
        small["a"]
    with pytest.raises(KeyError):
        del small["a"]
    with pytest.raises(ndfile.NdfileError):
        old[...]
    small.append({"m": [[1, 1]], "new": ["w"], "filled": [2]})
    small.close()
    with ndfile.open("s.bcolz") as t:
        assert t.columns == ("m", "new", "filled")
        assert t["new"][...].tolist() == [b"x", b"y", b"z", b"w"]
        assert t["filled"][...].tolist() == [1.5, 1.5, 1.5, 2]
        assert not os.path.exists("s.bcolz/a")


def test_names():
    """A name is one element of a path."""
    with ndfile.open("x.bcolz", "w") as t:
        for name in ("../evil", "a/b", ".", "..", "a\\b", "__rootdirs__", "__attrs__"):
            with pytest.raises(ndfile.NdfileError):
                t[name] = [1]
        t["été"] = [1]
    assert sorted(os.listdir()) == ["x.bcolz"]
    assert ndfile.read("x.bcolz", "été").tolist() == [1]


def test_a_column_is_an_array_too(table):
    path = os.path.join(table.path, "grid")
    with ndfile.open(path) as f:
        assert f.kind == "array"
        same(f.array[...], NATIVE["grid"])


# pandas and Arrow


def test_pandas(table):
    frame = table.to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    for name in ("price", "size", "big", "flag", "name", "day", "took", "ratio"):
        assert frame[name].tolist() == pandas.Series(NATIVE[name]).tolist() or name == "ratio"
    assert np.array_equal(frame["ratio"], NATIVE["ratio"], equal_nan=True)
    assert frame["sym"].tolist() == COLUMNS["sym"].tolist()
    assert np.array_equal(np.stack(frame["grid"]), COLUMNS["grid"])
    assert list(table.to_pandas(["size", "sym"])) == ["size", "sym"]


def test_without_pandas(table):
    code = f"""
        import sys
        sys.modules["pandas"] = None
        import ndfile
        with ndfile.open({table.path!r}) as t:
            try:
                t.to_pandas()
            except ImportError as e:
                assert "pandas" in str(e)
            else:
                raise AssertionError
    """
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"))
    subprocess.run([sys.executable, "-c", "if 1:" + code], env=env, check=True)


def test_arrow(table):
    found = pyarrow.table(table)
    assert found.column_names == list(COLUMNS)
    assert found.num_rows == N
    types = {name: str(found.schema.field(name).type) for name in COLUMNS}
    assert types == {
        "sym": "binary",
        "price": "double",
        "size": "int32",
        "big": "uint64",
        "flag": "bool",
        "name": "string",
        "day": "timestamp[ns]",
        "took": "duration[s]",
        "ratio": "float",
        "grid": types["grid"],
    }
    assert "fixed_size_list" in types["grid"]
    for name in ("sym", "price", "size", "big", "flag", "name"):
        assert found[name].to_pylist() == NATIVE[name].tolist()
    for name in ("day", "took", "ratio"):
        assert np.array_equal(found[name].to_numpy(), NATIVE[name], equal_nan=name == "ratio")
    assert found["grid"].to_pylist() == COLUMNS["grid"].tolist()


def test_arrow_nat():
    days = np.array(["2020-01-01", "NaT"], "M8[D]")
    ndfile.save("x.bcolz", {"d": days, "s": days.astype("M8[s]")})
    with ndfile.open("x.bcolz") as t:
        found = pyarrow.table(t)
    assert found["d"].to_pylist() == [datetime.date(2020, 1, 1), None]
    assert found["s"].to_pylist() == [datetime.datetime(2020, 1, 1), None]


def test_arrow_outlives_its_table():
    ndfile.save("x.bcolz", {"a": np.arange(100000)}, chunks=1000)
    t = ndfile.open("x.bcolz")
    reader = pyarrow.RecordBatchReader.from_stream(t)
    t.close()
    del t
    gc.collect()
    assert reader.read_all()["a"].to_numpy().sum() == sum(range(100000))


def test_arrow_not_consumed():
    """A capsule that nobody takes gives back what it holds; one that is taken in part too."""
    ndfile.save("x.bcolz", {"a": np.arange(100000)})
    with ndfile.open("x.bcolz") as t:
        capsule = t.__arrow_c_stream__()
        assert "arrow_array_stream" in repr(capsule)
        batch = pyarrow.RecordBatchReader.from_stream(t).read_next_batch()
        assert batch.num_rows > 0
        assert len(ndfile._arrow._kept) >= 1
        del batch, capsule
    assert not ndfile._arrow._kept
    watched = weakref.ref(t)
    del t
    gc.collect()
    assert watched() is None
    assert not [fd for fd in os.listdir("/proc/self/fd") if "x.bcolz" in _link(fd)]


def test_arrow_while_an_exception_passes():
    """What goes wrong while a stream is read is told, and not lost when its capsule goes."""
    ndfile.save("x.bcolz", {"a": np.arange(100000)}, chunks=1000)

    def streams():
        yield t.__arrow_c_stream__()
        raise ZeroDivisionError

    with ndfile.open("x.bcolz") as t:
        with pytest.raises(ZeroDivisionError):
            list(streams())
        Path("x.bcolz/a/data/__3.blp").write_bytes(b"broken")
        with pytest.raises(OSError, match=r"__3\.blp"):
            pyarrow.table(t)
    assert not ndfile._arrow._kept


def _link(fd):
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""


def test_arrow_refused():
    ndfile.save("x.bcolz", {"c": np.zeros(3, "c16")})
    with ndfile.open("x.bcolz") as t, pytest.raises(TypeError, match="c"):
        pyarrow.table(t)


def test_arrow_at_exit():
    """A capsule that lives until the interpreter ends does no harm."""
    ndfile.save("x.bcolz", {"a": np.arange(100000)})
    code = 'import ndfile, builtins; builtins.kept = ndfile.open("x.bcolz").__arrow_c_stream__()'
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"))
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
