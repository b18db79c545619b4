"""Random damage of stores: opening changes nothing, a repair takes nothing away that decodes, undoing it gives all back.

A few each time; NDFILE_TORTURE=1 makes it 1,000 a kind of store.
"""

import contextlib
import os
import random
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import ndfile

ROUNDS = 1000 if os.environ.get("NDFILE_TORTURE") else 12

#: Files of a writer's lock come and go.
LOCK = ".ndf-lock"


def carray(path):
    ndfile.save(path, np.arange(900, dtype="i4"), format="bcolz", chunks=100)


def ctable(path):
    with ndfile.open(path, "w", format="bcolz") as t:
        for k, (name, dtype, chunk) in enumerate(
            [("day", "u4", 64), ("close", "f8", 50), ("name", "S5", 90)]
        ):
            t.create(name, (330,), dtype, chunks=chunk)[...] = (
                np.arange(330).astype(dtype) if k < 2 else b"abc"
            )
        t.attrs["first"] = {"1": 0}


def zarr(version):
    def make(path):
        with ndfile.open(path, "w", format=version) as f:
            f.create("", (23, 17), "f4", chunks=(5, 6), fill_value=-1, attrs={"units": "K"})[:20] = 1.5

    return make


KINDS = {
    "carray": carray,
    "ctable": ctable,
    "zarr0": zarr("zarr0"),
    "zarr2": zarr("zarr2"),
    "zarr3": zarr("zarr3"),
}


def tree(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes() if p.is_file() else None
        for p in folder.rglob("*")
        if p.name != LOCK
    }


def is_chunk(name):
    base = name.rsplit("/", 1)[-1]
    return bool(re.fullmatch(r"__\d+\.blp|[\d.]+\.blosc|\d+(\.\d+)*", base)) and not base.startswith("meta")


def decodes(raw):
    """Whether the bytes are a chunk of Blosc, perhaps behind bcolz's header of 16 bytes."""
    for body in (raw[16:], raw) if raw[:4] == b"blpk" else (raw,):
        try:
            ndfile.blosc.decompress(body)
            return True
        except Exception:  # whatever is wrong with it, it is no chunk
            continue
    return False


def damage(rng, store):
    """Do something bad to one or two files; say what."""
    said = []
    for _ in range(rng.choice((1, 1, 2))):
        files = sorted(p for p in store.rglob("*") if p.is_file())
        metadata = [p for p in files if not is_chunk(str(p.relative_to(store)))]
        chunks = [p for p in files if is_chunk(str(p.relative_to(store)))]
        what = rng.choice(("byte", "cut", "delete", "swap", "shape", "extra", "number"))
        p = rng.choice(metadata if rng.random() < 0.6 and metadata else files)
        raw = bytearray(p.read_bytes())
        if what == "byte" and raw:
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        elif what == "cut":
            del raw[rng.randrange(len(raw) + 1) :]
        elif what == "delete":
            p.unlink()
            said.append(f"delete {p.relative_to(store)}")
            continue
        elif what == "swap" and len(chunks) > 1:
            p, q = rng.sample(chunks, 2)
            raw = bytearray(q.read_bytes())
            q.write_bytes(p.read_bytes())
        elif what == "extra" and chunks:
            p = chunks[-1].with_name(
                re.sub(r"\d+", lambda m: str(int(m[0]) + rng.randrange(1, 9)), chunks[-1].name)
            )
            raw = bytearray(chunks[0].read_bytes())
        elif what in ("shape", "number"):
            p = rng.choice(metadata or files)
            numbers = list(re.finditer(rb"\d+", raw := bytearray(p.read_bytes())))
            if numbers:
                m = rng.choice(numbers)
                n = int(m[0])
                raw[m.start() : m.end()] = str(rng.choice((0, n // 10, n // 2, n + 1, n * 10))).encode()
        p.write_bytes(raw)
        said.append(f"{what} {p.relative_to(store)}")
    return said


@pytest.mark.parametrize("kind", KINDS)
def test_damage(kind, tmp_path):
    good = tmp_path / "good"
    KINDS[kind](good)
    work = tmp_path / "work"
    for seed in range(ROUNDS):
        rng = random.Random(seed)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        store = work / "s"
        shutil.copytree(good, store)
        said = f"{kind}, seed {seed}: {damage(rng, store)}"
        before = tree(work)

        with contextlib.suppress(ndfile.NdfileError):  # what is damaged may be refused
            ndfile.open(store, "r+").close()
        assert tree(work) == before, f"opening changed something: {said}"

        try:
            found = ndfile.verify(store, repair=True)
        except ndfile.NdfileError:
            assert tree(work) == before, f"a repair that failed changed something: {said}"
            continue
        after = tree(work)
        kept = list(after.values())
        lost = [
            name
            for name, raw in before.items()
            if raw and is_chunk(name) and decodes(raw) and raw not in kept
        ]
        assert not lost, f"{lost} are gone: {said}"
        if not any(p.repaired for p in found):
            assert after == before, f"nothing was repaired, but something changed: {said}"
            continue
        ndfile.verify(store, undo=True)
        assert tree(work) == before, f"what was undone is not what was before: {said}"


def test_names():
    """The test tells chunks from metadata."""
    names = (
        "data/__3.blp",
        "0.1.blosc",
        "__zdata__/0.1.blosc",
        "4.2",
        "0",
        "meta/sizes",
        ".zarray",
        "zarr.json",
    )
    assert [is_chunk(n) for n in names] == [True] * 5 + [False] * 3
    assert decodes(ndfile.blosc.compress(b"x" * 100, 4)) and not decodes(b"\x02\x01")
    assert Path(LOCK).name == LOCK
