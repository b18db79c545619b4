"""Reads the file that "ndfile demo" writes, and writes another. usage: demo.py IN OUT"""

import sys

import numpy as np

import ndfile

source, target = sys.argv[1:]

with ndfile.open(source) as f:
    print(f.format, f.kind, dict(f.attrs))
    t = f["temperature"]
    print("temperature", t.dtype, t.shape, t.dims, dict(t.attrs))
    print("last day:", t[:, -1])

arrays = ndfile.read(source)
celsius = arrays["temperature"] - 273.15

lat, lon = np.linspace(-88, 88, 45), np.linspace(0, 355, 72)
y, x = np.radians(lat)[:, None], np.radians(lon)
warm = 32 * np.cos(y) ** 1.5 - 5 + 4 * np.cos(2 * x + 3 * y) * np.sin(2 * y) ** 2

ndfile.save(
    target,
    {
        "celsius": celsius.round(2),
        "station": arrays["station"],
        "sst": np.ma.masked_less(warm, -2),  # a map with a gap where there is ice
        "lat": lat,
        "lon": lon,
    },
    dims={
        "celsius": ("station", "time"),
        "station": ("station",),
        "sst": ("lat", "lon"),
        "lat": ("lat",),
        "lon": ("lon",),
    },
    var_attrs={
        "celsius": {"units": "degree_Celsius"},
        "sst": {"units": "degree_Celsius", "long_name": "sea surface temperature"},
        "lat": {"units": "degrees_north"},
        "lon": {"units": "degrees_east"},
    },
)
print("wrote", sorted(ndfile.read(target)))
