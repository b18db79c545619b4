"""Chunks of several extents along an axis: the grid "rectilinear" of Zarr 3, written here from its specification."""

import itertools
import json
import random
import zlib

import numpy as np
import pytest

import ndfile

BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
GZIP = {"name": "gzip", "configuration": {"level": 1}}
TRANSPOSE = {"name": "transpose", "configuration": {"order": [1, 0]}}
SHARD = {
    "name": "sharding_indexed",
    "configuration": {"chunk_shape": [1, 2], "codecs": [BYTES], "index_codecs": [BYTES]},
}


def document(shape, chunk_shapes, codecs=(BYTES,), dtype="int32", fill=-1):
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": dtype,
        "chunk_grid": {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": chunk_shapes},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": fill,
        "codecs": list(codecs),
    }


def shard(x):
    """A shard of inner chunks of 1 x 2: they and, behind them, the index."""
    inner = [x[i : i + 1, j : j + 2].tobytes() for i in range(x.shape[0]) for j in range(0, x.shape[1], 2)]
    at = np.cumsum([0] + [len(b) for b in inner[:-1]])
    index = np.array([(a, len(b)) for a, b in zip(at, inner)], "<u8")
    return b"".join(inner) + index.tobytes()


ENCODED = {
    "bytes": ([BYTES], lambda x: x.tobytes()),
    "gzip": (
        [BYTES, GZIP],
        lambda x: (c := zlib.compressobj(1, zlib.DEFLATED, 31)).compress(x.tobytes()) + c.flush(),
    ),
    "transpose": ([TRANSPOSE, BYTES], lambda x: x.T.tobytes()),
    "shards": ([SHARD], shard),
}


def store(path, x, edges, chunk_shapes, codec="bytes", missing=()):
    codecs, encode = ENCODED[codec]
    path.mkdir(parents=True)
    (path / "zarr.json").write_text(json.dumps(document(x.shape, chunk_shapes, codecs)))
    starts = [np.cumsum([0] + e) for e in edges]
    padded = np.full([sum(e) for e in edges], 99, x.dtype)
    padded[tuple(map(slice, x.shape))] = x
    for index in itertools.product(*(range(len(e)) for e in edges)):
        begin = [int(s[i]) for s, i in zip(starts, index)]
        if index in missing or any(b >= n for b, n in zip(begin, x.shape)):
            continue
        chunk = padded[tuple(slice(b, b + e[i]) for b, e, i in zip(begin, edges, index))]
        file = path.joinpath("c", *map(str, index))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encode(np.ascontiguousarray(chunk)))


def expanded(item):
    return [e for i in item for e in ([i] if isinstance(i, int) else [i[0]] * i[1])]


MONTHS = [31, 28, [31, 1], 30, 31, 30, [31, 2], 30, 31, 30, 31]


@pytest.mark.parametrize("codec", ENCODED)
def test_read(tmp_path, codec):
    chunk_shapes = [MONTHS, [[4, 2], 2, 6, [2, 3]]]
    x = np.arange(365 * 21, dtype="<i4").reshape(365, 21)
    store(tmp_path / "x.zarr", x, [expanded(c) for c in chunk_shapes], chunk_shapes, codec, missing={(3, 1)})
    x[90:120, 4:8] = -1
    pick = random.Random(7)
    with ndfile.open(tmp_path / "x.zarr") as f:
        a = f.array
        assert a.shape == x.shape and a.chunks is None
        assert np.array_equal(a[...], x)
        for _ in range(150):
            at = []
            for n in x.shape:
                i, j = sorted(pick.choices(range(n + 1), k=2))
                at.append(slice(i, j, pick.choice([1, 1, 2, 5, 17, 40])))
            assert np.array_equal(a[tuple(at)], x[tuple(at)]), at
        assert a[364, 20] == x[364, 20]


def test_mixed_with_one_extent_for_all(tmp_path):
    x = np.arange(7 * 10, dtype="<i4").reshape(7, 10)
    store(tmp_path / "x.zarr", x, [[3, 3, 3], [4, 4, 2]], [3, [[4, 2], 2]])
    assert np.array_equal(ndfile.read(tmp_path / "x.zarr"), x)


def test_one_extent_on_each_axis_is_a_regular_grid(tmp_path):
    x = np.arange(7 * 10, dtype="<i4").reshape(7, 10)
    store(tmp_path / "x.zarr", x, [[3, 3, 3], [4, 4, 4]], [3, 4])
    with ndfile.open(tmp_path / "x.zarr", "r+") as f:
        assert f.array.chunks == (3, 4)
        f.array[2:5, 3] = 1000
        x[2:5, 3] = 1000
    assert np.array_equal(ndfile.read(tmp_path / "x.zarr"), x)


