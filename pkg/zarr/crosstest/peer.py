"""The side of the other zarr programs: answers requests on stdin, one line of JSON each, by one line of JSON.

  {"op": "read", "reader", "path", "version", "dtype", "shape", "expected"}
      reads a store whole and compares it with the file of expected bytes (C order, in the dtype):
      {"says": ""} when equal, else {"says": WHY}
  {"op": "decode", "chunks": [[path, path of the expected bytes], ...]}   numcodecs decodes each chunk: as above
  {"op": "write", "folder"}   writes stores of all kinds, lists them: {"stores": [{path, expected, dtype, shape, ...}]}
"""
import ctypes
import json
import os
import sys
import warnings

import numcodecs
import numpy as np
import tensorstore as ts
import zarr

PIPELINES = {
    "zarr-python": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
}


def dtype_of(name):
    def fields(d):
        return d if isinstance(d, str) else [(f[0], fields(f[1]), *map(tuple, f[2:])) for f in d]

    return np.dtype(fields(name))


def read_zarr(r):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        zarr.config.set({"codec_pipeline.path": PIPELINES[r["reader"]]})
        a = np.asarray(zarr.open_array(r["path"], mode="r")[...])
    for w in said:
        if "unsupported by ZarrsCodecPipeline" in str(w.message):
            raise ValueError(str(w.message))  # it would leave the work to zarr-python
    return a


def read_tensorstore(r):
    spec = {"driver": {2: "zarr", 3: "zarr3"}[r["version"]], "kvstore": {"driver": "file", "path": r["path"]}}
    d = dtype_of(r["dtype"])
    if r["version"] == 2 and d.names:
        out = np.empty(r["shape"], d)
        for name in d.names:
            out[name] = as_dtype(ts.open({**spec, "field": name}).result().read().result(), d[name], r["shape"])
        return out
    return as_dtype(ts.open(spec).result().read().result(), d, r["shape"])


def as_dtype(a, d, shape):
    """Strings and raw bytes come with an axis more, of elements that NumPy takes for zero bytes long."""
    if d.kind not in "SV" or d.names or a.dtype.itemsize:
        return a
    strides = np.cumprod((1,) + a.shape[:0:-1])[::-1]
    if a.strides != tuple(strides):
        raise ValueError("strides %s of shape %s" % (a.strides, a.shape))
    return np.frombuffer(ctypes.string_at(a.ctypes.data, int(np.prod(a.shape))), d).reshape(shape)


def read(r):
    d = dtype_of(r["dtype"])
    want = np.fromfile(r["expected"], d).reshape(r["shape"])
    got = (read_tensorstore if r["reader"] == "tensorstore" else read_zarr)(r)
    if got.shape != want.shape:
        return "differs: shape %s, want %s" % (got.shape, want.shape)
    if got.dtype.newbyteorder("=") != d.newbyteorder("="):
        return "differs: dtype %s, want %s" % (got.dtype, d)
    if got.astype(d).tobytes() != want.tobytes():
        return "differs: other values"
    return ""


def decode(r):
    for chunk, expected in r["chunks"]:
        with open(chunk, "rb") as f, open(expected, "rb") as g:
            if bytes(numcodecs.blosc.decompress(f.read())) != g.read():
                return "differs: " + chunk
    return ""


def samples():
    """Arrays of every dtype, with the fill value for a chunk that is not written."""
    rng = np.random.default_rng(8)
    for name in ("?", "i1", "u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", "<u8", "<f2", "<f4", ">f4", "<f8", ">f8", "<c8", "<c16"):
        a = (rng.standard_normal((23, 17)) * 40).round().astype("i1").astype(name)
        yield a, a.ravel()[5]
    yield rng.standard_normal((9, 11)).astype("<f4"), np.float32("nan")
    yield rng.standard_normal(30), -np.inf
    yield (rng.standard_normal(30) + 2j).astype("<c8"), np.complex64(complex(np.nan, -np.inf))
    yield np.array(3.25), 0.0
    yield np.arange(40).astype("<M8[ns]").reshape(8, 5), np.datetime64("NaT", "ns")
    yield np.arange(40).astype("<m8[25s]"), np.timedelta64(7, "25s")
    yield np.array([b"a", b"bcd", b"", b"12345"] * 6, "S5"), b"xy"
    yield np.array(["a", "\u00e9\u4e2d", "", "\U0001f600x"] * 6, "<U4"), "\u00e9"
    yield np.frombuffer(rng.bytes(6 * 20), "V6"), np.void(b"abcdef")
    rec = np.zeros(20, [("a", "<i4"), ("b", "<f8"), ("c", "S3")])
    rec["a"], rec["b"], rec["c"] = np.arange(20), rng.standard_normal(20), b"xy"
    yield rec, rec[3]
    nest = np.zeros(20, [("id", "<u2"), ("p", [("x", "<f4"), ("y", "<f4")])])
    nest["id"], nest["p"]["x"] = np.arange(20), rng.standard_normal(20)
    yield nest, None


