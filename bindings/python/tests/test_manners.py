"""What is said and shown: messages, progress, HTML for notebooks, streams, names."""

import io
import os
import pickle
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import ndfile
from ndfile import _bar


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (lambda: ndfile.read("nope.ds"), ndfile.NotFoundError, "no file nope.ds"),
        (lambda: ndfile.open("nope.bcolz", "r+"), ndfile.NotFoundError, "no file nope.bcolz"),
        (lambda: ndfile.verify("no/pe.ds"), ndfile.NotFoundError, "no file no/pe.ds"),
        (lambda: ndfile.open("no/a.ds", "w"), ndfile.NotFoundError, "no/a.ds: there is no folder no"),
        (lambda: ndfile.save("no/a.ds", {"x": 1}), ndfile.NotFoundError, "no/a.ds: there is no folder no"),
        (lambda: ndfile.save("a.ds/b.ds", {"x": 1}), ndfile.IoError, "a.ds/b.ds: a.ds is not a folder"),
        (
            lambda: ndfile.read("a.ds", "pressur"),
            ndfile.NameNotFoundError,
            "a.ds: no array of the name 'pressur'; did you mean 'pressure'? there are 'pressure', 'wind'",
        ),
    ],
)
def test_messages(call, kind, said):
    ndfile.save("a.ds", {"pressure": [1.0], "wind": [2.0]})
    with pytest.raises(kind) as e:
        call()
    assert str(e.value) == said


@pytest.mark.parametrize("url", ["https://example.org/a.ds", "s3://bucket/a.zarr", "HTTP://x/y.npy"])
def test_addresses_are_refused(url):
    for call in (
        lambda: ndfile.read(url),
        lambda: ndfile.open(url),
        lambda: ndfile.read_many([url]),
        lambda: ndfile.save(url, {"x": 1}, format="ds"),
    ):
        with pytest.raises(ndfile.NotSupportedError, match="file object"):
            call()


def test_streams_are_opened(tmp_path):
    ndfile.save("a.ds", {"x": np.arange(5.0)}, var_attrs={"x": {"units": "K"}})
    with open("a.ds", "rb") as raw:
        data = raw.read()
        raw.seek(0)
        for stream, name in ((io.BytesIO(data), "<BytesIO>"), (raw, "a.ds")):
            with ndfile.open(stream) as f:
                assert (f.filename, f["x"][1:3].tolist(), f["x"].attrs["units"]) == (name, [1, 2], "K")
                with pytest.raises(TypeError, match="stream"):
                    pickle.dumps(f)
    with pytest.raises(ndfile.FormatError, match="<BytesIO>: none of"):
        ndfile.open(io.BytesIO(b"junk"))
    with pytest.raises(ndfile.ArgumentError, match="reading"):
        ndfile.open(io.BytesIO(data), "w", format="ds")
    f = ndfile.open(io.BytesIO(data))
    assert f["x"].sum() == 10
    assert not f.closed
    f.close()
    assert f.closed


@pytest.mark.parametrize(
    ("done", "total", "seconds", "unit", "line"),
    [
        (993, 20000, 0.5, "files", "993 files of 20000 files, 4 %, 1986 files/s, 0:09 left"),
        (0, 20, 0.0, "files", "0 files of 20 files, 0 %"),
        (3 << 30, 6 << 30, 3.0, "B", "3.0 GiB of 6.0 GiB, 50 %, 1.0 GiB/s, 0:03 left"),
        (1, 7205, 1.0, "files", "1 files of 7205 files, 0 %, 1 files/s, 2:00:04 left"),
        (0, 0, 1.0, "B", "0 B of 0 B, 100 %"),
    ],
)
def test_line_of_progress(done, total, seconds, unit, line):
    assert _bar.line_of(done, total, seconds, unit) == line


SHOW = """
import pty, os, sys
sys.modules.update({name: None for name in sys.argv[1].split()})  # as if not installed
import ndfile
ndfile.save_many([f"{i}.ds" for i in range(50)], [{"x": [i]} for i in range(50)])
ndfile.read_many([f"{i}.ds" for i in range(50)], progress=True)
"""