def test_only_read(tmp_path):
    x = np.arange(12, dtype="<i4").reshape(6, 2)
    store(tmp_path / "x.zarr", x, [[2, 4], [2]], [[2, 4], [2]])
    with ndfile.open(tmp_path / "x.zarr", "r+") as f:
        with pytest.raises(ndfile.NotSupportedError, match="rectilinear"):
            f.array[0] = 5
        with pytest.raises(ndfile.NdfileError):
            f.array.resize((7, 2))
        with pytest.raises(ndfile.NdfileError):
            f.array.append(x)
    assert np.array_equal(ndfile.read(tmp_path / "x.zarr"), x)


@pytest.mark.parametrize("codec", ENCODED)
@pytest.mark.parametrize("format", ["zarr3", "npy", "ds"])
def test_converted(tmp_path, codec, format):
    x = np.arange(12, dtype="<i4").reshape(6, 2)
    store(tmp_path / "x.zarr", x, [[2, 4], [2]], [[2, 4], [2]], codec)
    ndfile.convert(tmp_path / "x.zarr", tmp_path / "y", format=format, allow_loss=True)
    y = ndfile.read(tmp_path / "y")
    assert np.array_equal(y["data"] if format == "ds" else y, x)


def test_in_a_group_that_is_renamed(tmp_path):
    x = np.arange(12, dtype="<i4").reshape(6, 2)
    store(tmp_path / "g" / "a", x, [[2, 4], [2]], [[2, 4], [2]])
    (tmp_path / "g" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    with ndfile.open(tmp_path / "g", "r+") as f:
        assert np.array_equal(f["a"][...], x)
        f.rename("a", "b")
        assert np.array_equal(f["b"][...], x)


def test_verify(tmp_path):
    x = np.arange(12, dtype="<i4").reshape(6, 2)
    store(tmp_path / "x.zarr", x, [[2, 4], [2]], [[2, 4], [2]])
    assert not ndfile.verify(tmp_path / "x.zarr")
    chunk = tmp_path / "x.zarr" / "c" / "1" / "0"
    chunk.write_bytes(chunk.read_bytes()[:16])  # as long as chunk 0: each has its own size
    found = ndfile.verify(tmp_path / "x.zarr")
    assert len(found) == 1 and "32" in str(found[0])
    with pytest.raises(ndfile.CorruptError, match="expected 32"):
        ndfile.read(tmp_path / "x.zarr")


def test_many_chunks_are_not_listed(tmp_path):
    path = tmp_path / "x.zarr"
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps(document([1 << 58], [[[1, 1 << 57], 7, [2, 1 << 60]]])))
    with ndfile.open(path) as f:
        assert f.array[(1 << 57) - 2 : (1 << 57) + 30].tolist() == [-1] * 32


@pytest.mark.parametrize(
    ("chunk_shapes", "error", "says"),
    [
        ([[2, 3], 2], ndfile.CorruptError, "6 elements of axis 0"),  # the sum is smaller than the shape
        ([[6, 0], 2], ndfile.CorruptError, "1 or more"),
        ([[[6, 0]], 2], ndfile.CorruptError, "1 or more"),
        ([[-1, 7], 2], ndfile.CorruptError, "1 or more"),
        ([0, 2], ndfile.CorruptError, "1 or more"),
        ([[[1 << 40, 1 << 40]], 2], ndfile.CorruptError, "2\\^63"),
        ([[(1 << 63) - 1, 1], 2], ndfile.CorruptError, "2\\^63"),
        ([[1 << 64], 2], ndfile.CorruptError, "1 or more"),
        ([[[2, 3, 1]], 2], ndfile.CorruptError, "count"),
        ([[], 2], ndfile.CorruptError, "axis 0"),
        (["6", 2], ndfile.CorruptError, "axis 0"),
        ([6], ndfile.CorruptError, "2 axes"),
        (6, ndfile.CorruptError, "2 axes"),
        ([[1 << 32], 2], ndfile.LimitError, "bytes a chunk"),
    ],
)
def test_malformed(tmp_path, chunk_shapes, error, says):
    (tmp_path / "zarr.json").write_text(json.dumps(document([6, 2], chunk_shapes)))
    with pytest.raises(error, match=says):
        ndfile.open(tmp_path)


def test_codecs_that_do_not_fit_every_chunk(tmp_path):
    (tmp_path / "zarr.json").write_text(json.dumps(document([6, 7], [6, [3, 4]], [SHARD])))
    with pytest.raises(ndfile.CorruptError, match="sharding_indexed"):
        ndfile.read(tmp_path)


def test_kind(tmp_path):
    d = document([6], [[6]])
    d["chunk_grid"]["configuration"]["kind"] = "external"
    (tmp_path / "zarr.json").write_text(json.dumps(d))
    with pytest.raises(ndfile.NotSupportedError, match="external"):
        ndfile.open(tmp_path)
