"""Copies of open files and of their arrays keep what the new format can hold, or say what it cannot."""

import numpy as np
import pytest

import ndfile


def facts(path):
    with ndfile.open(path) as f:
        return dict(f.attrs), {
            n: (v.dims, dict(v.attrs), v[...].tolist(), np.ma.getmaskarray(v[...]).tolist())
            for n, v in f.items()
        }


@pytest.fixture
def old(tmp_path):
    path = str(tmp_path / "old.ds")
    ndfile.save(
        path,
        {
            "p": np.ma.masked_less([3.0, 1.0, 2.0], 1.5),
            "q": np.eye(2, dtype=">f4"),
            "s": np.array(["a", "ß"], object),
        },
        attrs={"source": "buoy", "runs": [4, 5]},
        dims={"p": ("day",), "q": ("row", "col"), "s": ("row",)},
        var_attrs={"p": {"units": "hPa"}, "q": {"scale": 0.5}},
    )
    return path


def copy(how, old, new, **options):
    with ndfile.open(old) as f:
        if how == "file":
            ndfile.save(new, f, **options)
        elif how == "dict":
            ndfile.save(new, dict(f), attrs=dict(f.attrs), **options)
        else:
            with ndfile.open(new, "w", attrs=dict(f.attrs), **options) as g:
                for n in f:
                    g[n] = f[n]


@pytest.mark.parametrize("how", ["file", "dict", "one by one"])
def test_all_is_kept(old, tmp_path, how):
    new = str(tmp_path / "new.ds")
    copy(how, old, new)
    assert facts(new) == facts(old)
    assert ndfile.info(new)["arrays"]["q"]["dtype"] == ">f4"
    copy(how, new, old)  # of a copy, over the source
    assert facts(new) == facts(old)


def test_what_is_given_counts(old, tmp_path):
    new = str(tmp_path / "new.ds")
    with ndfile.open(old) as f:
        ndfile.save(new, f, attrs={}, var_attrs={"p": {"units": "kPa"}}, dims={"q": ("x", "y")})
    attrs, arrays = facts(new)
    assert (attrs, arrays["p"][1], arrays["p"][0], arrays["q"][0]) == (
        {},
        {"units": "kPa"},
        ("day",),
        ("x", "y"),
    )


def test_what_has_no_place_is_a_loss(old, tmp_path):
    with ndfile.open(old) as f:
        for name, said in (("p", "names of axes"), ("q", "names of axes")):
            with pytest.raises(ndfile.LossError, match=said):
                ndfile.save(str(tmp_path / "x.npy"), f[name])
        assert not (tmp_path / "x.npy").exists()
        ndfile.save(str(tmp_path / "x.npy"), f["q"][...])


def test_chunks_and_fill_values_go_along(tmp_path):
    first, second = str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr")
    with ndfile.open(first, "w", format="zarr2") as f:
        f.create("", (100, 6), "i2", chunks=(7, 3), compression=("zstd", 3), fill_value=-9)[:50] = 1
    with ndfile.open(first) as f:
        ndfile.save(second, f, format="zarr2")
    with ndfile.open(first) as f, ndfile.open(second) as g:
        assert (f.array.chunks, f.array.fill_value, f.array.compression) == (
            g.array.chunks,
            g.array.fill_value,
            g.array.compression,
        )
        assert np.array_equal(f.array[...], g.array[...])


def test_single_array_files_are_their_array(tmp_path):
    path = str(tmp_path / "img.ra")
    ndfile.save(path, np.arange(6.0).reshape(2, 3))
    with ndfile.open(path) as f:
        assert np.asarray(f).tolist() == [[0, 1, 2], [3, 4, 5]]
        assert (f.shape, f.dtype, f[1, 2], f[0].tolist()) == ((2, 3), "f8", 5, [0, 1, 2])
        assert f.array.T.tolist() == [[0, 3], [1, 4], [2, 5]]
        assert f.array.vindex[[0, 1], [2, 0]].tolist() == [2, 3]
        assert f.array[np.arange(6).reshape(2, 3) > 3].tolist() == [4, 5]
        for calculate in (lambda v: v * 2, lambda v: v == 1, lambda v: 1 - v, lambda v: v < 3):
            with pytest.raises(TypeError, match=r"read it first: v\[\.\.\.\]"):
                calculate(f.array)
    ndfile.save(str(tmp_path / "d.ds"), {"alpha": [1], "beta": [2]})
    with ndfile.open(str(tmp_path / "d.ds")) as f:
        with pytest.raises(TypeError, match="index it by name"):
            np.asarray(f)
        with pytest.raises(KeyError, match=r"did you mean 'alpha'.* 'beta'"):
            f["alhpa"]
        assert f._ipython_key_completions_() == ["alpha", "beta"]
        assert (f.filename, f.closed) == (f.path, False)


