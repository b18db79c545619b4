"""Write fill.golden: what NumPy's ndarray.fill makes of the fill values of early zarr.

Run with the reference's NumPy (1.19.5 under Python 3.6, little endian). Columns, separated by tabs: dtype as
in __zmeta__, fill_value as JSON, the bytes of the element in hex or "error". Left out are conversions that C
does not define (floats outside of an integer's range), "today" and "now", long doubles, and years that do not
have four digits, and underscores between digits, which ndfile refuses.
"""
import json
import re
import warnings

import numpy as np

warnings.simplefilter("ignore")
NAN, INF = float("nan"), float("inf")
NUMBERS = [0, 1, -1, 5, 44, 127, 128, 255, 256, 300, -129, 32768, 65504, 65520, 2049, 2051, 16777217, 2**31 - 1, 2**31, 2**32, 2**53 + 1,
           2**63 - 1, -2**63, 2**63, 2**64 - 1, 2**64, -2**63 - 1, 2**70, 0.0, -0.0, 0.5, 1.5, 2.5, 4.7, -4.7, 300.7, 0.1, 1e-7, 6e-8, 2.9e-8,
           2.98023223876953125e-08, 65519.99, 65520.0, 1e16, 1e22, 1e300, -1e300, 1e400, 5e-324, 3.4028235677973366e38, NAN, INF, -INF]
TEXTS = ["", "0", "12", "-12", " 12 ", "+7", "300", "1e3", "4.7", "0x10", "nan", "NaN", "inf", "-Infinity", "infinity", "1e400", "abc",
         "ab\0c", "abcdefgh", "True", "\u00e9", "\u4e2d\U0001f600", "nat", "NaT", "2016", "2016-04", "2016-04-14", "1969-12-31", "2016-02-29",
         "2015-02-29", "2016-13-01", "2016-04-14T12", "2016-04-14 12:34", "2016-04-14T12:34:56", "2016-04-14T12:34:56.789",
         "1969-12-31T23:59:59.999999999", "2016-04-14T12:00Z", "2016-04-14T12:00+01:30", "2016-04-14T25", "9999-12-31", "1+2j", "(1+2j)", " -0-3.5j ", "2j",
         "nan+infj", "(1e300-1e-7j)", "(1+2j", "1+2i", "1 +2j"]
OTHERS = [True, False, [1, 2], [], [3]]
DTYPES = ["|b1", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8",
          "<c8", ">c16", "|S3", "|S1", "<U3", ">U2", "|V1", "|V6", "|V8", "|V11", "<M8[ns]", ">M8[s]", "<M8[25s]", "<M8[D]", "<M8[W]", "<M8[M]",
          "<M8[Y]", "<M8[as]", "<M8[m]", "<M8", "<m8[ns]", "<m8", [["a", "<i4"], ["b", ">f8"]], [["a", "|S3"], ["b", "|b1"], ["c", "<U2"]],
          [["x", [["y", "<u2"], ["z", "|V3"]]], ["t", "<M8[s]"]]]


def tuples(d):
    return d if isinstance(d, str) else [(name, tuples(of)) for name, of in d]


def leaves(d):
    return [d] if d.fields is None else [x for name in d.names for x in leaves(d.fields[name][0])]


def defined(d, v):
    for d in leaves(d):
        if isinstance(v, list) and d.kind == "V" and v:
            return False  # a sequence is a record to NumPy; not scalars in any case
        if isinstance(v, float) and d.kind in "iu":
            bound = 2.0**31 if d.itemsize < 4 or d.str[1:] == "i4" else 2.0**63
            if not (-bound <= v < bound or d.str[1:] == "u8" and bound <= v < 2 * bound):
                return False
        if isinstance(v, float) and d.kind in "mM" and not (v != v or -2.0**63 <= v < 2.0**63):
            return False
        if isinstance(v, str) and d.kind == "M":
            dated = re.match(r"\d{4}(-|$)", v)
            if not dated and re.search(r"\d", v):
                return False
            if dated and d.str.endswith(("[as]", "M8")) or v[:4] == "9999" and d.str.endswith("[ns]"):
                return False  # overflows
    return True


with open("fill.golden", "w") as out:
    for dtype in DTYPES:
        d = np.dtype(tuples(dtype))
        for v in NUMBERS + TEXTS + OTHERS:
            if not defined(d, v) or d.fields is not None and isinstance(v, list):
                continue
            a = np.zeros(1, d)
            try:
                a.fill(v)
                got = a.tobytes().hex()
            except Exception:
                got = "error"
            out.write("%s\t%s\t%s\n" % (json.dumps(dtype), json.dumps(v), got))
