"""Tables as datasets of Arrow: what is pushed down, and what pyarrow, duckdb and polars find."""

import datetime
import doctest
import pickle

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import ndfile
import ndfile.arrow
from ndfile.arrow import conditions

N = 300_000  # more than two blocks
f = pc.field


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    r = np.random.default_rng(1)
    data = {
        "id": np.arange(N, dtype="i4") // 100,
        "x": np.where(np.arange(N) % 7, r.normal(size=N), np.nan),
        "s": np.array(["a", "bb", 'c"c'])[r.integers(0, 3, N)],
        "ok": np.arange(N) % 2 == 0,
        "t": np.arange(N).astype("M8[s]"),
        "y": np.arange(N),
        "pair": np.arange(2 * N).reshape(N, 2),
        "raw": np.array([b"k", b"lm"])[r.integers(0, 2, N)],
    }
    path = tmp_path_factory.mktemp("tables") / "t.bcolz"
    ndfile.save(path, data)
    return path


@pytest.fixture(scope="module")
def whole(path):
    with ndfile.open(path) as t:
        return pa.table(t)


DOWN = [
    f("id") == 5,
    (f("id") >= 1999) & (f("id") < 2001),
    (f("x") > 3.5) & (f("s") == "bb"),
    (f("x") <= -3) & f("id").is_valid(),
    (f("ok") == True) & (f("y") > N - 10),  # noqa: E712  of Arrow
    f("y") == pa.scalar(12, pa.int64()),
    f("id") == pa.scalar(7, pa.int32()),
    (f("id") > -1) & ((f("id") < 2) & (f("s") == "a")),
]
NOT = [
    (f("id") == 5) | (f("id") == 6),
    f("id").isin([5, 7]),
    f("t") < pa.scalar(datetime.datetime(1970, 1, 1, 0, 1), pa.timestamp("s")),
    f("id") != 3,
    ~(f("id") > 3),
    f("s") == 'c"c',
    f("x").is_nan(),
    f("id") + 1 == 5,
    f("id") == f("y"),
]


@pytest.mark.parametrize("columns", [["y"], None, ["id", "pair", "raw"]])
@pytest.mark.parametrize("filter", [*DOWN, *NOT], ids=str)
def test_same_as_arrow(path, whole, filter, columns):
    wanted = whole.filter(filter)
    found = ndfile.arrow.dataset(path).to_table(columns=columns, filter=filter)
    if columns is None:  # NaN is not NaN to Arrow
        np.testing.assert_array_equal(found["x"].to_numpy(), wanted["x"].to_numpy())
        found, wanted = found.drop_columns(["x"]), wanted.drop_columns(["x"])
    assert found.equals(wanted if columns is None else wanted.select(columns))


def test_what_is_pushed_down(whole):
    assert all(conditions(e, whole.schema) for e in DOWN)
    assert [str(e) for e in NOT if conditions(e, whole.schema)] in ([], [str(f("s") == 'c"c')])
    assert conditions(DOWN[2], whole.schema) == [("x", ">", 3.5), ("s", "==", "bb")]


def test_engines(path, whole, monkeypatch):
    trades, down = ndfile.arrow.dataset(path), []
    monkeypatch.setattr(ndfile.arrow, "conditions", lambda e, s: down.append(conditions(e, s)) or down[-1])
    query = "select s, count(*) from trades where id = 77 group by s order by s"
    part = whole.filter(f("id") == 77)
    row = [(s, pc.sum(pc.equal(part["s"], s)).as_py()) for s in ("a", "bb", 'c"c')]
    assert duckdb.sql(query).fetchall() == row
    assert duckdb.sql("select count(*) from trades").fetchall() == [(N,)]
    lazy = pl.scan_pyarrow_dataset(trades).filter((pl.col("id") == 77) & (pl.col("x") > 0.5))
    wanted = whole.filter((f("id") == 77) & (f("x") > 0.5))
    assert lazy.select("y").collect()["y"].to_list() == wanted["y"].to_pylist()
    assert down == [[("id", "==", 77)], [("id", "==", 77), ("x", ">", 0.5)]]
    assert trades.count_rows() == N
    assert trades.head(3)["y"].to_pylist() == [0, 1, 2]
    assert pickle.loads(pickle.dumps(trades)).count_rows(filter=f("id") == 1) == 100


def test_refused(path, tmp_path):
    with pytest.raises(ndfile.ArgumentError, match=r"no columns \['none'\]"):
        ndfile.arrow.dataset(path).to_table(columns=["none"])
    ndfile.save(tmp_path / "a.npy", np.zeros(3))
    with pytest.raises(ndfile.ArgumentError, match="expected a table"):
        ndfile.arrow.dataset(tmp_path / "a.npy")


def test_examples(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(ndfile.arrow)
    assert found.attempted
    assert not found.failed
