"""Frames of pandas 3, polars, pyarrow and duckdb as tables, and tables as their frames."""

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ndfile

N = 40
DATA = {
    "n": np.arange(N, dtype="i4") * 3,
    "x": np.linspace(0, 1, N, dtype="f4"),
    "name": [f"st{i % 7} ß" for i in range(N)],
    "ok": np.arange(N) % 3 == 0,
    "t": (np.arange(N) * 3_600_000_001).astype("M8[us]"),
    "u": (np.arange(N) * 60_000_000_007).astype("M8[ns]"),
}
FRAMES = {
    "pandas": lambda: pd.DataFrame(DATA),
    "polars": lambda: pl.DataFrame(DATA),
    "pyarrow": lambda: pa.table({k: pa.array(v) for k, v in DATA.items()}),
    "duckdb": lambda: duckdb.from_arrow(FRAMES["pyarrow"]()),
}


@pytest.mark.parametrize("package", FRAMES)
def test_both_ways(tmp_path, package):
    path = str(tmp_path / "t.bcolz")
    ndfile.save(path, FRAMES[package]())
    with ndfile.open_table(path, "a") as t:
        t.append(FRAMES[package]())
    with ndfile.open_table(path) as t:
        want = pd.concat([FRAMES["pandas"]()] * 2, ignore_index=True)
        pd.testing.assert_frame_equal(t.to_pandas(), want.astype({"name": "str"}))
        assert pl.DataFrame(t).equals(pl.concat([FRAMES["polars"]()] * 2))
        assert t.to_polars().equals(pl.DataFrame(t))
        arrow = pa.table(t)
        assert arrow["name"].to_pylist() == DATA["name"] * 2
        assert (arrow["u"].to_numpy() == np.tile(DATA["u"], 2)).all()
        found = duckdb.sql("select sum(n) as s, count(distinct name) as c from t where ok").fetchall()
        assert found == [(2 * int(DATA["n"][DATA["ok"]].sum()), 7)]
        assert pl.Series("x", t["x"]).to_list() == np.tile(DATA["x"], 2).tolist()


@pytest.mark.parametrize(
    ("column", "values", "fits"),
    [
        ("M8[ns]", np.array(["2001-02-03T04:05:06.7"], "M8[us]"), True),
        ("M8[s]", np.array(["2001-02-03T04:05:06"], "M8[us]"), True),
        ("M8[s]", np.array(["2001-02-03T04:05:06.7"], "M8[us]"), False),
        ("i2", np.array([300], "i8"), True),
        ("i2", np.array([40000], "i8"), False),
        ("U2", np.array(["abc"], object), False),
    ],
)
def test_values_that_fit(tmp_path, column, values, fits):
    path = str(tmp_path / "t.bcolz")
    ndfile.save(path, {"c": np.zeros(1, "i8").astype(column)}, format="bcolz")
    with ndfile.open_table(path, "r+") as t:
        if fits:
            t.append(pd.DataFrame({"c": values}))
            assert t["c"][-1] == values[0]
        else:
            with pytest.raises(ndfile.ValueNotRepresentableError, match=r'"?c"?.*(row|element)'):
                t.append(pd.DataFrame({"c": values}))


def test_nulls(tmp_path):
    path = str(tmp_path / "t.bcolz")
    frame = pl.DataFrame({"a": [1, None, 3], "s": ["x", None, "z"]})
    with pytest.raises(ndfile.MaskedError, match="column 'a', row 1 is null"):
        ndfile.save(path, frame)
    ndfile.save(path, frame, nulls={"a": -1, "s": ""})
    with ndfile.open_table(path) as t:
        assert (t["a"][:].tolist(), t["s"][:].tolist()) == ([1, -1, 3], ["x", "", "z"])
    ndfile.save(str(tmp_path / "t.ds"), frame, nulls="mask")
    assert ndfile.read(str(tmp_path / "t.ds"), "a").mask.tolist() == [False, True, False]
