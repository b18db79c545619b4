# Fill values as zarr-python 3.1.6 spells them in .zarray and zarr.json, with their bytes in the array's dtype.
# Usage: python fill23.py > fill23.golden       lines: version, dtype, JSON, hex
import json
import math
import warnings

import numpy as np
from zarr.core.dtype import get_data_type_from_native_dtype

warnings.simplefilter("ignore")

INTS = [0, 1, -1, 42, 127, -128, 255, 32767, -32768, 65535, 2**31 - 1, -(2**31), 2**32 - 1, 2**63 - 1, -(2**63), 2**64 - 1]
FLOATS = [0.0, -0.0, 1.0, -2.5, 0.1, 1e-3, 1e-7, 65504.0, 1e10, 1e22, 1.5e300, 5e-324, math.inf, -math.inf, math.nan]


def scalars(d):
    if d.names:
        yield np.zeros((), d)
        yield np.frombuffer(bytes(range(65, 65 + d.itemsize)), d)[0]
    elif d.kind == "b":
        yield from (False, True)
    elif d.kind in "iu":
        info = np.iinfo(d)
        yield from (i for i in INTS if info.min <= i <= info.max)
    elif d.kind == "f":
        yield from FLOATS
    elif d.kind == "c":
        yield from (complex(a, b) for a in FLOATS[:5] + FLOATS[-3:] for b in (0.0, 3.5, math.nan, -math.inf))
    elif d.kind in "mM":
        yield from (np.array(i, "i8").view(d.newbyteorder("=")) for i in INTS if -(2**63) <= i < 2**63)
    elif d.kind == "S":
        yield from (b"", b"a", b"a\x00b", b"\xff\xfe", b"12345")
    elif d.kind == "U":
        yield from ("", "a", "\u00e9\u4e2d", "\U0001f600", "a\x00b", 'q"\\')
    elif d.kind == "V":
        yield from (np.void(bytes(d.itemsize)), np.void(bytes(range(250, 250 + d.itemsize))))


TYPES = ["|b1", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8",
         "<c8", ">c8", "<c16", "<M8[ns]", ">M8[s]", "<M8[25s]", "<m8[D]", "<m8", "|S5", "<U3", ">U3", "|V6",
         [("a", "<i4"), ("b", "<f8"), ("c", "S3")], [("a", "<u2"), ("b", [("x", "<f4")])]]
for version in (2, 3):
    for t in TYPES:
        d = np.dtype(t)
        z = get_data_type_from_native_dtype(d)
        for s in scalars(d):
            with np.errstate(all="ignore"):
                a = np.array(s, d.newbyteorder("=") if not d.names else d).astype(d)
            text = json.dumps(z.to_json_scalar(a[()], zarr_format=version))
            print(version, json.dumps(d.descr if d.names else d.str), text, a.tobytes().hex(), sep="\t")
