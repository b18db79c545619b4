"""ndfile.compat.ds_format beside ds-format: the examples of its user guide, through both, over each file format."""

from __future__ import annotations

import os
from typing import Any, Callable

import numpy as np
import pytest

import ndfile.compat.ds_format as ours

theirs = pytest.importorskip("ds_format")

FORMATS = ("nc", "ds", "h5", "csv", "json")


def dataset() -> dict[str, Any]:
    return {
        "time": [1, 2, 3],
        "temperature": [16.0, 18.0, 21.0],
        ".": {
            ".": {"title": "Temperature data"},
            "time": {".dims": ["time"], "long_name": "time", "units": "s"},
            "temperature": {".dims": ["time"], "long_name": "temperature", "units": "celsius"},
        },
    }


def part(name: str) -> Callable[[Any, str], None]:
    def write(m: Any, path: str) -> None:
        number = int(name[-1])
        m.write(
            name + os.path.splitext(path)[1],
            {
                "time": np.arange(3) + 3 * number,
                "temperature": [16.0 + number, 18.0, 21.0],
                ".": {"time": {".dims": ["time"]}, "temperature": {".dims": ["time"]}},
            },
        )

    return write


def folder(m: Any, path: str) -> Any:
    os.remove(path)
    for name in ("dataset1", "dataset2"):
        part(name)(m, path)
    dd = [m.read(p) for p in sorted(os.listdir("."))]
    return [
        m.readdir("."),
        m.readdir(".", merge="time"),
        m.merge(dd, "time"),
        m.merge(dd, "new"),
        m.index("."),
    ]


READS: dict[str, Callable[[Any, str], Any]] = {
    "read": lambda m, p: m.read(p),
    "one variable, one index": lambda m, p: m.read(p, "temperature", sel={"time": 0}),
    "metadata": lambda m, p: m.read(p, [], full=True),
    "vars": lambda m, p: [m.vars(m.read(p)), m.vars(m.read(p, [], full=True), full=True)],
    "var": lambda m, p: [m.var(m.read(p), "temperature"), m.var(m.read(p), "nothing")],
    "attr": lambda m, p: [m.attr(m.read(p), "long_name", var="temperature"), m.attr(m.read(p), "title")],
    "attrs": lambda m, p: [m.attrs(m.read(p), "temperature"), m.attrs(m.read(p))],
    "dims": lambda m, p: [m.dims(m.read(p)), m.dims(m.read(p), size=True), m.dims(m.read(p), "temperature")],
    "dim": lambda m, p: [m.dim(m.read(p), "time"), m.dim(m.read(p, [], full=True), "time", full=True)],
    "size": lambda m, p: m.size(m.read(p), "temperature"),
    "type": lambda m, p: [m.type(m.read(p), "temperature"), m.type(m.read(p, [], full=True), "time")],
    "meta": lambda m, p: [m.meta(m.read(p)), m.meta(m.read(p), ""), m.meta(m.read(p), "temperature")],
    "find": lambda m, p: [m.find(m.read(p), "var", "temp*"), m.find(m.read(p), "dim", "t*")],
    "findall": lambda m, p: [m.findall(m.read(p), "var", "t*"), m.findall(m.read(p), "attr", "*", "time")],
    "range": lambda m, p: [m.read(p, range_={"time": [0, 2]}), m.read(p, range_={"time": [-2, None]})],
    "at": lambda m, p: [m.read(p, at={"time": 2}), m.read(p, at={"time": [1, 3]})],
    "between": lambda m, p: [m.read(p, between={"time": [1, 3]}), m.read(p, between={"time": [None, 3]})],
    "list": lambda m, p: m.read(p, sel={"time": [0, 2]}),
    "folder": folder,
    "require": lambda m, p: [m.require(m.read(p), "var", "temperature"), m.require(m.read(p), "dim", "x")],
    "copy": lambda m, p: m.copy(m.read(p)),
}

CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "rename": lambda m, d: m.rename(d, "temperature", "t2"),
    "rename_m": lambda m, d: m.rename_m(d, {"time": "new_time", "temperature": "new_temperature"}),
    "rename_attr": lambda m, d: m.rename_attr(d, "long_name", "new_long_name", var="temperature"),
    "rename_attr_m": lambda m, d: m.rename_attr_m(d, {"long_name": "units", "units": None}, "temperature"),
    "rename_attr of the dataset": lambda m, d: m.rename_attr(d, "title", "new_title"),
    "rename_dim": lambda m, d: m.rename_dim(d, "time", "t"),
    "rm": lambda m, d: m.rm(d, "temperature"),
    "rm_attr": lambda m, d: [m.rm_attr(d, "long_name", var="temperature"), m.rm_attr(d, "title")],
    "select an index": lambda m, d: m.select(d, {"time": 0}),
    "select by a mask": lambda m, d: m.select(d, {"time": [False, True, True]}),
    "attr": lambda m, d: m.attr(d, "units", "K", var="temperature"),
    "attrs": lambda m, d: m.attrs(d, "temperature", {"long_name": "new temperature", "units": "K"}),
    "dims": lambda m, d: m.dims(d, "temperature", ["new_time"]),
    "meta": lambda m, d: m.meta(d, "temperature", {"a": 1}),
    "type": lambda m, d: m.type(d, "temperature", "int64"),
    "var": lambda m, d: m.var(d, "temperature", [17, None, 22]),
    "group_by": lambda m, d: m.group_by(d, "time", np.array([1, 1, 2]), np.mean),
    "apply": lambda m, d: m.apply(d, np.mean, dims=["time"]),
    "apply along": lambda m, d: m.apply(d, lambda x: x * 2, dims="time"),
    "time": lambda m, d: [m.time(d, "time"), m.time(d, "time", True), m.time(d, "time")],
    "write": lambda m, d: m.write("again.nc", d),
}

