"""Frames and rows into tables and back, rows that are assigned, and conditions in words."""

import collections
import datetime
import random

import numpy as np
import pandas
import pyarrow
import pytest

import ndfile

N = 300
DATA = {
    "n": np.arange(N, dtype="i4") * 3,
    "x": np.linspace(0, 1, N, dtype="f4"),
    "name": [f"st{i % 7} ß" + "" * i for i in range(N)],
    "ok": np.arange(N) % 3 == 0,
    "t": (np.arange(N) * 3_600_000_001).astype("M8[us]"),
    "u": (np.arange(N) * 60_000_000_007).astype("M8[ns]"),
}
PANDAS = pandas.DataFrame(DATA)
ARROW = pyarrow.table({k: pyarrow.array(v) for k, v in DATA.items()})
BATCHES = [b.slice(i, 50) for b in ARROW.to_batches() for i in range(0, N, 50)]


@pytest.fixture
def bars(tmp_path):
    rng = np.random.default_rng(8)
    rows = np.zeros(500, [("k", "u2"), ("v", "f4"), ("tag", "S3")])
    rows["k"], rows["v"] = rng.integers(0, 20, 500), rng.random(500)
    rows["tag"] = rng.choice([b"up", b"no", b"max"], 500)
    path = str(tmp_path / "bars.bcolz")
    ndfile.save(path, {n: rows[n] for n in rows.dtype.names}, format="bcolz", chunks=64)
    with ndfile.open(path, "r+") as t:
        yield t, rows


INTERVALS = pandas.interval_range(0, 2)


@pytest.mark.parametrize(
    ("frame", "want"),
    [
        ({"c": pandas.Categorical(["b", "a", "b"])}, {"c": ["b", "a", "b"]}),
        ({"c": pandas.Categorical([7, 5])}, {"c": [7, 5]}),
        ({"c": pandas.Series([3, 1], dtype="Int16")}, {"c": np.array([3, 1], "i2")}),
        ({"c": pandas.Series([True, False], dtype="boolean")}, {"c": [True, False]}),
        ({"c": [datetime.date(2026, 11, 22), None]}, {"c": np.array(["2026-11-22", "NaT"], "M8[D]")}),
        (
            {"c": pandas.Series([datetime.datetime(2026, 11, 22, 1, 2, 3)], dtype=object)},
            {"c": np.array(["2026-11-22T01:02:03"], "M8[us]")},
        ),
        (
            {"c": pandas.DatetimeIndex(["2026-11-22", None], tz="UTC")},
            {"c": np.array(["2026-11-22", "NaT"], "M8[us]")},
        ),
        (pandas.DataFrame([[1, 2]], columns=[5, 7]), {"5": [1], "7": [2]}),
        (
            pandas.DataFrame([[1, 2]], columns=pandas.MultiIndex.from_tuples([("a", "x"), ("b", "")])),
            {"a_x": [1], "b": [2]},
        ),
        (
            pandas.DataFrame({"x": [0.5]}, index=pandas.MultiIndex.from_tuples([("a", 1)])),
            {"level_0": ["a"], "level_1": [1], "x": [0.5]},
        ),
        ({"c": pandas.Series([], dtype="str"), "d": pandas.Series([], dtype="i2")}, {"c": [], "d": []}),
    ],
)
def test_frames_of_pandas_own_kinds(tmp_path, frame, want):
    path = str(tmp_path / "t.bcolz")
    ndfile.save(path, pandas.DataFrame(frame))
    found = ndfile.read(path)
    assert list(found) == list(want)
    for name, values in want.items():
        np.testing.assert_array_equal(found[name], np.asarray(values, found[name].dtype), strict=True)
        if isinstance(values, np.ndarray):
            assert found[name].dtype == values.dtype


