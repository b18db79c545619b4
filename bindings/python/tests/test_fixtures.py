"""Every ds fixture, exactly: files of the real ds-format and files made by hand."""

import numpy as np
import pytest
from support import attrs, expected, fixtures, plain, same

import ndfile


def names(files):
    return [path.name for path, _ in files]


VALID = fixtures("valid")
QUIRKS = fixtures("quirks")
MALFORMED = fixtures("malformed")


@pytest.mark.parametrize(("path", "want"), VALID, ids=names(VALID))
def test_valid(path, want):
    found = ndfile.read(path)
    assert list(found) == [v["name"] for v in want["variables"]]
    for var in want["variables"]:
        same(found[var["name"]], expected(var))
        if var["shape"] is not None:
            same(ndfile.read(path, var["name"]), expected(var))


@pytest.mark.parametrize(("path", "want"), VALID, ids=names(VALID))
def test_valid_described(path, want):
    info = ndfile.info(path)
    assert info["format"] == ndfile.detect(path) == "ds"
    assert info["kind"] == "dataset"
    assert plain(info["attrs"]) == plain(attrs(want["attrs"]))
    assert list(info["attrs"]) == [k for k, _ in want["attrs"]]
    for var in want["variables"]:
        found = info["arrays"][var["name"]]
        assert found["shape"] == (None if var["shape"] is None else tuple(var["shape"]))
        assert found["dims"] == (None if var["dims"] is None else tuple(var["dims"]))
        assert found["masked"] == var["missing"]
        assert plain(found["attrs"]) == plain(attrs(var["attrs"]))
        assert list(found["attrs"]) == [k for k, _ in var["attrs"]]


@pytest.mark.parametrize(("path", "want"), VALID, ids=names(VALID))
def test_valid_piece_by_piece(path, want):
    with ndfile.open(path) as f:
        for var in want["variables"]:
            v, array = f[var["name"]], expected(var)
            if array is None:
                assert not v.has_data
                assert v.size == 0
                with pytest.raises(ndfile.NoDataError):
                    v[...]
                continue
            same(v[...], array)
            for i in list(np.ndindex(array.shape))[:300]:
                element = v[i]
                if np.ma.isMaskedArray(array) and array.mask[i]:
                    assert element is np.ma.masked
                else:
                    want_element = np.asarray(array)[i]
                    assert type(element) is type(want_element)
                    assert np.asarray(element).tobytes() == np.asarray(want_element).tobytes() or (
                        array.dtype == object and element == want_element
                    )
            if array.ndim:
                same(v[::-1], array[::-1])
                same(v[1:], array[1:])


@pytest.mark.parametrize(("path", "want"), QUIRKS, ids=names(QUIRKS))
def test_quirks(path, want):
    for var in want["variables"]:
        try:
            found = ndfile.read(path, var["name"])
        except ndfile.CorruptError:
            # what comes before a shift has to be read
            assert "error" in want["accept"]
            assert var["data_at"] != var["offset"]
        else:
            same(found, expected(var))


@pytest.mark.parametrize(("path", "want"), MALFORMED, ids=names(MALFORMED))
def test_malformed(path, want):
    """Refused, with an error that names the path, by both ways of reading; never values that are not there."""

    def lazily():
        with ndfile.open(path) as f:
            return {name: v[...] for name, v in f.items()}

    for way in (lambda: ndfile.read(path), lazily):
        try:
            found = way()
        except ndfile.NdfileError as e:
            assert isinstance(e, (ValueError, NotImplementedError))  # noqa: PT017
            assert str(path) in str(e)  # noqa: PT017
        else:
            assert "error" not in want["accept"] or any(a.startswith("value") for a in want["accept"])
            assert [a.tolist() for a in found.values()] == [[1, 2]]
