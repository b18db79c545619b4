"""Both directions against the real ds-format, with random datasets."""

import json
import os
import warnings

import ds_format
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support import same

import ndfile

warnings.simplefilter("ignore")

SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, max_side=5)
NUMBERS = st.sampled_from(
    [f"{o}{k}" for o in "<>" for k in ("i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8")] + ["i1", "u1"]
)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


def objects(elements, shape):
    n = int(np.prod(shape))

    def build(values):
        array = np.empty(n, object)
        array[:] = values
        return array.reshape(shape)

    return st.lists(elements, min_size=n, max_size=n).map(build)


@st.composite
def masked(draw, arrays):
    array = draw(arrays)
    return np.ma.MaskedArray(array, mask=draw(hnp.arrays(bool, array.shape)))


# ds-format turns scalars into the machine's byte order before it writes them
numbers = (
    st.tuples(NUMBERS, SHAPES).flatmap(lambda t: hnp.arrays(*t)).map(lambda a: a if a.ndim else native(a))
)
bools = SHAPES.flatmap(lambda s: hnp.arrays(bool, s))
# ds-format cannot take objects without axes
AXES = hnp.array_shapes(min_dims=1, max_dims=3, max_side=5)
texts = AXES.flatmap(lambda s: objects(TEXT, s))
byte_strings = AXES.flatmap(lambda s: objects(st.binary(max_size=6), s))
# the name "" means the dataset in ds-format's functions: it loses the metadata of such a variable
NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**80), 2**80) | st.floats() | TEXT,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(TEXT, v, max_size=3),
    max_leaves=6,
)
# attributes that begin with a dot are ds-format's own
ATTRS = st.dictionaries(TEXT.filter(lambda k: not k.startswith((".", "\\"))), VALUES, max_size=3)


@st.composite
def datasets(draw, *kinds):
    arrays = draw(st.dictionaries(NAMES, st.one_of(*kinds), max_size=4))
    dims = {}
    for i, (name, array) in enumerate(arrays.items()):
        if draw(st.booleans()):
            dims[name] = tuple(f"d{i}_{k}" for k in range(array.ndim))
    return arrays, dims, draw(ATTRS), {name: draw(ATTRS) for name in arrays if draw(st.booleans())}


def by_reference(path, arrays, dims, attrs, var_attrs):
    """Write a file with ds-format."""
    d = {".": {".": attrs}}
    for name, array in arrays.items():
        d[ds_format.escape(name)] = array
        meta = {".dims": list(dims[name])} if name in dims else {}
        d["."][ds_format.escape(name)] = {**meta, **var_attrs.get(name, {})}
    ds_format.write(path, d)


def bytes_of(path):
    with open(path, "rb") as f:
        return f.read()


def native(array):
    if isinstance(array, np.ma.MaskedArray):
        return array.astype(array.dtype.newbyteorder("=")) if np.ma.is_masked(array) else native(array.data)
    return array.astype(array.dtype.newbyteorder("="))


# What ds-format can write and read back: bool only in whole bytes, byte strings not as objects (it then counts
# the lengths of their repr), texts without a mask.
def whole_bytes(array):
    return array.size % 8 == 0


@given(datasets(numbers, masked(numbers.filter(lambda a: a.ndim > 0)), texts, bools.filter(whole_bytes)))
@example(({"x": np.zeros((2, 0))}, {}, {}, {}))
@example(({}, {}, {"nan": float("nan"), "inf": [float("-inf")], "big": 2**70}, {}))
def test_same_bytes(dataset):
    """What ds-format writes correctly we write byte for byte; bool gets .endian, which ds-format leaves out."""
    arrays, dims, attrs, var_attrs = dataset
    ndfile.save("ours.ds", arrays, dims=dims, attrs=attrs, var_attrs=var_attrs)
    by_reference("theirs.ds", *dataset)
    ours, theirs = bytes_of("ours.ds"), bytes_of("theirs.ds")
    if any(a.dtype == bool for a in arrays.values()):
        ours_header, theirs_header = (json.loads(b.split(b"\n")[1]) for b in (ours, theirs))
        for meta in ours_header.values():
            if meta.get(".type") == "bool":
                assert meta.pop(".endian") == "b"
        assert json.dumps(ours_header) == json.dumps(theirs_header)
        ours, theirs = (b.split(b"\n", 2)[2] for b in (ours, theirs))
    assert ours == theirs