@pytest.mark.parametrize("without", ["tqdm tqdm.auto rich", "rich"])
def test_progress_on_a_terminal(without):
    import os
    import pty

    parent, child = pty.openpty()
    r = subprocess.Popen([sys.executable, "-c", SHOW, without], stderr=child, stdout=child)
    os.close(child)
    shown = b""
    while True:
        try:
            piece = os.read(parent, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    assert r.wait(60) == 0, shown
    os.close(parent)
    assert b"50" in shown
    assert b"/s" in shown
    quiet = subprocess.run([sys.executable, "-c", SHOW, without], capture_output=True, timeout=60)
    assert (quiet.returncode, quiet.stderr) == (0, b"")


class Balanced(HTMLParser):
    """Checks that what is opened is closed, and gathers the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.text, self.tags = [], "", []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if not self.get_starttag_text().endswith("/>"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_html_of_a_file():
    evil = "<script>alert(1)</script>"
    ndfile.save(
        "a.ds",
        {"t": np.ma.masked_less([[1.0, 2], [3, 4]], 2), "s": np.array(["a", "b"], object), evil: [1]},
        dims={"t": ("row", "col")},
        var_attrs={"t": {"units": "K", "note": evil * 50}},
        attrs={"title": "two"},
    )
    with ndfile.open("a.ds") as f:
        html = f._repr_html_()
        of_array = f["t"]._repr_html_()
    seen = Balanced(html)
    assert "script" not in seen.tags
    assert "details" in seen.tags
    for word in ("(row: 2, col: 2)", "masked", "units", "'K'", "title", "stored", evil):
        assert word in seen.text
    seen = Balanced(of_array)
    assert "2 attributes" in seen.text
    assert "closed" in Balanced(f._repr_html_()).text


def test_html_of_chunks(monkeypatch):
    with ndfile.open("a.zarr", "w", format="zarr0") as f:
        f.create("", (100, 200, 300), "f4", chunks=(10, 200, 150), compression="zstd")
    with ndfile.open("a.zarr") as f:
        v = f.array
        monkeypatch.setattr(type(v), "_read", None)  # no data may be read
        seen = Balanced(v._repr_html_())
    for word in ("(100, 200, 300)", "(10, 200, 150)", "20 of 1.14 MiB", "zstd", "22.89 MiB", "300"):
        assert word in seen.text
    assert seen.tags.count("line") == 9 * 2 + 1 * 2
    assert seen.tags.count("polygon") == 3


@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 3, 4, 5), (10**9, 10**3)])
def test_html_of_any_shape(shape):
    with ndfile.open("b.zarr", "w", format="zarr0") as f:
        if shape:
            f.create("", shape, "i2", chunks=tuple(max(1, n // 1000) for n in shape))
        else:
            f.create("", (1,), "i2")
    with ndfile.open("b.zarr") as f:
        html = f._repr_html_() + f.array._repr_html_()
    assert len(Balanced(html).text) > 50
    assert len(html) < 60_000


def test_html_of_a_table():
    ndfile.save("t.bcolz", [{"a": 1, "b": "x"}, {"a": 2, "b": "yy"}])
    with ndfile.open("t.bcolz") as t:
        seen = Balanced(t._repr_html_())
        assert t._ipython_key_completions_() == ["a", "b"]
    for word in ("rows", "2", "a", "<U2"):
        assert word in seen.text


def test_html_of_a_group():
    with ndfile.open("g.zarr", "w", format="zarr3") as f:
        f.create("deep/x", (3, 4), "f4", dims=("a", "b"))
    with ndfile.open("g.zarr") as f:
        seen = Balanced(f["deep"]._repr_html_())
    assert "(a: 3, b: 4)" in seen.text


@pytest.mark.parametrize("first", ["bcolz, ndfile", "ndfile, bcolz"])
def test_the_end_beside_bcolz(tmp_path, first):
    """bcolz takes modules apart when the interpreter ends; nothing is said of that."""
    pytest.importorskip("bcolz")
    path = str(tmp_path / "bundle")
    ndfile.save(path, {"a": [1, 2]}, format="bcolz")
    code = f"import sys, {first}\nf = ndfile.open(sys.argv[1])\nv = f['a']\nprint(v[1])"
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(ndfile.__file__))}
    command = [sys.executable, "-W", "ignore", "-c", code, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=True)
    assert (done.stdout, done.stderr) == ("2\n", "")
