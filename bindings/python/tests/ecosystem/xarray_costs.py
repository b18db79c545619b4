"""What small Datasets cost, in CPU time of a process of their own; fails where the goals are missed. For quiet machines."""

import tempfile
import time
import warnings

import numpy as np
import xarray as xr

import ndfile
import ndfile.xarray

warnings.simplefilter("ignore")


def cpu(*functions, times=9):
    """The least CPU time of each function, in seconds; they run in turns."""
    found = [[] for _ in functions]
    for _ in range(times):
        for function, own in zip(functions, found):
            begin = time.process_time()
            function()
            own.append(time.process_time() - begin)
    return [min(own) for own in found]


def opened(path, engine):
    for _ in range(40):
        with xr.open_dataset(path, engine=engine) as ds:
            ds.load()


def one_file(folder):
    rng = np.random.default_rng(1)
    variables = {"t": (("time", "x"), rng.normal(size=(24, 10))), "p": ("time", rng.normal(size=24))}
    ds = xr.Dataset(variables, {"time": np.arange(24.0), "x": np.arange(10)}, {"title": "small"})
    ds.to_netcdf(f"{folder}/a.nc", engine="netcdf4")
    ds.ndfile.save(f"{folder}/a.ds")
    ours, theirs = cpu(
        lambda: opened(f"{folder}/a.ds", ndfile.xarray.NdfileBackend),
        lambda: opened(f"{folder}/a.nc", "netcdf4"),
    )
    print(f"open_dataset + load: {ours / theirs:.2f} of netCDF4's {theirs / 40 * 1e3:.2f} ms, goal 0.5")
    return ours <= 0.5 * theirs


def many_files(folder, n=2000, few=200):
    paths = [f"{folder}/{i:05d}.ds" for i in range(n)]
    dims = {"v": ["time"], "time": ["time"]}
    ndfile.save_many(paths, [{"v": np.array([float(i)]), "time": np.array([i])} for i in range(n)], dims=dims)
    how = {"combine": "nested", "concat_dim": "time", "data_vars": "minimal", "coords": "minimal"}

    def lazily():
        with xr.open_mfdataset(
            paths[:few], engine=ndfile.xarray.NdfileBackend, compat="override", **how
        ) as ds:
            ds.load()

    ours, theirs = cpu(lambda: ndfile.xarray.load_many(paths, "time"), lazily, times=3)
    ours, theirs = ours / n, theirs / few
    print(f"load_many: {ours * 1e6:.1f} us a file, open_mfdataset {theirs / ours:.0f} times that, goal 50")
    return 50 * ours <= theirs


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        if not all([one_file(folder), many_files(folder)]):
            raise SystemExit("a goal is missed")
