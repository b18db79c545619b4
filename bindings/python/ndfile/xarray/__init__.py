"""xarray: files of this library as `xarray.Dataset`, and back.

The engine ``"ndfile"`` is known to xarray where the package is installed::

    ds = xr.open_dataset("weather.ds")  # ds, bcolz, early zarr, RawArray, npy and npz need no engine=
    ds = xr.open_dataset("group.zarr", engine="ndfile")  # nor do NetCDF and zarr 2 and 3 where no other
    ds = xr.open_mfdataset("runs/*.ds", engine="ndfile")  # engine is installed for them

Importing this module, which xarray does when it looks for engines, registers the accessor of datasets::

    import ndfile.xarray

    ds.ndfile.save("weather.ds")

`load_many` reads thousands of small files as one Dataset. Needs xarray.
"""

from ._backend import NdfileBackend
from ._many import load_many
from ._save import DatasetAccessor, save

__all__ = ["DatasetAccessor", "NdfileBackend", "load_many", "save"]