@pytest.mark.parametrize(
    ("frame", "error", "said"),
    [
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), ndfile.ArgumentError, "two columns of the name 'a'"),
        (pandas.DataFrame([[1, 2]], columns=[1, "1"]), ndfile.ArgumentError, "two columns of the name '1'"),
        (pandas.DataFrame([[1, 2]], columns=["", "x"]), ndfile.ArgumentError, "without a name"),
        (pandas.DataFrame([[1, 2]], columns=[None, "x"]), ndfile.ArgumentError, "without a name"),
        ({"c": [[1, 2], [3]]}, ndfile.DTypeError, "'c': objects of list"),
        ({"c": [1, "a"]}, ndfile.DTypeError, "'c': objects of int, str"),
        ({"c": pandas.Categorical(INTERVALS)}, ndfile.DTypeError, "'c': objects of Interval"),
        ({"c": pandas.Series([True, None], dtype="boolean")}, ndfile.MaskedError, "'c', row 1 is null"),
    ],
)
def test_frames_refused_by_kind(tmp_path, frame, error, said):
    with pytest.raises(error, match=said):
        ndfile.save(str(tmp_path / "t.bcolz"), pandas.DataFrame(frame))
    assert not list(tmp_path.iterdir())


def test_a_series_is_an_array(tmp_path):
    for i, value in enumerate((pandas.Series([1.5, 2], name="x"), pyarrow.chunked_array([[1.5], [2.0]]))):
        path = str(tmp_path / f"s{i}.bcolz")
        ndfile.save(path, value)
        np.testing.assert_array_equal(ndfile.read(path), [1.5, 2])


@pytest.mark.parametrize(
    "make",
    [
        lambda: PANDAS,
        lambda: PANDAS.astype({"name": object}),
        lambda: PANDAS.astype({"name": "category", "n": "Int32"}),
        lambda: ARROW,
        lambda: pyarrow.Table.from_batches(BATCHES),
        lambda: pyarrow.RecordBatchReader.from_batches(ARROW.schema, BATCHES),
        lambda: ARROW.set_column(2, "name", ARROW["name"].dictionary_encode()),
        lambda: ARROW.set_column(2, "name", ARROW["name"].cast(pyarrow.string_view())),
        lambda: [dict(zip(DATA, row)) for row in zip(*DATA.values())],
        lambda: list(map(collections.namedtuple("Row", DATA)._make, zip(*DATA.values()))),
    ],
)
def test_frames(tmp_path, make):
    path = str(tmp_path / "f.bcolz")
    ndfile.save(path, make())
    with ndfile.open(path, "r+") as t:
        assert (t.kind, len(t), t.columns) == ("table", N, tuple(DATA))
        assert t["name"].dtype == "U5"
        t.append(make())
    twice = pandas.concat([PANDAS] * 2, ignore_index=True)
    with ndfile.open(path) as t:
        assert len(t) == 2 * N
        found = t.to_pandas()
        pandas.testing.assert_frame_equal(found, twice, check_dtype=not isinstance(make(), list))
        assert pyarrow.table(t)["name"].to_pylist() == DATA["name"] * 2
        assert t.to_arrow(["n", "ok"]).column_names == ["n", "ok"]
        assert pyarrow.chunked_array(t["x"]).to_numpy().tolist() == t["x"].tolist()
        with pytest.raises(TypeError, match="to_pandas"):
            pandas.DataFrame(t)
        with pytest.raises(TypeError, match="to_pandas"):
            np.asarray(t)


def test_frames_in_other_formats(tmp_path):
    path = str(tmp_path / "f.ds")
    ndfile.save(path, PANDAS[["n", "x", "name"]])
    found = ndfile.read(path)
    assert found["name"].tolist() == DATA["name"]
    assert found["n"].dtype == "i4"


def test_new_tables_take_their_columns_from_the_first_rows(tmp_path):
    path = str(tmp_path / "a.bcolz")
    for _ in range(2):
        with ndfile.open(path, "a") as t:
            t.append(PANDAS[["n", "name"]], widths=8)
    with ndfile.open(path, "a") as t:
        t.append({"n": [1], "name": ["12345678"]})
        assert t["name"].dtype == "U8"
        with pytest.raises(ValueError, match=r"name.*123456789"):
            t.append({"n": [1], "name": ["123456789"]})
        assert len(t) == 2 * N + 1
        assert t.dtypes == {"n": np.dtype("i4"), "name": np.dtype("U8")}
        assert t.head(2)["n"].tolist() == [0, 3]


