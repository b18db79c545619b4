"""What describes a file: from one call, lazily decoded, and the values that come with it."""

import copy
import gc
import json
import os
import pickle
import sys

import numpy as np
import pytest
from support import same as assert_same
from test_process import needs_fork

import ndfile
from ndfile import _load


def same(a, b):
    assert_same(a, b)
    return True


ATTRS = {
    "title": "Überfahrt \u2603",
    "levels": [1, [2, 3]],
    "missing": float("inf"),
    "big": 10**25,
    'q"\\': None,
}


def everything(path):
    with ndfile.open(path) as f:
        return {name: (v[...], dict(v.attrs), v.dims) for name, v in f.items()}, dict(f.attrs)


@pytest.fixture
def rich(tmp_path):
    """A file with all kinds of variables."""
    values = {
        "x": np.arange(6.0).reshape(2, 3),
        "big": np.arange(3, dtype="i2"),
        "flag": np.array([True, False, True]),
        "m": np.ma.masked_equal([4, -1, 5], -1),
        "name": np.array(["Praha", "", "Ōsaka"], object),
        "raw": np.array([b"a\0", b""], object),
        "scalar": np.float32(2.5),
        "": np.int8([7]),
        "\\dots.é": np.zeros((0, 3)),
    }
    dims = {"x": ("time", "é"), "name": ("n",), "": ("one",)}
    attrs = {"x": ATTRS, "m": {"units": "K"}}
    path = tmp_path / "rich.ds"
    ndfile.save(path, {**values, "big": values["big"].astype(">i2")}, dims=dims, var_attrs=attrs, attrs=ATTRS)
    return path, values, dims, attrs


def test_values_and_metadata_agree(rich):
    path, values, dims, attrs = rich
    found, top = everything(path)
    assert top == ATTRS
    assert found.keys() == values.keys()
    for name, (value, own, axes) in found.items():
        assert same(value, values[name])
        assert own == attrs.get(name, {})
        assert axes == dims.get(name)
    read, rest = ndfile.read(path, metadata=True)
    assert rest == {"attrs": ATTRS, "dims": dims, "var_attrs": attrs}
    assert all(same(read[name], values[name]) for name in values)
    assert ndfile.read(path, "x", metadata=True)[1] == {
        "attrs": ATTRS,
        "dims": {"x": dims["x"]},
        "var_attrs": {"x": ATTRS},
    }
    described = ndfile.info(path)
    assert described["arrays"]["big"]["dtype"] == ">i2"
    assert described["arrays"]["x"]["attrs"] == ATTRS
    assert [a["masked"] for a in described["arrays"].values()].count(True) == 1


def test_a_copy_is_the_same_file(rich, tmp_path):
    path = rich[0]
    values, rest = ndfile.read(path, metadata=True)
    ndfile.save(tmp_path / "copy.ds", values, **rest)
    again, rest_again = ndfile.read(tmp_path / "copy.ds", metadata=True)
    assert rest_again == rest
    assert all(same(again[name], values[name]) for name in values)


@pytest.mark.parametrize("format", [None, "ds"])
def test_series_with_metadata(tmp_path, format):
    """Files of one series, read with metadata and without, in turn."""
    paths = [tmp_path / f"{i}.ds" for i in range(6)]
    for i, path in enumerate(paths):
        ndfile.save(path, {"x": np.full(3, i)}, dims={"x": ("k",)}, attrs={"i": i % 2})
    for _ in range(3):
        for i, path in enumerate(paths):
            values, rest = ndfile.read(path, metadata=True, format=format)
            assert values["x"].tolist() == [i] * 3
            assert rest == {"attrs": {"i": i % 2}, "dims": {"x": ("k",)}, "var_attrs": {}}
            assert ndfile.read(path, "x").tolist() == [i] * 3


def test_single_array(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(4, dtype=">u2"))
    value, rest = ndfile.read(path, metadata=True)
    assert same(value, np.arange(4, dtype="u2"))
    assert rest == {"attrs": {}, "dims": None, "var_attrs": {}}
    ndfile.save(tmp_path / "b.npy", value, **rest)
    with ndfile.open(path) as f:
        assert f.array.dtype_name == ">u2"
        assert same(f.array[...], value)


def many(path, n):
    values = {f"v{i:05}": np.full(i % 5, i) for i in range(n)}
    ndfile.save(path, values, var_attrs={f"v{i:05}": {"i": i} for i in range(0, n, 3)})
    return values


