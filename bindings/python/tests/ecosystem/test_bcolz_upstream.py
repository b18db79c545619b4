"""bcolz's own tests of objects on disk, with `ndfile.compat.bcolz` in bcolz's place."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("bcolz")

#: What does not hold, with the reason.
DIFFERENT = {
    "test_carray.copyDiskTest.test01": "copies without rootdir lie in memory, not compressed",
    "test_carray.small_viewDiskTest.test01": "objects of one store see its length, not one of their own",
    "test_carray.large_viewDiskTest.test01": "the same",
    "test_carray.small_viewDiskTest.test02": "iter() gives an iterator, not the carray",
    "test_carray.large_viewDiskTest.test02": "the same",
    "test_carray.reprDiskTest.test_repr_disk_array_append": "the block size of chunks is not told",
    "test_carray.reprDiskTest.test_repr_disk_array_read": "the same",
    "test_carray.reprDiskTest.test_repr_disk_array_write": "the same",
    "test_carray.LeftoverDiskTest.test_leftover_ptr": "there is no buffer of leftovers with an address",
    "test_carray.LeftoverDiskTest.test_leftover_ptr_after_chunks": "the same",
    "test_carray.LeftoverDiskTest.test_leftover_ptr_create_flush_open": "the same",
    "test_carray.LeftoverDiskTest.test_leftover_ptr_with_statement_create_open": "the same",
    "test_ctable.appendDiskTest.test06": "objects of any kind (pickles) are not stored",
}


def test_cases_of_objects_on_disk() -> None:
    """At least 95 % hold, the rest is known. Cases of numexpr and Dask as virtual machines do not run."""
    script = Path(__file__).with_name("bcolz_suite.py")
    done = subprocess.run([sys.executable, script], capture_output=True, timeout=500, check=True)
    found = json.loads(done.stdout)
    assert found["failed"].keys() == DIFFERENT.keys(), found["failed"]
    ran = len(found["held"]) + len(found["failed"])
    assert ran >= 380
    assert len(found["held"]) >= 0.95 * ran