@pytest.mark.parametrize(
    ("column", "value", "fits"),
    [
        ("M8[ns]", np.datetime64("2001-02-03T04:05:06.7", "us"), True),
        ("M8[s]", np.datetime64("2001-02-03T04:05:06", "us"), True),
        ("M8[s]", np.datetime64("2001-02-03T04:05:06.7", "us"), False),
        ("M8[ns]", np.datetime64("3000-01-01", "us"), False),
        ("M8[D]", np.datetime64("NaT", "ns"), True),
        ("i2", np.int64(300), True),
        ("i2", np.int64(40000), False),
        ("u8", np.int8(-1), False),
        ("i8", np.uint64(2**63), False),
        ("i8", np.float64(2**63), False),
        ("i4", np.float64(7), True),
        ("i4", np.float64(7.5), False),
        ("f4", np.float64(0.5), True),
        ("f4", np.float64(0.1), False),
        ("f4", np.float64("nan"), True),
        ("f8", np.int64(2**53 + 1), False),
        ("f8", np.int64(2**63 - 1), False),
        ("S2", np.str_("é"), False),
        ("S2", np.str_("ab"), True),
        ("U2", np.str_("abc"), False),
        ("U4", np.str_("é"), True),
    ],
)
def test_values_that_fit_are_converted(tmp_path, column, value, fits):
    path = str(tmp_path / "c.bcolz")
    ndfile.save(path, {"c": np.zeros(1, "i8").astype(column)})
    given = np.array([value, value])
    with ndfile.open(path, "r+") as t:
        for give in (
            lambda: t.append(pandas.DataFrame({"c": given})),
            lambda: t["c"].__setitem__(slice(1), given[:1]),
        ):
            if fits:
                give()
            else:
                with pytest.raises(ndfile.ValueNotRepresentableError, match=r'"c".*(row 0|element \(0,\))'):
                    give()
    found = ndfile.read(path)["c"]
    if fits:
        assert np.array_equal(found, np.full(3, value.astype(column)), equal_nan=column[0] in "fM")
    else:
        assert len(found) == 1


def test_nulls(tmp_path):
    frame = pyarrow.table(
        {
            "n": pyarrow.array([1, None, 3], "i4"),
            "s": ["a", None, "ccc"],
            "t": pyarrow.array([1, None, 2], "timestamp[s]"),
        }
    )
    for source in (frame, frame.to_pandas(types_mapper={pyarrow.int32(): pandas.Int32Dtype()}.get)):
        with pytest.raises(ndfile.MaskedError, match="'n', row 1 is null"):
            ndfile.save(str(tmp_path / "x.bcolz"), source)
        ndfile.save(str(tmp_path / "x.bcolz"), source, nulls={"n": -1, "s": ""})
        found = ndfile.read(str(tmp_path / "x.bcolz"))
        assert found["n"].tolist() == [1, -1, 3]
        assert found["s"].tolist() == ["a", "", "ccc"]
        assert np.isnat(found["t"]).tolist() == [False, True, False]
    ndfile.save(str(tmp_path / "x.ds"), frame.select(["n", "s"]), nulls="mask")
    found = ndfile.read(str(tmp_path / "x.ds"))
    assert found["n"].mask.tolist() == found["s"].mask.tolist() == [False, True, False]


def test_frames_that_cannot_be_stored(tmp_path):
    path = str(tmp_path / "x.bcolz")
    for table, said in (
        (pyarrow.table({"c": [[1, 2], [3]]}), "'c'.*lists"),
        (pyarrow.table({"c": pyarrow.array([None, None])}), "'c'.*nulls"),
        (pandas.DataFrame({"c": [1, "a"]}), "'c'.*objects"),
    ):
        with pytest.raises(TypeError, match=said):
            ndfile.save(path, table)
    with pytest.raises(ndfile.NdfileError, match="row 1 has other columns"):
        ndfile.save(path, [{"a": 1}, {"b": 2}])
    indexed = PANDAS.head(3).set_index("name")
    ndfile.save(path, indexed)  # an index with a name is a column
    assert ndfile.open(path).columns[0] == "name"


def put(target, key, value):
    target[key] = value


