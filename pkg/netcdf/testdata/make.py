"""Makes the fixtures of this folder, with netCDF4-python: python make.py. README.md says which versions made them."""
import netCDF4
import numpy as np

for name, fmt in (("cdf1.nc", "NETCDF3_CLASSIC"), ("cdf2.nc", "NETCDF3_64BIT_OFFSET"), ("cdf5.nc", "NETCDF3_64BIT_DATA")):
    with netCDF4.Dataset(name, "w", format=fmt) as f:
        f.createDimension("time", None)
        f.createDimension("x", 3)
        f.title = "classic"
        f.createVariable("fixed", "i2", ("x",))[:] = [1, 2, 3]
        f.createVariable("record", "f8", ("time", "x"))[:2] = np.arange(6).reshape(2, 3)
        f.createVariable("flag", "i1", ("time",), fill_value=2)[:2] = np.ma.array([1, 0], mask=[False, True])

with netCDF4.Dataset("users.nc", "w") as f:
    f.createDimension("x", 2)
    pair = f.createCompoundType(np.dtype([("a", "i4"), ("b", "f8")]), "pair")
    f.createVariable("pairs", pair, ("x",))[:] = np.array([(1, 2.0), (3, 4.0)], pair.dtype)
    ragged = f.createVLType(np.int16, "ragged")
    v = f.createVariable("rows", ragged, ("x",))
    v[0], v[1] = np.array([1], "i2"), np.array([2, 3], "i2")
    colour = f.createEnumType(np.uint8, "colour", {"red": 1, "green": 2})
    f.createVariable("colours", colour, ("x",), fill_value=2)[:] = np.array([1, 2], "u1")
    f.createVariable("plain", "i4", ("x",))[:] = [5, 6]
