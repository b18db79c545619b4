"""The netCDF4-python side of the test. Without LD_LIBRARY_PATH: the wheel has libraries of its own.

  peer.py write FORMAT PATH   writes a file in one of netCDF4's formats
  peer.py ds NC DS            compares the numbers of a file with what ds-format reads from its conversion
  peer.py dump PATH           prints a file as JSON: {"attrs": {...}, "vars": {name: {...}}}; groups are flattened
"""
import json
import sys

import netCDF4
import numpy as np

NUMBERS = ["i1", "i2", "i4", "f4", "f8"]
MORE = ["u1", "u2", "u4", "i8", "u8"]


def sample(dtype, shape, seed):
    """Numbers of all sizes; floats with NaN and infinities."""
    n = int(np.prod(shape))
    raw = np.random.default_rng(seed).integers(0, 256, n * np.dtype(dtype).itemsize, np.uint8)
    a = raw.view(dtype).copy()
    if a.dtype.kind == "f" and n > 4:
        a[:4] = [np.nan, np.inf, -np.inf, -0.0]
    return a.reshape(shape)


def fill(g, extended, seed):
    g.createDimension("time", None)
    g.createDimension("y", 4)
    g.createDimension("x", 5)
    g.createDimension("len", 7)
    g.title = "a title"
    g.history = "naïve\nsecond line"
    g.empty = ""
    g.number = np.float64(0.1)
    g.numbers = np.array([1, -2, 300], "i4")
    g.single = np.float32(0.1)
    for i, t in enumerate(NUMBERS + (MORE if extended else [])):
        g.createVariable(t, t, ("y", "x"))[:] = sample(t, (4, 5), seed + i)
        v = g.createVariable("record_" + t, t, ("time", "x"))
        v[:3] = sample(t, (3, 5), seed + 50 + i)
        v.units = "K"
        v.valid_range = np.array([0, 100], t)
        v = g.createVariable("filled_" + t, t, ("y", "x"), fill_value=np.array(7).astype(t))
        v.set_auto_mask(False)
        a = sample(t, (4, 5), seed + 100 + i)
        a[1, 2:4] = 7
        v.missing_value = np.array([8, 9], t)
        a[3, 0] = 9
        v[:] = a
        g.createVariable("scalar_" + t, t, ())[...] = sample(t, (1,), seed + 150 + i)[0]
    v = g.createVariable("nan", "f8", ("y",), fill_value=np.nan)
    v.set_auto_mask(False)
    v[:] = [1, np.nan, 3, np.nan]
    v = g.createVariable("packed", "i2", ("x",))
    v.set_auto_maskandscale(False)
    v.scale_factor, v.add_offset = 0.5, 10.0
    v[:] = [1, 2, 3, 4, -5]
    v = g.createVariable("names", "S1", ("y", "len"))
    v[:] = np.array([b"a", b"seven77", b"", b"\xff x"], "S7").view("S1").reshape(4, 7)
    g.createVariable("letter", "S1", ())[...] = b"q"
    g.createVariable("letters", "S1", ("x",))[:] = np.array(list("hello"), "S1")


def write(fmt, path):
    with netCDF4.Dataset(path, "w", format=fmt) as f:
        fill(f, fmt in ("NETCDF4", "NETCDF3_64BIT_DATA"), 0)
        if fmt != "NETCDF4":
            return
        f.texts = ["one", "zwö"]
        f.createVariable("strings", str, ("y",))[:] = np.array(["", "naïve", "😀", "long " * 50], object)
        f.createVariable("string", str, ())[...] = "alone"
        v = f.createVariable("chunked", "i4", ("y", "x", "time"), zlib=True, shuffle=True, chunksizes=(2, 3, 2))
        v[:] = sample("i4", (4, 5, 3), 7)
        v = f.createVariable("big", ">i4", ("x",), endian="big")
        v[:] = np.arange(5)
        e = f.createEnumType(np.uint8, "colour", {"red": 1, "green": 2})
        v = f.createVariable("enum", e, ("x",), fill_value=2)
        v.set_auto_mask(False)
        v[:] = np.array([1, 2, 1, 2, 2], "u1")
        b = f.createVariable("truth", "i1", ("x",))
        b.dtype_ = "x"
        b.setncattr("dtype", "bool")
        b[:] = [0, 1, 1, 0, 1]
        g = f.createGroup("a").createGroup("b")
        g.createDimension("y", 2)
        g.note = "in a group"
        g.createVariable("deep", "f8", ("y", "x"))[:] = sample("f8", (2, 5), 9)


def attribute(v):
    if isinstance(v, str):
        return v
    v = v.tolist() if hasattr(v, "tolist") else v
    return v


def variable(v):
    v.set_auto_maskandscale(False)
    v.set_auto_chartostring(False)
    attrs = {k: attribute(v.getncattr(k)) for k in v.ncattrs()}
    out = {"shape": list(v.shape), "dims": list(v.dimensions)}
    a = np.asarray(v[...])
    if v.dtype is str:
        out["dtype"], out["strings"] = "str", [str(s) for s in a.ravel().tolist()]
    elif a.dtype.kind == "S":
        n = v.shape[-1] if v.shape else 1
        out["dtype"], out["shape"], out["dims"] = "|S%d" % n, out["shape"][:-1], out["dims"][:-1]
        out["data"] = a.tobytes().hex()
    else:
        a = a.astype(a.dtype.newbyteorder("="))
        mask = np.zeros(a.shape, bool)
        for name in ("_FillValue", "missing_value"):
            for m in np.ravel(getattr(v, name, [])):
                mask |= np.isnan(a) if m != m else a == m
        a = np.where(mask, np.zeros((), a.dtype), a)
        out["dtype"] = a.dtype.str
        if attrs.get("dtype") == "bool" and a.dtype == np.int8:
            out["dtype"] = "|b1"
            del attrs["dtype"]
        out["data"], out["mask"] = a.tobytes().hex(), mask.tobytes().hex()
    out["attrs"] = attrs
    return out


def dump(g, prefix, out):
    for k in g.ncattrs():
        out["attrs"][prefix + k] = attribute(g.getncattr(k))
    for name, v in g.variables.items():
        out["vars"][prefix + name] = variable(v)
    for name, sub in g.groups.items():
        dump(sub, prefix + name + "/", out)
    return out


def compare(nc, converted):
    """Compare by ds-format; print how many variables are equal, or fail."""
    import ds_format

    read = ds_format.read(converted)
    with netCDF4.Dataset(nc) as d:
        for name, v in d.variables.items():
            want = variable(v)
            if "mask" not in want:
                continue
            a = np.ma.asarray(read[name])
            mask = np.broadcast_to(np.ma.getmaskarray(a), a.shape)
            data = np.where(mask, np.zeros((), a.dtype), a.data)
            assert a.shape == tuple(want["shape"]) and a.dtype.str == want["dtype"], (name, a.dtype, a.shape)
            assert mask.tobytes().hex() == want["mask"] and data.tobytes().hex() == want["data"], name
    print(len(d.variables))


if sys.argv[1] == "write":
    write(*sys.argv[2:])
elif sys.argv[1] == "ds":
    compare(*sys.argv[2:])
else:
    with netCDF4.Dataset(sys.argv[2]) as d:
        print(json.dumps(dump(d, "", {"attrs": {}, "vars": {}})))
