"""What lazy arrays are for others: orthogonal indexing, dask, notebooks."""

import pickle

import dask.array
import numpy as np
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st
from support import same

import ndfile

SHAPE = (4, 6, 3)
PLAIN = np.arange(72, dtype="i4").reshape(SHAPE)
HOLES = np.random.default_rng(1).random(SHAPE) < 0.4
ARRAYS = {
    "plain": PLAIN,
    "masked": np.ma.MaskedArray(np.where(HOLES, 0, PLAIN), mask=HOLES),
    "text": np.array([f"č{i}" for i in range(72)], object).reshape(SHAPE),
}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("lazy") / "all.ds"
    ndfile.save(path, ARRAYS)
    with ndfile.open(path) as f:
        yield f


def axis(n):
    positions = st.lists(st.integers(-n, n - 1), max_size=2 * n)
    return st.one_of(
        positions,
        positions.map(lambda p: np.array(p, "i2")),
        st.lists(st.booleans(), min_size=n, max_size=n),
        st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
        st.integers(-n, n - 1),
        st.slices(n),
    )


def orthogonal(array, key):
    """The same, by NumPy, one axis after the other."""
    for k in reversed(range(len(key))):
        item = key[k]
        if isinstance(item, list):
            item = np.array(item, None if item else int)
        array = array[(slice(None),) * k + (item,)]
    return array


@pytest.mark.parametrize("name", ARRAYS)
@given(key=st.tuples(*map(axis, SHAPE)), gap=st.sampled_from([0, 8, 100, 1 << 16]))
def test_oindex(file, name, key, gap):
    ndfile._orthogonal._GAP, before = gap, ndfile._orthogonal._GAP
    try:
        found = file[name].oindex[key]
    finally:
        ndfile._orthogonal._GAP = before
    want = orthogonal(ARRAYS[name], key)
    if isinstance(want, np.ndarray) and want is not np.ma.masked:
        same(found, want)
    else:
        assert found is want or found == want


def test_oindex_forms(file):
    v = file["plain"].oindex
    same(v[[1, 3]], PLAIN[[1, 3]])
    same(v[..., [2, 0]], PLAIN[..., [2, 0]])
    same(v[2, ..., range(2)], PLAIN[2, :, :2])
    same(v[:, [0], ...], PLAIN[:, [0]])
    assert v[1, 2, 0] == PLAIN[1, 2, 0]
    same(v[...], PLAIN)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ([4], "index 4 is out of bounds for axis 0 with size 4"),
        ([-5], "index -5 is out of bounds"),
        (([0], [0], [0], [0]), "too many"),
        ([True], "expected 4 booleans, found 1"),
        ([1.5], "float64"),
        ([[1, 2]], "one axis"),
        ((None, [1]), "new axes"),
        ((..., [1], ...), "single ellipsis"),
        (([0], "a"), "found str"),
        (([0], 6), "index 6 is out of bounds for axis 1"),
    ],
)
def test_oindex_refused(file, key, text):
    with pytest.raises(IndexError, match=text):
        file["plain"].oindex[key]


def test_oindex_reads_little(file, monkeypatch):
    """Neighbours come at once, what lies between distant rows is not read."""
    seen = []
    real = ndfile.Array._read
    monkeypatch.setattr(
        ndfile.Array,
        "_read",
        lambda self, s, out=None, **how: seen.append(s.counts) or real(self, s, out, **how),
    )
    monkeypatch.setattr(ndfile._orthogonal, "_GAP", 1)
    file["plain"].oindex[[3, 0, 1], :, 1]
    assert seen == [(2, 6, 1), (1, 6, 1)]


def test_chunks(file):
    assert file["plain"].chunks is None


def test_dask(file):
    lazy = dask.array.from_array(file["plain"], chunks=(2, 4, 3))
    for scheduler in ("sync", "threads", "processes"):
        assert np.array_equal((lazy + 1).compute(scheduler=scheduler), PLAIN + 1)
    assert np.array_equal(lazy[[1, 3]][:, 2, ::2].compute(), PLAIN[[1, 3]][:, 2, ::2])
    assert dask.array.from_array(file["plain"]).sum().compute() == PLAIN.sum()
    masked = dask.array.from_array(file["masked"], chunks=3, asarray=False)
    same(masked.compute(), ARRAYS["masked"])


def test_tokens(tmp_path):
    path = tmp_path / "x.ds"
    ndfile.save(path, {"x": [1, 2], "y": [1, 2]})
    with ndfile.open(path) as f, ndfile.open(path) as g:
        token = tokenize(f["x"])
        assert token == tokenize(g["x"]) == tokenize(pickle.loads(pickle.dumps(f["x"])))
        assert token != tokenize(f["y"])
        assert token != tokenize(f)
        ndfile.save(path, {"x": [1, 2], "y": [3, 4]})
        assert token == tokenize(f["x"])  # it still reads the old file
        with ndfile.open(path) as h:
            assert token != tokenize(h["x"])
    with ndfile.open(tmp_path / "w.ds", "w") as f:
        assert tokenize(f) != tokenize(f)


def test_html(tmp_path):
    ndfile.save(tmp_path / "x.ds", {"<b>": np.ma.masked_equal([[1, 2]], 1)}, dims={"<b>": ("t", "&")})
    with ndfile.open(tmp_path / "x.ds") as f:
        v = f["<b>"]
        for html in (f._repr_html_(), v._repr_html_()):
            assert html.startswith("<div")
            assert html.endswith("</div>")
            for text in ("x.ds", "&lt;b&gt;", "&lt;i8", "(t: 1, &amp;: 2)", "masked"):
                assert text in html, text
            assert "<b>" not in html
    assert "closed" in f._repr_html_()
    assert "x.ds" in v._repr_html_()