@pytest.mark.parametrize(
    ("column", "key", "value"),
    [
        ("v", [4, 480, -3], [0.5, 0.25, 0.125]),
        ("v", [3, 3, 3], [1, 2, 3]),
        ("k", "mask", 9),
        ("tag", np.arange(0, 500, 77), b"q"),
        (None, 7, (3, 0.5, b"one")),
        (None, slice(60, 70), "rows"),
        (None, slice(500, 1, -100), "five"),
        (None, "mask", "masked"),
        (None, [1, 400], [(1, 0.5, b"a"), (2, 0.25, b"b")]),
        (["k", "v"], slice(None), 0),
    ],
)
def test_assignment(bars, column, key, value):
    t, rows = bars
    want, mask = rows.copy(), rows["v"] > 0.7
    key = mask if isinstance(key, str) else key
    value = (
        {"rows": rows[:10], "five": rows[:5], "masked": rows[: mask.sum()]}.get(value, value)
        if isinstance(value, str)
        else value
    )
    if isinstance(column, str):
        t[column][key] = value
        want[column][key] = value
    elif column:
        t[column] = value
        for name in column:
            want[name] = value
    else:
        t[key] = value
        want[key] = value
    assert np.array_equal(t[...], want)


def test_assignment_refused(bars):
    t, rows = bars
    for key, value in (
        (5, (1, 2)),
        (slice(3), rows[:2]),
        (5, {"nope": 1}),
        (5, (70_000, 1, b"a")),
        ([500], rows[:1]),
    ):
        with pytest.raises((ValueError, KeyError, IndexError)):
            t[key] = value
    with pytest.raises(KeyError, match="did you mean 'tag'"):
        t["tga"]


def test_columns(bars):
    t, rows = bars
    t.rename("v", "value")
    t.insert(0, "first", np.arange(500))
    assert t.columns == ("first", "k", "value", "tag")
    t.drop("k")
    t.close()
    with ndfile.open(t.path) as again:
        assert again.columns == tuple(again) == ("first", "value", "tag")
        assert again["value"][:].tolist() == rows["v"].tolist()
        assert [r["first"] for r in again.iter(10, 100, 30, limit=2, skip=1)] == [40, 70]
    assert not ndfile.verify(t.path)


def test_conditions_in_words(bars):
    t, rows = bars
    rng = random.Random(4)
    names = {name: rows[name] for name in rows.dtype.names}
    terms = [
        "(k > 3)",
        "(v < 0.5)",
        "(tag == b'no')",
        "(k == 11)",
        "(k * 2 - 5 >= 9)",
        "(v / 2 + k > 4)",
        "(k % 3 == 1)",
    ]

    def words(depth):
        if depth == 0:
            return rng.choice(terms)
        kind = rng.choice("&|~")
        return f"~{words(depth - 1)}" if kind == "~" else f"({words(depth - 1)} {kind} {words(depth - 1)})"

    for _ in range(60):
        text = words(rng.randrange(4))
        wide = {**names, "k": names["k"].astype("i8"), "v": names["v"].astype("f8")}
        want = eval(text, {"__builtins__": {}}, wide)
        assert np.array_equal(t.where_rows(text), np.flatnonzero(want)), text
        assert np.array_equal(t.where(text, ["v"], skip=2, limit=5)["v"], rows["v"][want][2:7]), text
    assert np.array_equal(t.where("tag in ('up', 'max')"), rows[np.isin(rows["tag"], [b"up", b"max"])])
    with pytest.raises(ValueError, match="character 4"):
        t.where("k >")


@pytest.mark.parametrize("kind", [pandas.DataFrame, pyarrow.Table.from_pandas])
def test_times_of_another_zone_are_refused(tmp_path, kind):
    """They would come back in UTC."""
    frame = kind(pandas.DataFrame({"c": pandas.DatetimeIndex(["2026-11-22"], tz="Europe/Prague")}))
    with pytest.raises(ndfile.DTypeError, match=r"'c'.*Europe/Prague; convert them to UTC"):
        ndfile.save(tmp_path / "t.bcolz", frame)
    assert not (tmp_path / "t.bcolz").exists()
