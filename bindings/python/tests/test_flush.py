"""flush(sync=True): what was changed so far is on the disk."""

import numpy as np
import pytest

import ndfile


@pytest.mark.parametrize("ext", [".bcolz", ".zarr"])
def test_flush_sync(tmp_path, ext):
    path = tmp_path / f"a{ext}"
    ndfile.save(path, np.arange(10), format="zarr2" if ext == ".zarr" else "bcolz")
    with ndfile.open(path, "r+") as f:
        f.array.append(np.arange(3))
        f.attrs["title"] = "new"
        f.flush(sync=True)
        with ndfile.open(path) as again:
            assert len(again.array) == 13
            assert again.attrs["title"] == "new"
        f.flush(sync=True)  # nothing is left to do
    with pytest.raises(ndfile.HandleError):
        f.flush(sync=True)


def test_flush_of_new_file(tmp_path):
    f = ndfile.open(tmp_path / "a.bcolz", "w")
    with pytest.raises(ndfile.NotSupportedError, match="appears when it is closed"):
        f.flush(sync=True)
    f.abort()
