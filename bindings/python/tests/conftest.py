"""Every test runs in a folder of its own; the library is the one under build/ unless NDFILE_LIB says otherwise."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = str(ROOT / "bindings" / "python")
sys.path.insert(0, PACKAGE)
os.environ["PYTHONPATH"] = PACKAGE  # of processes that tests start in other folders
os.environ.setdefault("NDFILE_LIB", str(ROOT / "build" / "lib" / "libndfile.so"))

# A shell ignores SIGINT in what it runs in the background, and Python leaves it so: the tests of Ctrl-C, and the
# processes that they start, want it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# They need an environment of their own: make test-ecosystem.
collect_ignore = [] if os.environ.get("NDFILE_ECOSYSTEM") else ["ecosystem"]

settings.register_profile(
    "ndfile",
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("ndfile")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
