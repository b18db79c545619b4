"""Reads the file that "ndfile demo" writes, and writes another. usage: demo.py IN OUT"""

import sys

import ndfile

source, target = sys.argv[1:]

with ndfile.open(source) as f:
    print(f.format, f.kind, dict(f.attrs))
    t = f["temperature"]
    print("temperature", t.dtype, t.shape, t.dims, dict(t.attrs))
    print("last day:", t[:, -1])

arrays = ndfile.read(source)
celsius = arrays["temperature"] - 273.15
ndfile.save(
    target,
    {"celsius": celsius.round(2), "station": arrays["station"]},
    dims={"celsius": ("station", "time"), "station": ("station",)},
    var_attrs={"celsius": {"units": "degree_Celsius"}},
)
print("wrote", sorted(ndfile.read(target)))
