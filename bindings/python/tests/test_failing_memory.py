"""Every request for large memory fails once, alone or with all that follow: an error each time, and no process dies.

The library shares three numbers with the test by a file that NDFILE_TEST_MEMORY names: how many requests there
were, which one fails, and whether those behind it do too.
"""

import os
import struct
import subprocess
import sys

import pytest

CHILD = """
import mmap, os, shutil, struct, sys
import numpy as np
import ndfile

kind, most = sys.argv[1], int(sys.argv[2])
shared = mmap.mmap(os.open(os.environ["NDFILE_TEST_MEMORY"], os.O_RDWR), 24)

def attempt(do, first, onwards=0):
    struct.pack_into("3q", shared, 0, 0, first, onwards)
    try:
        do()
        return ""
    except ndfile.NoMemoryError as e:
        return str(e) or "no message"
    finally:
        seen[0] = struct.unpack_from("q", shared)[0]
        struct.pack_into("3q", shared, 0, 0, 0, 0)

seen, tried, failed = [0], 0, 0

def each(what, do, must=True):
    "Do it again and again, each time another request fails."
    global tried, failed
    assert attempt(do, 0) == ""
    n = seen[0]
    assert n > 0 or not must, what + " asks for no large memory"
    places = range(1, n + 1) if n <= most else sorted({1 + i * (n - 1) // (most - 1) for i in range(most)})
    for onwards in 0, 1:
        for first in places:
            tried += 1
            said = attempt(do, first, onwards)
            failed += said != ""
            # one that is missing can be done without; if all are missing, that must be told
            assert said or not onwards or first > 1 or not must, f"{what}: nothing failed"
    assert attempt(do, 0) == "", what + " afterwards"

N = 3 << 17
values = np.arange(N, dtype="<f8")
words = np.array([f"text {i % 999}" * 4 for i in range(1 << 16)], object)
masked = np.ma.masked_array(values.astype("<i4"), values % 7 == 0)

def some(a):
    n = a.shape[0]
    a[: n // 2], a[:: 3], a[n - 1 :: -2], a[[0, n // 3, n - 1]]

def reductions(a):
    a.sum(), a.mean(), a.min(), a.max(), a.count()

def once(format, data):
    path = "f." + format
    options = {"format": format}
    each(f"save {format}", lambda: ndfile.save(path, data, **options), must=format not in ("npy", "rawarray", "ds", "netcdf"))
    each(f"read {format}", lambda: ndfile.read(path), must=False)
    each(f"verify {format}", lambda: ndfile.verify(path), must=False)
    for target in ("zarr3", "ds", "npy")[: 2 if list(data)[0] == "t" else 3]:
        each(f"convert {format} to {target}", lambda: ndfile.convert(path, "c." + target, target, allow_loss=True, overwrite=True), must=False)
    with ndfile.open(path) as f:
        a = f[next(iter(f))]
        each(f"slices of {format}", lambda: some(a), must=False)
        if a.dtype.kind in "if":
            each(f"reductions of {format}", lambda: reductions(a), must=False)

def chunked(format, data):
    path = "g." + format
    def create():
        shutil.rmtree(path, ignore_errors=True)
        ndfile.save(path, data, format=format, chunks=(len(data) // 3 + 5,))
    each(f"save {format}", create)
    each(f"read {format}", lambda: ndfile.read(path))
    each(f"verify {format}", lambda: ndfile.verify(path))
    with ndfile.open(path) as f:
        a = f[next(iter(f))]
        each(f"slices of {format}", lambda: some(a), must=False)
        if a.dtype.kind in "if":
            each(f"reductions of {format}", lambda: reductions(a), must=False)
    for target in ("zarr2", "zarr3", "bcolz")[: 2 if data.dtype == object else 3]:
        each(f"convert {format} to {target}", lambda: ndfile.convert(path, "c." + target, target, allow_loss=True, overwrite=True), must=False)
    def change(what, do):
        def changed():
            create()
            with ndfile.open(path, "r+") as f:
                do(f[next(iter(f))])
        each(f"{what} {format}", changed)
    create()
    if data.dtype != object:
        change("append to", lambda a: a.append(data[: len(data) // 2]))
    change("write to", lambda a: a.__setitem__(slice(5, len(data) - 7), data[5 : len(data) - 7]))
    change("resize", lambda a: a.resize((len(data) // 2,)))

def blosc():
    b = ndfile.blosc
    raw = values.tobytes()
    for cname in b.compressor_list():
        packed = b.compress(raw, typesize=8, cname=cname)
        each("compress by " + cname, lambda: b.compress(raw, typesize=8, cname=cname), must=False)
        each("decompress by " + cname, lambda: b.decompress(packed), must=False)
        assert b.decompress(packed) == raw
    array = b.pack_array(values)
    each("pack_array", lambda: b.pack_array(values), must=False)
    each("unpack_array", lambda: b.unpack_array(array), must=False)

def many():
    paths = [f"many{i}.npy" for i in range(3)]
    each("save_many", lambda: ndfile.save_many(paths, [values] * 3), must=False)
    each("read_many", lambda: ndfile.read_many(paths), must=False)
    both = {"a": values, "b": values[::-1]}
    each("savez", lambda: ndfile.save("f.npz", both), must=False)
    each("read npz", lambda: ndfile.read("f.npz"), must=False)
    each("verify npz", lambda: ndfile.verify("f.npz"), must=False)
    each("convert npz", lambda: ndfile.convert("f.npz", "n.ds", overwrite=True), must=False)

def table():
    columns = {"x": values, "y": masked.filled(0), "s": np.array([b"abc", b"de"] * (N // 2))}
    def create():
        shutil.rmtree("t.bcolz", ignore_errors=True)
        with ndfile.open("t.bcolz", "w", format="bcolz") as f:
            for name, c in columns.items():
                f.create(name, c.shape, c.dtype, chunks=(N // 4,))[...] = c
    each("create a table", create)
    def append():
        create()
        with ndfile.open("t.bcolz", "r+") as f:
            f.append({k: c[:9999] for k, c in columns.items()})
    each("append rows", append)
    create()
    with ndfile.open("t.bcolz") as f:
        each("rows", lambda: f[:: 2], must=False)
        each("where of rows", lambda: (f.where("x > 100"), f.where_rows("x > 100"), f.read(range(0, N, 2), ["x", "s"])), must=False)
    parts = {"p1.bcolz": N // 4, "p2.bcolz": N - N // 4}
    each("split", lambda: ndfile.split("t.bcolz", parts), must=False)
    each("concat", lambda: ndfile.concat(list(parts), "all.bcolz"), must=False)
    metadata = {"list": list(range(1 << 19))}
    def attrs():
        ndfile.save("m.zarr", values[:3], format="zarr3", attrs=metadata)
    each("save long attributes", attrs, must=False)
    def reading():
        with ndfile.open("m.zarr") as f:
            return len(f.attrs["list"])
    each("read long attributes", reading)

jobs = {"once": lambda: [once(f, {"v": values}) for f in ("ds", "netcdf")] + [once(f, values) for f in ("npy", "rawarray")] + [once("ds", {"m": masked}), once("ds", {"t": words})],
        "zarr": lambda: [chunked(f, values) for f in ("zarr2", "zarr3")],
        "zarr0 and bcolz": lambda: [chunked(f, values) for f in ("zarr0", "bcolz")],
        "texts": lambda: [chunked("zarr3", words)], "blosc": blosc, "many": many, "table": table}
jobs[kind]()
print("done", tried, failed)
"""


@pytest.mark.parametrize("kind", ["once", "zarr", "zarr0 and bcolz", "texts", "blosc", "many", "table"])
def test_every_request_fails(tmp_path, kind):
    shared = tmp_path / "shared"
    shared.write_bytes(struct.pack("3q", 0, 0, 0))
    most = "1000" if os.environ.get("NDFILE_TORTURE") else "4"
    done = subprocess.run(
        [sys.executable, "-c", CHILD, kind, most],
        cwd=tmp_path,
        env={**os.environ, "NDFILE_TEST_MEMORY": str(shared)},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stderr[-3000:]}"
    said, tried, failed = done.stdout.split()
    assert said == "done" and int(failed) > 0, done.stdout
    print(f"{kind}: {failed} of {tried} failed")
