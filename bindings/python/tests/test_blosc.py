"""Blosc chunks, both ways, against the package blosc (c-blosc)."""

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
