"""xarray's own tests of backends, which come with its package, run against the engine and what the accessor saves."""

import pytest
from xarray.tests.conftest import *  # noqa: F403  fixtures
from xarray.tests.test_backends import *  # noqa: F403  fixtures
from xarray.tests.test_backends import CFEncodedBase as _Base

import ndfile.xarray  # noqa: F401  the accessor

for _name in [n for n in globals() if n.startswith(("test_", "Test"))]:
    del globals()[_name]  # xarray's tests of its other engines

# What does not hold, and why. Each of these fails: one that passes is an error of this list.
_EVERYWHERE = {
    "test_write_store": "there is no writable data store; datasets are written by the accessor",
    "test_encoding_unlimited_dims": "the encoding of a Dataset tells no unlimited dimensions",
    "test_default_fill_value": "NaN among floats needs no attribute _FillValue: NaN",
}
_DIFFERENT = {
    "ds": {
        "test_roundtrip_string_encoded_characters": "ds has texts, and no arrays of characters for dtype S1",
        "test_roundtrip_string_with_fill_value_nchar": "wants a NotImplementedError; here it works",
        "test_encoding_kwarg_fixed_width_string": "ds has texts, and no arrays of characters for dtype S1",
    },
    "zarr2": {
        "test_roundtrip_bytes_with_fill_value": "a fill value of byte strings is no sign of missing ones",
        "test_roundtrip_None_variable": "names that begin with __ are refused, as zarr 3 has them reserved",
        "test_roundtrip_string_with_fill_value_nchar": "wants a NotImplementedError; here it is a DTypeError",
    },
    "zarr3": {
        "test_roundtrip_None_variable": "names that begin with __ are reserved in zarr 3",
        "test_roundtrip_string_with_fill_value_nchar": "wants a NotImplementedError; here it is a DTypeError",
    },
    "netcdf": {
        "test_roundtrip_object_dtype": "NetCDF has no byte strings of any length",
        "test_roundtrip_bytes_with_fill_value": "NetCDF has no byte strings of any length",
        "test_roundtrip_string_with_fill_value_nchar": "wants a NotImplementedError; here it is a DTypeError",
    },
}


def _of(of, base):
    """Make the class of tests of a format; CFEncodedBase has those of DatasetIOBase, of lazy indexing among them."""

    class Test(base):
        engine = "ndfile"

        def save(self, dataset, path, encoding=None, unlimited_dims=None, **options):
            dataset.ndfile.save(path, format=of, encoding=encoding, **options)

    for name, reason in {**_EVERYWHERE, **_DIFFERENT[of]}.items():
        mark = pytest.mark.xfail(reason=reason, strict=True)
        setattr(Test, name, mark(_again(getattr(base, name))))
    return Test


def _again(test):
    """Give another function that does the same, so that a mark is for one class."""

    def run(self):
        return test(self)

    return run


TestDs, TestZarr2, TestZarr3, TestNetcdf = (_of(format, _Base) for format in _DIFFERENT)
del _Base  # which pytest would run, too


@pytest.mark.parametrize("format", _DIFFERENT)
def test_lists_are_short(format):
    names = [n for n in dir(TestDs) if n.startswith("test_")]
    assert len(_EVERYWHERE) + len(_DIFFERENT[format]) <= len(names) / 10
