"""The notebooks of docs/gallery run, and show their pictures."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

GALLERY = Path(__file__).parents[4] / "docs" / "gallery"
NOTEBOOKS = sorted(GALLERY.glob("*.ipynb"))


def pictures(notebook):
    outputs = [o for cell in notebook.cells for o in cell.get("outputs", ())]
    return sum("image/png" in o.get("data", {}) for o in outputs)


def test_all_are_here():
    assert len(NOTEBOOKS) == 6
    index = (GALLERY / "README.md").read_text()
    for path in NOTEBOOKS:
        assert path.name in index


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_runs(path):
    notebook = nbformat.read(path, 4)
    shown = pictures(notebook)
    assert shown >= 1
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert pictures(notebook) == shown