def test_many_variables_in_any_order(tmp_path):
    values = many(tmp_path / "many.ds", 300)
    names = list(values)
    orders = [
        names,
        names[::-1],
        names[::7],
        np.random.default_rng(1).permutation(names).tolist(),
        names[:1] * 3,
    ]
    for order in orders:
        with ndfile.open(tmp_path / "many.ds") as f:
            assert list(f) == names
            assert len(f) == 300
            assert "v00299" in f and "v00300" not in f
            for name in order:
                assert same(f[name][...], values[name])
                assert f[name].attrs.get("i", -1) == (int(name[1:]) if int(name[1:]) % 3 == 0 else -1)
                assert same(f[name][:], values[name])


def test_large_among_small(tmp_path):
    values = {f"v{i}": np.arange(i * 700.0) for i in range(40)}
    ndfile.save(tmp_path / "mixed.ds", values)
    assert all(
        same(value, values[name]) for name, (value, *_) in everything(tmp_path / "mixed.ds")[0].items()
    )


def test_long_metadata(tmp_path):
    """Metadata that are longer than what is kept ready for them."""
    text = {"text": "x" * 200_000}
    ndfile.save(tmp_path / "long.ds", {"a": 1, "b": 2, "c": 3}, var_attrs={"b": text}, attrs=text)
    found, top = everything(tmp_path / "long.ds")
    assert top == text
    assert found["b"][1] == text and found["a"][1] == found["c"][1] == {}
    assert ndfile.read(tmp_path / "long.ds", metadata=True)[1]["var_attrs"] == {"b": text}


def test_results_share_nothing(rich):
    with ndfile.open(rich[0]) as f:
        x = f["x"]
        first = x[...]
        first[...] = -1
        x.attrs["levels"].append(4)
        assert same(x[...], rich[1]["x"])
        assert x.attrs == ATTRS
        f.attrs["levels"].clear()
        assert f.attrs == ATTRS
        assert first.flags.owndata and first.flags.writeable


def test_one_object_while_it_lives(rich):
    with ndfile.open(rich[0]) as f:
        x = f["x"]
        assert f["x"] is x
        del x
        gc.collect()
        assert f["x"].shape == (2, 3)


def test_closed(rich):
    f = ndfile.open(rich[0])
    x, y = f["x"], f["big"]
    x[...]
    f.close()
    for use in (
        lambda: x[...],
        lambda: y[...],
        lambda: x.attrs["title"],
        lambda: y.dims,
        lambda: f["x"],
        lambda: list(f),
        lambda: "x" in f,
    ):
        with pytest.raises(ndfile.HandleError):
            use()


def test_a_damaged_variable_hides_no_other(tmp_path):
    head = b'ds-1.0\n{"a": {".size": [1], ".offset": 0, ".len": 1, ".type": "int8", "k": 1}, "b": {".size": [9], ".offset": 900, ".len": 9, ".type": "int8"},'
    head += (
        b' "c": {".size": [1], ".offset": 1, ".len": 1, ".type": "odd", "k": 1, "k": 2}, ".": {}}\n\x05\x06'
    )
    (tmp_path / "d.ds").write_bytes(head)
    with ndfile.open(tmp_path / "d.ds") as f:
        assert [v.shape for v in f.values()] == [(1,), (9,), (1,)]
        assert dict(f["c"].attrs) == {"k": 2}
        assert f["a"][...].tolist() == [5]
        for name in "bc":
            with pytest.raises(ndfile.NdfileError):
                f[name][...]
        assert f["a"][...].tolist() == [5]


def test_integers_beyond_pythons_limit(tmp_path):
    if not hasattr(sys, "set_int_max_str_digits"):
        pytest.skip("this Python has no limit")
    before = sys.get_int_max_str_digits()
    raw = b'ds-1.0\n{"x": {".size": null, "n": ' + b"9" * 700 + b'}, ".": {}}\n'
    (tmp_path / "i.ds").write_bytes(raw)
    sys.set_int_max_str_digits(640)
    try:
        with ndfile.open(tmp_path / "i.ds") as f, pytest.raises(ndfile.LimitError):
            dict(f["x"].attrs)
        with pytest.raises(ndfile.LimitError):
            ndfile.read(tmp_path / "i.ds", metadata=True)
    finally:
        sys.set_int_max_str_digits(before)


