"""The pages of documentation that need the packages of this environment."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import pages

PAGES = [p for p in pages.pages() if pages.needs(p)]


def test_there_are_some():
    assert [p.name for p in PAGES] == ["dask.md", "neighbours.md", "xarray.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page(page, tmp_path):
    done = pages.start(page, tmp_path)
    assert done.returncode == 0, done.stderr