#: What differs on purpose: docs/compat.md has the reasons.
EXCEPT = {
    ("json", name)
    for name in ("one variable, one index", "metadata", "range", "at", "between", "list", "dim", "type")
} | {
    ("csv", "between"),
    ("h5", "change: write"),
}


def plain(x: Any) -> Any:
    """Make what can be compared: types and values, whatever the order of keys and bytes."""
    if isinstance(x, dict):
        return {str(k): plain(x[k]) for k in sorted(x, key=str)}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    if isinstance(x, np.ma.MaskedArray):
        return ("masked", str(x.dtype.newbyteorder("=")), x.tolist(), np.ma.getmaskarray(x).tolist())
    if isinstance(x, (np.ndarray, np.generic)):
        return (str(x.dtype.newbyteorder("=")), np.shape(x), x.tolist())
    return x


def outcome(m: Any, example: Callable[[Any, str], Any], ext: str, where: Any) -> Any:
    where.mkdir()
    before = os.getcwd()
    os.chdir(where)
    try:
        path = f"dataset.{ext}"
        m.write(path, dataset())
        return plain(example(m, path))
    except Exception as e:  # the same kind of error is the same result
        return type(e).__name__
    finally:
        os.chdir(before)


def changed(change: Callable[[Any, Any], Any]) -> Callable[[Any, str], Any]:
    def example(m: Any, path: str) -> Any:
        d = m.read(path)
        return [change(m, d), d]

    return example


@pytest.mark.parametrize("ext", FORMATS)
def test_examples(ext: str, tmp_path: Any) -> None:
    examples = {**READS, **{f"change: {name}": changed(change) for name, change in CHANGES.items()}}
    for i, (name, example) in enumerate(examples.items()):
        want = outcome(theirs, example, ext, tmp_path / f"theirs{i}")
        got = outcome(ours, example, ext, tmp_path / f"ours{i}")
        assert (repr(got) == repr(want)) == ((ext, name) not in EXCEPT), (
            f"{name}\ntheirs {want}\nours   {got}"
        )


@pytest.mark.parametrize("ext", ["ds", "nc", "h5"])
def test_other_reads(ext: str, tmp_path: Any) -> None:
    """What one writes the other reads: types, masks, texts, escaped names."""
    d = {
        "a": np.arange(6, dtype="i2").reshape(2, 3),
        "s": ["x", "yy"],
        "m": np.ma.array([1.0, 2.0], mask=[False, True]),
        "five": 5,
        ".": {
            "a": {".dims": ["y", "x"], "k": "v"},
            "s": {".dims": ["y"]},
            "m": {".dims": ["y"]},
            ".": {"q": 1.5},
        },
    }
    if ext == "ds":
        d["\\.x"] = np.array([1.5])
    elif ext == "nc":  # a _FillValue is chosen here, and said in an attribute
        del d["m"]
    for writer, reader in ((ours, theirs), (theirs, ours)):
        path = str(tmp_path / f"{writer.__name__}.{ext}")
        writer.write(path, d)
        assert repr(plain(reader.read(path))) == repr(plain(writer.read(path)))


def test_times(tmp_path: Any) -> None:
    d = {
        "time": [0.0, 1.5],
        ".": {"time": {".dims": ["time"], "units": "days since 2000-01-01", "calendar": "standard"}},
    }
    path = str(tmp_path / "t.nc")
    ours.write(path, d)
    want, got = theirs.read(path, jd=True), ours.read(path, jd=True)
    assert repr(plain(got)) == repr(plain(want))
    assert got["time"].tolist() == [2451544.5, 2451546.0]
    assert ours.read(path, at={"time": "2000-01-02T10:00"})["time"] == 1.5
    ours.write(str(tmp_path / "u.nc"), got, time_units="hours since 2000-01-01", calendar="standard")
    assert ours.read(str(tmp_path / "u.nc"))["time"].tolist() == [0, 36]
    texts = ["2000-01-01 12:00:00", "2000-01-01T00:00:00Z", "x", "2001-02-03 04:05:06.5"]
    assert ours.time_dt(texts) == theirs.time_dt(texts)


def test_better() -> None:
    """What the original gets wrong: swapped names, attributes of parts, the mode after an error."""
    d = dataset()
    ours.rename_m(d, {"time": "temperature", "temperature": "time"})
    assert list(d["time"]) == [16.0, 18.0, 21.0]
    assert ours.dims(d, "time") == ["temperature"]
    assert [ours.attrs(p)["title"] for p in ours.split(dataset(), "time")] == ["Temperature data"] * 3
    with pytest.raises(NameError), ours.with_mode("strict"):
        ours.var(d, "nothing")
    assert ours.mode == "soft"