def test_group_of_arrays(tmp_path):
    """In a folder of arrays one that is damaged does not keep others from being described."""
    zarr = tmp_path / "g.zarr"
    (zarr / "bad").mkdir(parents=True)
    (zarr / ".zgroup").write_text('{"zarr_format": 2}')
    (zarr / ".zattrs").write_text('{"title": "group"}')
    for name in ("a", "z"):
        (zarr / name).mkdir()
        (zarr / name / ".zarray").write_text(
            '{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": ">i2", "compressor": null, "fill_value": 3,'
            ' "order": "C", "filters": null}'
        )
        (zarr / name / ".zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": ["x"], "of": name}))
    (zarr / "bad" / ".zarray").write_text("{")
    with ndfile.open(zarr) as f:
        assert set(f) >= {"a", "z"}
        assert f.attrs == {"title": "group"}
        for name in ("a", "z"):
            v = f[name]
            assert (v.shape, v.dtype_name, v.dims, v.chunks) == ((4,), ">i2", ("x",), (2,))
            assert v.attrs["of"] == name
            assert v[...].tolist() == [3] * 4


@needs_fork
def test_in_a_forked_child(rich):
    with ndfile.open(rich[0]) as f:
        x = f["x"]
        child = os.fork()
        if child == 0:
            good = (
                same(x[...], rich[1]["x"])
                and x.attrs == ATTRS
                and f["m"].attrs == {"units": "K"}
                and f["x"] is x
            )
            os._exit(0 if good else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert same(x[...], rich[1]["x"])


def test_no_data_among_data(tmp_path):
    (tmp_path / "n.ds").write_bytes(
        b'ds-1.0\n{"a": {".size": [1], ".offset": 0, ".len": 1, ".type": "int8"}, "n": {".size": null, "k": 1}, ".": {}}\n\x05'
    )
    with ndfile.open(tmp_path / "n.ds") as f:
        for _ in range(2):
            assert f["a"][...].tolist() == [5]
            with pytest.raises(ndfile.NoDataError):
                f["n"][...]
        assert dict(f["n"].attrs) == {"k": 1}
    values, rest = ndfile.read(tmp_path / "n.ds", metadata=True)
    assert values["n"] is None
    assert rest["var_attrs"] == {"n": {"k": 1}}


@pytest.mark.parametrize("many", [False, True])
def test_packed_as_made(tmp_path, many):
    """What is packed on the quick road is what the thorough one writes."""
    ones = [
        {"x": np.arange(3), "t": np.array(["a", "", "é"], object)},
        {"x": np.ma.masked_equal([[1.5, 2.5], [3.5, 1.5]], 1.5), "y": np.array([True, False])},
        {
            "b": np.array([[b"a", b"\0"]], object),
            "m": np.ma.MaskedArray([1, 2], mask=False),
            "u": np.arange(4, dtype=">u2")[::2],
        },
        {"x": np.float32(1.5) * np.ones(()), "big": np.arange(30_000.0)},
    ]
    for i, values in enumerate(ones):
        how = (
            {"dims": {"x": tuple("ab"[: values["x"].ndim])}, "var_attrs": {"x": {"n": [1, {"k": None}]}}}
            if "x" in values
            else {}
        )
        made = {**how, "extra": {}}  # takes the thorough road
        quick, thorough = tmp_path / f"q{i}.ds", tmp_path / f"t{i}.ds"
        if many:
            ndfile.save_many([quick, tmp_path / "again.ds"], [values, values], attrs={"i": i}, **how)
        else:
            ndfile.save(quick, values, attrs={"i": i}, **how)
        ndfile.save(thorough, values, attrs={"i": i}, **made)
        assert quick.read_bytes() == thorough.read_bytes()


def test_what_cannot_be_packed_says_why(tmp_path):
    path = tmp_path / "e.ds"
    for error, values, how in [
        (TypeError, {"x": np.array([1, "a"], object)}, {}),
        (TypeError, {"x": np.arange(2)}, {"var_attrs": {"x": {"k": b"raw"}}}),
        (ValueError, {"x": np.arange(2)}, {"dims": {"x": (1,)}}),
        (KeyError, {"x": np.arange(2)}, {"dims": {"y": ("a",)}}),
        (ValueError, {"x": np.arange(2)}, {"dims": {"x": ("a", "b")}}),
        (ValueError, {"x": np.array(["\ud800"], object)}, {}),
        (TypeError, {"x": np.arange(2)}, {"attrs": [1]}),
    ]:
        with pytest.raises(error):
            ndfile.save(path, values, **how)
        assert not path.exists()


@pytest.mark.parametrize("name", ["c.ds", "c.ra", "c.npy"])
def test_scattered_elements(tmp_path, name):
    """Columns and strides, also when the file becomes shorter meanwhile."""
    c = np.arange(2000 * 700, dtype="f4").reshape(2000, 700)
    path = tmp_path / name
    ndfile.save(path, {"c": c} if name == "c.ds" else c)
    with ndfile.open(path) as f:
        v = f["c"] if name == "c.ds" else f.array
        for key in [np.s_[:, 5], np.s_[::3, ::-7], np.s_[10:, 699], np.s_[::-500, 1:3]]:
            assert same(v[key], c[key])
        rows, columns = np.arange(1, 2000, 13), np.arange(0, 700, 90)
        assert same(v.oindex[rows, columns], c[np.ix_(rows, columns)])
        assert same(v.oindex[rows[::-1], 4:600:9], c[rows[::-1], 4:600:9])
        os.truncate(path, 1 << 20)
        for _ in range(2):
            with pytest.raises(ndfile.CorruptError):
                v[:, 5]
        assert same(v[:300, 5], c[:300, 5])


def test_single_elements(tmp_path):
    c = np.arange(24, dtype=">i2").reshape(2, 3, 4)
    ndfile.save(tmp_path / "e.ds", {"c": c, "m": np.ma.masked_equal(c, 5), "b": c > 7})
    with ndfile.open(tmp_path / "e.ds") as f:
        v = f["c"]
        for key in np.ndindex(c.shape):
            found = v[key]
            assert found == c[key] and type(found) is np.int16
            assert f["b"][key] == (c[key] > 7)
        assert v[-1, -1, -1] == 23 and v[np.int64(1), 0, 0] == 12 and v[0, 0].tolist() == [0, 1, 2, 3]
        assert f["m"][0, 1, 1] is np.ma.masked
        for key in [(0, 3, 0), (-3, 0, 0), (0, 0, 0, 0), (0, 0, 1.5), (True, 0, 0)]:
            with pytest.raises((IndexError, NotImplementedError)):
                v[key]
    with pytest.raises(ndfile.HandleError):
        v[0, 0, 0]


def test_attrs_are_a_dict(tmp_path):
    path = tmp_path / "x.zarr"
    with ndfile.open(path, "w", format="zarr2") as f:
        f["x"] = np.arange(3)
        f.attrs.update(ATTRS)
        attrs = f["x"].attrs
        attrs["units"] = "m"
        attrs |= {"k": (1, 2), "gone": 1}
        assert attrs.setdefault("units", "s") == "m" and attrs.setdefault("new", 5) == 5
        assert attrs.pop("gone") == 1 and attrs.pop("gone", None) is None and attrs.popitem() == ("new", 5)
        with pytest.raises(KeyError):
            attrs.pop("gone")
        assert isinstance(attrs, dict) and attrs == {"units": "m", "k": [1, 2]}
    with ndfile.open(path) as f:
        assert json.loads(json.dumps(f.attrs)) == ATTRS and dict(f.attrs) == ATTRS
        attrs = f["x"].attrs
        assert json.dumps(attrs, sort_keys=True) == '{"k": [1, 2], "units": "m"}'
        for of in (copy.copy(attrs), copy.deepcopy(attrs), pickle.loads(pickle.dumps(attrs)), attrs.copy()):
            assert type(of) is dict and of == attrs
            of["k"] = 1
        with pytest.raises(ndfile.ReadOnlyError):
            attrs["k"] = 1
        with pytest.raises(ndfile.ReadOnlyError):
            attrs |= {"k": 1}
        with pytest.raises(ndfile.ReadOnlyError):
            attrs.clear()
        assert attrs["k"] == [1, 2]
    with pytest.raises(ndfile.HandleError):
        _ = f.attrs


def test_a_small_file_comes_with_its_opening(rich, monkeypatch):
    path, values, dims, _ = rich
    calls = []
    for name in ("load_open", "open_load"):
        made = getattr(_load._Scratch, name)
        monkeypatch.setattr(
            _load._Scratch, name, lambda *args, made=made, name=name: calls.append(name) or made(*args)
        )
    found, top = everything(path)
    assert calls == ["open_load"] and top == ATTRS
    for name, value in values.items():
        assert same(found[name][0], value) and found[name][2] == dims.get(name)
    calls.clear()
    ndfile.save(tmp := path.with_name("large.ds"), {**values, "z": np.arange(9000.0)}, dims=dims)
    found, _ = everything(tmp)
    assert calls.count("open_load") == 1 and same(found["z"][0], np.arange(9000.0))
    for name, value in values.items():
        assert same(found[name][0], value)
