"""xarray's own tests of backends, which come with its package, run against the engine with ds files."""

import pytest
from xarray.tests.conftest import *  # noqa: F403  fixtures
from xarray.tests.test_backends import *  # noqa: F403  fixtures
from xarray.tests.test_backends import CFEncodedBase as _Base

import ndfile.xarray  # noqa: F401  the accessor

for _name in [n for n in globals() if n.startswith(("test_", "Test"))]:
    del globals()[_name]  # xarray's tests of its other engines

# What does not hold, and why. Each of these fails: one that passes is an error of this list.
_DIFFERENT = {
    "test_write_store": "there is no writable data store; datasets are written by the accessor",
    "test_roundtrip_string_encoded_characters": "ds has texts, and no arrays of characters for dtype S1",
    "test_roundtrip_string_with_fill_value_nchar": "wants a NotImplementedError; here it works",
    "test_encoding_kwarg_fixed_width_string": "ds has texts, and no arrays of characters for dtype S1",
    "test_encoding_unlimited_dims": "ds has no unlimited dimensions",
    "test_default_fill_value": "NaN among floats needs no attribute _FillValue: NaN",
}


class TestDs(_Base):
    """CFEncodedBase holds the tests of DatasetIOBase, those of lazy indexing among them."""

    engine = "ndfile"

    def save(self, dataset, path, encoding=None, unlimited_dims=None, **options):
        dataset.ndfile.save(path, format="ds", encoding=encoding, **options)


del _Base
for _name, _reason in _DIFFERENT.items():
    setattr(TestDs, _name, pytest.mark.xfail(reason=_reason, strict=True)(getattr(TestDs, _name)))


def test_list_is_short():
    names = [n for n in dir(TestDs) if n.startswith("test_")]
    assert len(_DIFFERENT) <= len(names) / 10
