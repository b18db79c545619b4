"""The package is not installed for the tests, only its entry points are, as pyproject.toml has them."""

import importlib
import os
import sys
import tempfile
from pathlib import Path

import tomllib

ROOT = Path(__file__).parents[4]


def pytest_configure(config):  # before packages are imported, some of which look for entry points then
    folder = tempfile.TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    site = Path(folder.name)
    info = site / "ndfile-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ndfile\nVersion: 0\n")
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items())
            for group, named in points.items()
        )
    )
    sys.path.append(str(site))
    os.environ["PYTHONPATH"] = os.pathsep.join(p for p in (os.environ.get("PYTHONPATH"), str(site)) if p)
    importlib.invalidate_caches()
    if "fsspec" in sys.modules:  # plugins of pytest have imported it
        sys.modules["fsspec"].process_entries()
