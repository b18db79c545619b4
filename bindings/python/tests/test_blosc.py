"""Blosc chunks, both ways, against the package blosc (c-blosc)."""

import pickle

import blosc as cblosc
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ndfile

CODECS = [c for c in ndfile.blosc.compressor_list() if c in cblosc.compressor_list()]


def test_codecs():
    assert {"blosclz", "lz4", "lz4hc", "zlib", "zstd"} <= set(CODECS)


@st.composite
def data(draw):
    n = draw(st.integers(0, 60_000))
    kind = draw(st.sampled_from(["zeros", "ramp", "noise", "text"]))
    if kind == "zeros":
        return bytes(n)
    if kind == "ramp":
        return np.arange(n // 4 + 1, dtype="<i4").tobytes()[:n]
    if kind == "noise":
        return np.random.default_rng(draw(st.integers(0, 99))).bytes(n)
    return (b"the quick brown fox " * (n // 20 + 1))[:n]


@settings(max_examples=150, deadline=None)
@given(
    data(),
    st.sampled_from(CODECS),
    st.integers(0, 9),
    st.integers(0, 2),
    st.integers(1, 255),
    st.integers(1, 2),
)
def test_both_ways(raw, codec, level, shuffle, typesize, threads):
    ours = ndfile.blosc.compress(raw, typesize, level, shuffle, codec, nthreads=threads)
    assert (cblosc.decompress(ours) if raw else b"") == raw
    assert ndfile.blosc.get_cbuffer_sizes(ours)[:2] == (len(raw), len(ours))
    if raw:
        theirs = cblosc.compress(raw, typesize, level, shuffle, codec)
        assert ndfile.blosc.decompress(theirs, nthreads=threads) == raw
        assert ndfile.blosc.info(theirs)[:2] == (len(raw), len(theirs))
        assert tuple(ndfile.blosc.get_cbuffer_sizes(theirs)) == tuple(cblosc.get_cbuffer_sizes(theirs))


def test_kinds_of_input():
    array = np.arange(100.0)
    chunk = ndfile.blosc.compress(array)
    for given_as in (chunk, bytearray(chunk), memoryview(chunk), np.frombuffer(chunk, np.uint8)):
        assert ndfile.blosc.decompress(given_as) == array.tobytes()
    result = ndfile.blosc.decompress(chunk, as_bytearray=True)
    assert isinstance(result, bytearray) and result == array.tobytes()
    assert ndfile.blosc.decompress(ndfile.blosc.compress(b"")) == b""


def test_errors():
    chunk = ndfile.blosc.compress(bytes(range(256)) * 100, cname="zlib")
    with pytest.raises(ndfile.CorruptError, match="byte"):
        ndfile.blosc.decompress(chunk[:-1])
    with pytest.raises(ndfile.CorruptError):
        ndfile.blosc.decompress(b"")
    with pytest.raises(NotImplementedError):
        ndfile.blosc.info(b"\5" + chunk[1:])
    for name, value in (
        ("cname", "nosuch"),
        ("clevel", 10),
        ("shuffle", 3),
        ("typesize", 0),
        ("typesize", 256),
    ):
        with pytest.raises(ValueError, match=str(value)):
            ndfile.blosc.compress(b"abc", **{name: value})


NAMES = [
    n for n in dir(cblosc) if n[0] != "_" and type(getattr(cblosc, n)).__name__ != "module" and n != "test"
]


def test_names():
    assert len(NAMES) > 40
    assert [n for n in NAMES if not hasattr(ndfile.blosc, n)] == []
    for name in (
        "MAX_BUFFERSIZE",
        "MAX_TYPESIZE",
        "MAX_THREADS",
        "NOSHUFFLE",
        "SHUFFLE",
        "BITSHUFFLE",
        "filters",
    ):
        assert getattr(ndfile.blosc, name) == getattr(cblosc, name)
    for codec in CODECS:
        assert ndfile.blosc.name_to_code(codec) == cblosc.name_to_code(codec)
        assert ndfile.blosc.cname2clib[codec] == cblosc.cname2clib[codec]
        assert ndfile.blosc.get_clib(cblosc.compress(b"x" * 99, 1, cname=codec)) == cblosc.cname2clib[codec]
        assert ndfile.blosc.code_to_name(ndfile.blosc.name_to_code(codec)) == codec


@pytest.mark.parametrize(
    "array",
    [
        np.arange(5000, dtype=">u4").reshape(50, 100),
        np.arange(90).astype("M8[s]").reshape(9, 10)[::2, ::-1],
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.array(["å", "π"]),
        np.array([(1, 2.5)], dtype=[("a", "i2"), ("b", "f8")]),
        np.array(3.5),
        np.zeros((0, 3), "c8"),
    ],
    ids=lambda a: str(a.dtype),
)
def test_packed_arrays(array):
    for pack, unpack in (
        (ndfile.blosc.pack_array, cblosc.unpack_array),
        (cblosc.pack_array, ndfile.blosc.unpack_array),
        (ndfile.blosc.pack_array, ndfile.blosc.unpack_array),
    ):
        again = unpack(pack(array, 5, cname="lz4"))
        assert again.dtype == array.dtype
        assert np.array_equal(again, array)


def test_pickles_run_nothing():
    class Runs:
        def __reduce__(self):
            return print, ("the pickle runs this",)

    packed = ndfile.blosc.compress(pickle.dumps(Runs()))
    with pytest.raises(ndfile.NotSupportedError, match="allow_pickle"):
        ndfile.blosc.unpack_array(packed)
    assert ndfile.blosc.unpack_array(packed, allow_pickle=True) is None
    with pytest.raises(ndfile.CorruptError):
        ndfile.blosc.unpack_array(ndfile.blosc.compress(b"no pickle"))
    for refuse in (ndfile.blosc.pack_array, ndfile.blosc.compress):
        with pytest.raises(TypeError, match="objects"):
            refuse(np.array([None, 1]))
    dates = np.arange(30).astype("M8[s]")
    assert ndfile.blosc.decompress(ndfile.blosc.compress(dates)) == dates.tobytes()


def test_settings():
    old = ndfile.blosc.set_nthreads(3)
    try:
        assert old == min(ndfile.blosc.ncores, 8)
        assert ndfile.blosc.nthreads == 3
        raw = np.arange(1 << 20, dtype="u4")
        assert ndfile.blosc.decompress(ndfile.blosc.compress(raw, 4)) == raw.tobytes()
        ndfile.blosc.set_blocksize(1 << 14)
        cblosc.set_blocksize(1 << 14)
        assert ndfile.blosc.get_blocksize() == cblosc.get_blocksize()
        ours, theirs = (module.compress(raw.tobytes(), 4, 1) for module in (ndfile.blosc, cblosc))
        assert ndfile.blosc.get_cbuffer_sizes(ours)[2] == cblosc.get_cbuffer_sizes(theirs)[2] == 1 << 16
    finally:
        ndfile.blosc.set_blocksize(0)
        cblosc.set_blocksize(0)
        assert ndfile.blosc.set_nthreads(old) == 3
    assert ndfile.blosc.set_releasegil(True) is False
    assert ndfile.blosc.set_releasegil(False) is True


def test_pointers():
    raw = np.arange(1000.0)
    chunk = ndfile.blosc.compress_ptr(raw.ctypes.data, raw.size, raw.itemsize)
    assert cblosc.decompress(chunk) == raw.tobytes()
    out = np.empty_like(raw)
    assert ndfile.blosc.decompress_ptr(chunk, out.ctypes.data) == raw.nbytes
    assert np.array_equal(out, raw)


MISTAKES = [
    ("compress", (1.0, 1), {}),
    ("compress", (["abc"], 1), {}),
    ("compress", ("abc",), {}),
    ("compress", ("abc",), {"cname": "foo"}),
    ("compress", (b"abc",), {"typesize": 0}),
    ("compress", (b"abc",), {"clevel": 10}),
    ("compress", (b"abc",), {"shuffle": 5}),
    ("compress", (np.arange(20).reshape(4, 5)[:, ::2],), {}),
    ("decompress", (1.0,), {}),
    ("decompress_ptr", (b"x" * 20, 1.0), {}),
    ("compress_ptr", (1.0, 3), {}),
    ("compress_ptr", (1, -1), {}),
    ("compress_ptr", (1, 2**31), {}),
    ("pack_array", ("abc",), {}),
    ("pack_array", (np.zeros(1),), {"clevel": -1}),
    ("unpack_array", (1.0,), {}),
    ("set_nthreads", (257,), {}),
    ("set_nthreads", ("a",), {}),
    ("get_clib", (bytearray(30),), {}),
    ("cbuffer_validate", (3,), {}),
]


@pytest.mark.parametrize(("name", "args", "options"), MISTAKES)
def test_mistakes(name, args, options):
    with pytest.raises((TypeError, ValueError)) as theirs:
        getattr(cblosc, name)(*args, **options)
    with pytest.raises(theirs.type):
        getattr(ndfile.blosc, name)(*args, **options)