@given(
    datasets(
        numbers,
        masked(numbers.filter(lambda a: a.ndim > 0)),
        bools,
        masked(bools),
        texts,
        byte_strings,
        masked(texts),
    )
)
def test_we_read_what_they_write(dataset):
    """Also what ds-format cannot read itself; the offsets that it gets wrong are put right, or refused."""
    arrays = {k: v for k, v in dataset[0].items() if not (v.ndim == 0 and np.ma.is_masked(v))}
    by_reference("theirs.ds", arrays, *dataset[1:])
    shifts = sum(
        1
        for a in arrays.values()
        if a.dtype == object and (np.ma.is_masked(a) or any(isinstance(x, bytes) for x in np.asarray(a).flat))
    )
    for name, array in arrays.items():
        try:
            found = ndfile.read("theirs.ds", name)
        except ndfile.CorruptError:
            assert shifts
            continue
        if array.dtype == object and found.dtype == object and array.size == 0:
            assert found.shape == array.shape
            continue
        want = native(array)
        if isinstance(want, np.ma.MaskedArray) and want.dtype == object and found.size:
            assert np.array_equal(found.mask, want.mask)
        same(found, want)
    info = ndfile.info("theirs.ds")
    assert list(info["arrays"]) == sorted(arrays)
    for name in arrays:
        assert info["arrays"][name]["dims"] == dataset[1].get(name)


@given(
    datasets(
        numbers, masked(numbers.filter(lambda a: a.ndim > 0)), texts, byte_strings, bools.filter(whole_bytes)
    )
)
def test_they_read_what_we_write(dataset):
    """ds-format shows empty arrays as None."""
    arrays, dims, attrs, var_attrs = dataset
    ndfile.save("ours.ds", arrays, dims=dims, attrs=attrs, var_attrs=var_attrs)
    d = ds_format.read("ours.ds")
    for name, array in arrays.items():
        found = d[ds_format.escape(name)]
        if array.size == 0:
            assert found is None
        elif array.ndim == 0:
            assert np.array_equal(np.asarray(found, array.dtype), array, equal_nan=array.dtype.kind == "f")
        else:
            same(native(found) if found.dtype != object else found, native(array))
        if name in dims:
            assert d["."][ds_format.escape(name)][".dims"] == list(dims[name])


@given(
    datasets(
        numbers,
        masked(numbers),
        bools,
        masked(bools),
        texts,
        byte_strings,
        masked(texts),
        masked(byte_strings),
    )
)
def test_round_trip(dataset):
    """Everything we write we read back; piece by piece through create too."""
    arrays, dims, attrs, var_attrs = dataset
    ndfile.save("once.ds", arrays, dims=dims, attrs=attrs, var_attrs=var_attrs)
    with ndfile.open("pieces.ds", "w", attrs=attrs) as f:
        for name, array in arrays.items():
            f.add(name, array, dims.get(name), var_attrs.get(name))
    assert bytes_of("once.ds") == bytes_of("pieces.ds")
    found = ndfile.read("once.ds")
    assert list(found) == sorted(arrays)
    for name, array in arrays.items():
        if array.dtype == object:
            array = array if np.ma.is_masked(array) else np.asarray(array)
        same(found[name], native(array))
    info = ndfile.info("once.ds")
    assert repr(info["attrs"]) == repr(attrs)
    for name in arrays:
        assert repr(info["arrays"][name]["attrs"]) == repr(var_attrs.get(name, {}))


def test_rows(tmp_path):
    """Blocks of rows give the same file as the whole, masks and texts included."""
    n = np.arange(35.0).reshape(7, 5)
    arrays = {
        "n": n,
        "m": np.ma.masked_where(n % 3 == 0, n),
        "b": np.ma.masked_where(n % 5 == 1, n % 2 == 0),
        "t": np.array([str(x) for x in range(7)], object),
    }
    ndfile.save("whole.ds", arrays)
    with ndfile.open("rows.ds", "w") as f:
        made = {
            k: f.create(k, a.shape, "str" if k == "t" else a.dtype, masked=np.ma.isMaskedArray(a))
            for k, a in arrays.items()
        }
        for rows in (slice(0, 3), slice(3, 4), slice(4, 7)):
            for k, a in arrays.items():
                made[k][rows] = a[rows]
    assert bytes_of("rows.ds") == bytes_of("whole.ds")


def test_no_data():
    """As in ds-format's dict, a variable without data is None."""
    ds_format.write(
        "none.ds",
        {"x": np.arange(3), ".": {"y": {"units": "m", ".type": "int16", ".dims": []}, ".": {}}, "y": None},
    )
    assert ds_format.read("none.ds")["y"] is None
    found = ndfile.read("none.ds")
    assert found["y"] is None
    assert found["x"].tolist() == [0, 1, 2]
    with pytest.raises(ndfile.NoDataError, match=r"none\.ds"):
        ndfile.read("none.ds", "y")
    assert ndfile.info("none.ds")["arrays"]["y"]["shape"] is None
    os.remove("none.ds")


def test_large_aligned(tmp_path):
    """The spaces that align a large body mean nothing to ds-format; the array can be mapped."""
    path = str(tmp_path / "large.ds")
    x = np.arange(200_000.0)
    ndfile.save(path, {"x": x, "y": x[:3]}, attrs={"title": "large"})
    with open(path, "rb") as f:
        f.readline()
        assert f.readline().endswith(b" \n")
        assert f.tell() % 64 == 0
    d = ds_format.read(path)
    assert (d["x"] == x).all() and (d["y"] == x[:3]).all() and ds_format.attr(d, "title") == "large"
    with ndfile.open(path) as f:
        assert (f["x"].map() == x).all()
