"""Indexing an Array gives what indexing the NumPy array gives, or the same kind of error."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import same

import ndfile

SHAPE = (3, 5, 4)
PLAIN = np.arange(60, dtype="i4").reshape(SHAPE)
RANDOM = np.random.default_rng(0)
ARRAYS = {
    "plain": PLAIN,
    "big": PLAIN.astype(">f8"),
    "bool": PLAIN % 3 == 0,
    "masked": np.ma.MaskedArray(PLAIN, mask=RANDOM.random(SHAPE) < 0.4),
    "masked bool": np.ma.MaskedArray(PLAIN % 3 == 0, mask=RANDOM.random(SHAPE) < 0.4),
    "text": np.array([f"č{i}" * (i % 4) for i in range(60)], object).reshape(SHAPE),
    "bytes": np.array([b"\0" * (i % 3) for i in range(60)], object).reshape(SHAPE),
    "masked text": np.ma.MaskedArray(
        np.array([str(i) for i in range(60)], object).reshape(SHAPE), mask=RANDOM.random(SHAPE) < 0.4
    ),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("indexing") / "all.ds"
    ndfile.save(path, ARRAYS)
    with ndfile.open(path) as f:
        yield f


def loaded(name):
    """The array as reading gives it: native, empty under the mask."""
    array = ARRAYS[name]
    if isinstance(array, np.ma.MaskedArray):
        data = array.data.copy()
        data[array.mask] = {"O": "", "b": False, "i": 0}[data.dtype.kind]
        return np.ma.MaskedArray(data, mask=array.mask)
    return array.astype(array.dtype.newbyteorder("="))


def check(v, array, key):
    try:
        want = array[key]
    except IndexError:
        with pytest.raises(IndexError):
            v[key]
        return
    found = v[key]
    if want is np.ma.masked:
        assert found is np.ma.masked
    elif isinstance(want, np.ndarray):
        assert isinstance(found, np.ndarray)
        same(found, np.ma.asarray(want) if isinstance(array, np.ma.MaskedArray) else want)
        if found.dtype != object:
            assert not found.size or found.flags.writeable
    else:
        assert type(found) is type(want)
        assert found == want


@pytest.mark.parametrize("name", ARRAYS)
@given(key=hnp.basic_indices(SHAPE, allow_newaxis=True, allow_ellipsis=True, max_dims=6))
def test_like_numpy(file, name, key):
    check(file[name], loaded(name), key)


INDEX = st.one_of(
    st.integers(-7, 7),
    st.integers(-7, 7).map(np.int16),
    st.builds(
        slice, *[st.one_of(st.none(), st.integers(-9, 9))] * 2, st.sampled_from([None, 1, 2, 3, -1, -2, -7])
    ),
    st.just(Ellipsis),
    st.none(),
    st.just(1.5),
)


@given(key=st.one_of(INDEX, st.lists(INDEX, max_size=5).map(tuple)))
def test_bounds_like_numpy(file, key):
    check(file["masked"], loaded("masked"), key)
    check(file["plain"], loaded("plain"), key)


def test_messages(file):
    v = file["plain"]
    with pytest.raises(ndfile.BoundsError, match="index 3 is out of bounds for axis 0 with size 3") as e:
        v[3]
    assert file.path in str(e.value)
    assert '"plain"' in str(e.value)
    with pytest.raises(IndexError, match="too many indices: array is 3-dimensional, but 4 were indexed"):
        v[0, 0, 0, 0]
    with pytest.raises(IndexError, match="found str"):
        v["a"]
    with pytest.raises(ValueError, match="zero"):
        v[::0]


ROWS = st.one_of(
    st.lists(st.integers(-3, 2), max_size=7),
    st.lists(st.integers(-3, 2), max_size=7).map(lambda i: np.array(i, "i2")),
    st.lists(st.booleans(), min_size=3, max_size=3).map(np.array),
)


@pytest.mark.parametrize("name", ARRAYS)
@settings(max_examples=30)
@given(rows=ROWS, data=st.data())
def test_rows_like_numpy(file, name, rows, data):
    """One list or array selects along its axis."""
    v, array = file[name], loaded(name)
    index = np.asarray(rows) if len(rows) else np.empty(0, int)
    same(v[rows], array[index])
    same(v.take(rows), array[index])
    out = np.ma.empty(array[index].shape, array.dtype)
    if not isinstance(array, np.ma.MaskedArray):
        out = out.data
    assert v.take(rows, out=out) is out
    same(out, array[index])
    rest = data.draw(st.lists(st.one_of(st.slices(5), st.integers(0, 3), st.just(...)), max_size=2))
    if rest.count(...) < 2:
        same(v[(rows, *rest)], array[(index, *rest)])
    same(v[..., index % 3], array[..., index % 3])


@pytest.mark.parametrize(
    "key", [True, np.True_, (0, True), ([0], [1, 2]), (0, slice(2), [1, 2]), (slice(2), 0, [1])]
)
def test_fancy_is_refused(file, key):
    with pytest.raises(NotImplementedError, match=r"v\[\.\.\.\]"):
        file["plain"][key]


@pytest.mark.parametrize("key", [[[0, 1]], [3], [-4], [True], [1.5], ([0], None)])
def test_rows_out_of_bounds(file, key):
    with pytest.raises(IndexError, match=r"all\.ds"):
        file["plain"][key]


def test_zero_dimensional_integer_array(file):
    assert np.array_equal(file["plain"][np.array(1)], PLAIN[1])


def test_scalars(tmp_path):
    ndfile.save("scalar.ds", {"x": 1.5, "s": "text", "m": np.ma.MaskedArray(3, mask=True)})
    with ndfile.open("scalar.ds") as f:
        assert f["x"].shape == ()
        assert type(f["x"][()]) is np.float64
        assert f["x"][()] == 1.5
        assert f["x"][...].shape == ()
        assert f["x"][None].shape == (1,)
        assert f["s"][()] == "text"
        assert f["m"][()] is np.ma.masked
        with pytest.raises(IndexError):
            f["x"][0]
        with pytest.raises(TypeError):
            len(f["x"])


def test_array_protocol(file):
    v = file["plain"]
    assert np.array_equal(np.asarray(v), PLAIN)
    assert np.asarray(v, dtype="f4").dtype == "f4"
    assert np.array_equal(np.array(v, copy=True), PLAIN)
    assert (len(v), v.ndim, v.size, v.nbytes) == (3, 3, 60, 240)
    assert [row.tolist() for row in v] == PLAIN.tolist()
    with pytest.raises(ValueError, match="copy"):
        v.__array__(copy=False)
    with pytest.raises(ndfile.MaskedError):
        np.asarray(file["masked"])


@pytest.mark.parametrize("name", ARRAYS)
def test_out(file, name):
    v, array = file[name], loaded(name)
    masked = isinstance(array, np.ma.MaskedArray)
    frame = np.empty((5, 8, 9), array.dtype)
    out = frame[1:4, 7:2:-1, ::2][..., :4]
    if masked:
        out = np.ma.MaskedArray(out, mask=np.ones(SHAPE, bool))
    assert v.read(out=out) is out
    same(out, array)
    part = (slice(None, None, -2), 1, slice(1, 3))
    out = np.ma.empty(array[part].shape, array.dtype) if masked else np.empty(array[part].shape, array.dtype)
    same(v.read(part, out=out), array[part])


def test_out_widens(file):
    for dtype in ("i8", ">i4", ">f8", "c16"):
        out = np.empty(SHAPE, dtype)
        file["plain"].read(out=out)
        assert np.array_equal(out, PLAIN)
    out = np.ma.masked_all(SHAPE, "i4")
    file["plain"].read(out=out)
    assert not out.mask.any()
    assert np.array_equal(ndfile.read(file.path, "plain", out=out), PLAIN)


def test_out_refused(file):
    v = file["plain"]
    for dtype in ("i2", "u8", "f4", "?", object):
        with pytest.raises(ndfile.DTypeError):
            v.read(out=np.empty(SHAPE, dtype))
    with pytest.raises(ndfile.ShapeError, match=r"expected shape \(3, 5, 4\), found \(60,\)"):
        v.read(out=np.empty(60, "i4"))
    with pytest.raises(ndfile.ArgumentError):
        v.read(out=[0])
    frozen = np.zeros(SHAPE, "i4")
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        v.read(out=frozen)
    with pytest.raises(ndfile.MaskedError):
        file["masked"].read(out=np.empty(SHAPE, "i4"))
    with pytest.raises(ndfile.DTypeError):
        file["text"].read(out=np.empty(SHAPE, "i4"))
    with pytest.raises(ndfile.ArgumentError, match="name"):
        ndfile.read(file.path, out=np.empty(SHAPE))


@pytest.mark.parametrize("name", ["x.ds", "x.npy", "x.ra", "x.zarr", "masked.ds", "big.ds"])
def test_sparse_positions(tmp_path, name):
    """Few elements of a large array: lists along several axes, and points."""
    values = RANDOM.integers(0, 1 << 30, (300, 40, 50)).astype(">i4" if name == "big.ds" else "i4")
    if name == "masked.ds":
        values = np.ma.MaskedArray(values, mask=RANDOM.random(values.shape) < 0.3)
    path = tmp_path / name
    storage = {"format": "zarr2", "chunks": (70, 11, 50)} if name == "x.zarr" else {}
    ndfile.save(path, {"x": values} if name.endswith(".ds") else values, **storage)
    with ndfile.open(path) as f:
        v = f["x"] if name.endswith(".ds") else f.array
        rows, columns = RANDOM.integers(-300, 300, 9), RANDOM.choice(40, 5, replace=False)
        for key in [
            (rows, columns, slice(None)),
            (rows, slice(None), columns),
            (rows, 7, slice(3, 40, 9)),
            (slice(None, None, 60), columns, [49, 0]),
            (-1, rows % 40, [0, 49, 0]),
        ]:
            mesh = [np.r_[k] if not isinstance(k, slice) else np.arange(n)[k] for k, n in zip(key, v.shape)]
            kept = [i for i, k in enumerate(key) if not isinstance(k, int)]
            want = values[np.ix_(*mesh)].reshape([len(mesh[i]) for i in kept])
            same(v.oindex[key], want.astype("i4"))
        at = RANDOM.integers(-300, 300, (4, 1)), RANDOM.integers(0, 40, (1, 25)), -3
        same(v.vindex[at], values[at].astype("i4"))
        at = RANDOM.integers(0, 300, 1000), RANDOM.integers(0, 40, 1000), RANDOM.integers(0, 50, 1000)
        same(v.vindex[at], values[at].astype("i4"))
        for wrong in ([300], [0], [0]), ([-301], [0], [0]), ([0], [40], [0]):
            with pytest.raises(ndfile.BoundsError, match="out of bounds"):
                v.vindex[wrong]
            with pytest.raises(ndfile.BoundsError, match="out of bounds"):
                v.oindex[wrong]