def tree(path):
    """Give all that a file holds, with the way in which it is stored."""
    with ndfile.open(path) as f:
        return (
            dict(f.attrs),
            {g: dict(f[g].attrs) for g in f.groups},
            {
                n: (v.dtype_name, v.dims, dict(v.attrs), v[...].tolist(), v.fill_value, v.chunks)
                for n, v in f.items()
            },
        )


@pytest.fixture
def store(tmp_path):
    path = str(tmp_path / "store.zarr")
    with ndfile.open(path, "w", format="zarr3", attrs={"title": "x"}) as f:
        texts = f.create("t", (5,), str, dims=("x",), attrs={"k": 1}, codecs=["zstd"], chunks=(2,))
        texts[:3] = np.array(["a", "", "höhe"], object)
        f.create("g/b", (3,), bytes, fill_value=b"x\xff")[:1] = np.array([b"\xff\0"], object)
        f.create("g/u", (3,), str, fill_value="ü")
        f.create("g/n", (40,), "i4", fill_value=7, chunks=(5,), shards=(20,), codecs=["gzip"])[:2] = [1, 2]
        f.create_group("empty/deep", attrs={"e": [1, None]})
        f["g"].attrs["q"] = "z"
    return path


def test_texts_and_groups_go_along(store, tmp_path):
    with ndfile.open(store) as f:
        assert (f["t"].fill_value, f["g/b"].fill_value, f["g/u"].fill_value) == ("", b"x\xff", "ü")
        assert f["g/u"][...].tolist() == ["ü"] * 3
    paths = [store] + [str(tmp_path / f"{i}.zarr") for i in range(3)]
    for old, new, format in zip(paths, paths[1:], ("zarr3", "zarr2", "zarr3")):
        with ndfile.open(old) as f:
            ndfile.save(new, f, format=format)
        assert tree(new) == tree(store)
    with ndfile.open(store) as f, ndfile.open(paths[1]) as g:
        for name in f:
            assert (g[name].shards, g[name].codecs) == (f[name].shards, f[name].codecs)
    with ndfile.open(store) as f:
        ndfile.save(str(tmp_path / "one.zarr"), f["t"], format="zarr3")
        assert ndfile.read(str(tmp_path / "one.zarr")).tolist() == ["a", "", "höhe", "", ""]
        with pytest.raises(ndfile.LossError, match="group"):
            ndfile.save(str(tmp_path / "no.ds"), f)


def test_texts_go_to_formats_without_groups(store, tmp_path):
    with ndfile.open(store, "r+") as f:
        f["g"].attrs.clear()
        del f["empty"], f["g/b"], f["g/u"]
    with ndfile.open(store) as f:
        want = {n: f[n][...].tolist() for n in f}
        ndfile.save(str(tmp_path / "all.ds"), f)
        classic = {"n": {"model": "NETCDF3_CLASSIC"}}
        ndfile.save(str(tmp_path / "n.nc"), {"n": f["g/n"]}, extra=classic)
        assert ndfile.read(str(tmp_path / "n.nc"), "n").tolist() == want["g/n"]
    with ndfile.open(str(tmp_path / "all.ds")) as f:
        assert {n: f[n][...].tolist() for n in f} == want
        assert (f["t"].dims, f["t"].attrs) == (("x",), {"k": 1})
        ndfile.save(str(tmp_path / "back.zarr"), f, format="zarr3")
    with ndfile.open(str(tmp_path / "back.zarr")) as f:
        assert {n: f[n][...].tolist() for n in f} == want


def test_shards_are_made_and_taken_apart(store, tmp_path):
    data = np.arange(3000, dtype="i4").reshape(60, 50)
    plain, sharded, old = (str(tmp_path / f"{n}.zarr") for n in ("plain", "sharded", "old"))
    with ndfile.open(plain, "w", format="zarr3") as f:
        f.create("g/x", data.shape, "i4", ("y", "x"), {"u": 1}, chunks=(7, 10), codecs=["gzip"])[...] = data
        f.create("t", (2,), str)[...] = np.array(["a", "ß"], object)
    assert ndfile.convert(plain, sharded, "zarr3", shard_size=2000) == []
    assert ndfile.convert(sharded, old, "zarr2", shard_size=0) == []
    for path, shards in ((plain, None), (sharded, (7, 50)), (old, None)):
        with ndfile.open(path) as f:
            x = f["g/x"]
            assert (x.shards, x.chunks, x.dims, x.attrs) == (shards, (7, 10), ("y", "x"), {"u": 1})
            assert np.array_equal(x[...], data)
            assert f["t"][...].tolist() == ["a", "ß"]
        assert ndfile.verify(path) == []
    with pytest.raises(ndfile.NotSupportedError, match="no shards"):
        ndfile.convert(plain, str(tmp_path / "no.ds"), shard_size=2000)
