"""Shapes of damaged metadata that no machine has the memory for."""

import re

import numpy as np
import pytest

import ndfile

META = {"zarr0": "__zmeta__", "zarr2": ".zarray", "zarr3": "zarr.json"}


@pytest.mark.parametrize("format", META)
def test_huge_shape(tmp_path, format):
    path = tmp_path / "a"
    ndfile.save(path, np.arange(10.0), format=format, chunks=(5,))
    meta = path / META[format]
    text, changed = re.subn(r'("shape":\s*\[\s*)10\b', rf"\g<1>{2**50}", meta.read_text(), count=1)
    assert changed
    meta.write_text(text)
    with ndfile.open(path) as f:
        with pytest.raises(ndfile.NoMemoryError) as caught:
            f.array[...]
        for part in (str(path), str(2**50), str(2**53)):
            assert part in str(caught.value)
        assert caught.value.path == str(path)
        assert f.array[2**50 - 1] == 0  # single elements can be read
        np.testing.assert_array_equal(f.array[:10], np.arange(10.0))
    with pytest.raises(ndfile.NoMemoryError, match=re.escape(str(path))) as caught:
        ndfile.read(path)
    assert str((2**50,)) in str(caught.value) and str(2**53) in str(caught.value)