def stores(a, fill):
    """Ways to store an array: (name, version, create), create gives something to assign to."""
    chunks = tuple(max(n // 3, 1) for n in a.shape)
    common = dict(shape=a.shape, chunks=chunks or "auto", dtype=a.dtype, fill_value=fill)
    kinds = [("lz4", 5, 1), ("zstd", 3, 2), ("blosclz", 9, 0), ("zlib", 1, 1), ("lz4hc", 5, 2)]
    cname, clevel, shuffle = kinds[len(a.tobytes()) % len(kinds)]
    blosc2 = numcodecs.Blosc(cname, clevel, shuffle)
    blosc3 = zarr.codecs.BloscCodec(cname=cname, clevel=clevel, shuffle=["noshuffle", "shuffle", "bitshuffle"][shuffle])
    for separator in "./":
        key = {"name": "v2", "separator": separator}
        yield "v2" + separator, 2, lambda p, k=key: zarr.create_array(p, zarr_format=2, compressors=blosc2, chunk_key_encoding=k, **common)
    yield "v2plain", 2, lambda p: zarr.create_array(p, zarr_format=2, compressors=None, **common)
    for encoding in ("default", "v2"):
        for separator in "./":
            key = {"name": encoding, "separator": separator}
            yield "v3%s%s" % (encoding, separator), 3, lambda p, k=key: zarr.create_array(
                p, zarr_format=3, compressors=blosc3, chunk_key_encoding=k, attributes={"a": [1, 2.5, None]}, **common)
    yield "v3plain", 3, lambda p: zarr.create_array(p, zarr_format=3, compressors=None, **common)
    if a.dtype.kind in "iuf" and a.dtype.itemsize > 1:
        big = zarr.codecs.BytesCodec(endian="big")
        yield "v3big", 3, lambda p: zarr.create_array(p, zarr_format=3, compressors=blosc3, serializer=big, **common)
    if a.dtype.kind in "biufc" and a.dtype.isnative:
        for version, driver in ((2, "zarr"), (3, "zarr3")):
            meta = {"compressor": {"id": "blosc", "cname": cname, "clevel": clevel, "shuffle": shuffle}} if version == 2 else {
                "codecs": [{"name": "blosc", "configuration": {"cname": cname, "clevel": clevel, "shuffle": "shuffle"}}]}
            if a.shape:
                meta.update({"chunks": chunks} if version == 2 else {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}}})
            yield "ts%d" % version, version, lambda p, d=driver, m=meta: ts.open(
                {"driver": d, "kvstore": {"driver": "file", "path": p}, "metadata": m}, create=True, dtype=a.dtype.type,
                shape=a.shape, fill_value=fill).result()


def write(r):
    out = []
    warnings.simplefilter("ignore")
    zarr.config.set({"codec_pipeline.path": PIPELINES["zarr-python"]})
    for n, (a, fill) in enumerate(samples()):
        for how, version, create in stores(a, fill):
            # zarr-python 3.1 forgets the byte order of big-endian arrays in version 3 metadata, but not of their data.
            name = "%02d_%s_%s" % (n, a.dtype.kind, how.replace("/", "slash").replace(".", "dot"))
            path = os.path.join(r["folder"], name)
            z = create(path)
            want = a.copy()
            part = a
            if a.ndim and fill is not None:
                cut = max(a.shape[0] // 3, 1)
                want[:cut], part = fill, a[cut:]
                z[cut:] = part
            else:
                z[...] = part
            if version == 3:
                order = ">" if how == "v3big" else "<"
                want = want.astype(want.dtype.newbyteorder(order)) if want.dtype.names is None else want
            expected = path + ".expected.bin"
            want.tofile(expected)
            dtype = want.dtype.descr if want.dtype.names else want.dtype.str
            out.append({"path": path, "expected": expected, "version": version, "dtype": json.dumps(dtype), "shape": list(want.shape)})
    return out


def main():
    for line in sys.stdin:
        r = json.loads(line)
        try:
            reply = {"stores": write(r)} if r["op"] == "write" else {"says": {"read": read, "decode": decode}[r["op"]](r)}
        except Exception as e:  # the test judges it
            if r["op"] == "write":
                raise
            reply = {"says": "%s: %s" % (type(e).__name__, e)}
        print(json.dumps(reply), flush=True)


main()
