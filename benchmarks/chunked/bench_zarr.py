"""Chunks of early zarr: ndfile against zarr-python, zarrs and tensorstore, in one run.

Wall time; stores lie in memory (/dev/shm) unless --folder says otherwise. ndfile works on a zarr0 store; the others,
which cannot read that, on the same chunks migrated to v2 (zarr-python, tensorstore) and v3 (zarrs). The compression
is lz4, level 5, byte shuffle for all.

usage: bench_zarr.py [--rounds N] [--quick] [--folder DIR] [--out STEM]
"""

from __future__ import annotations

import argparse
import warnings

import ndfile
import numpy as np
import tensorstore as ts
import zarr
import zarrs  # noqa: F401 (it registers its pipeline)
from peers import OURS, Report, workspace
from zarr.codecs import BloscCodec

warnings.filterwarnings("ignore")

PYTHON, RUST, TENSORSTORE = "zarr-python", "zarrs", "tensorstore"
PIPELINES = {PYTHON: "zarr.core.codec_pipeline.BatchedCodecPipeline", RUST: "zarrs.ZarrsCodecPipeline"}


def main() -> None:
    """Run all rows."""
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    args.add_argument("--rounds", type=int, default=9)
    args.add_argument("--quick", action="store_true", help="a tenth of the work")
    args.add_argument("--folder", default="/dev/shm")
    args.add_argument("--out", help="write STEM.json and STEM.md")
    opt = args.parse_args()
    scale = 10 if opt.quick else 1
    report = Report("Chunks of early zarr", opt.rounds)
    rng = np.random.default_rng(1)
    n = (16 << 20) // scale
    large = np.cumsum(rng.integers(-3, 4, n)).astype("i4")
    small = np.arange(20_000 // scale * 16, dtype="i4")
    with workspace(opt.folder) as fresh:
        store(report, fresh, "64 MiB in 1 MiB chunks", large, 1 << 18)
        store(report, fresh, "20,000 chunks of 64 B", small, 16)
    if opt.out:
        versions = {
            m.__name__: getattr(m, "__version__", "0.1.86" if m is ts else "?") for m in (ndfile, zarr, np)
        }
        report.write(opt.out, {**versions, "zarrs": "0.2.3", "tensorstore": "0.1.86"})


def pipeline(name: str) -> None:
    """Choose what zarr-python decodes with."""
    zarr.config.set({"codec_pipeline.path": PIPELINES[name]})


def tensor(path: str, **create) -> ts.TensorStore:
    """Open or create a v2 array with tensorstore."""
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": path}, **create}
    return ts.open(spec, create=bool(create), open=not create).result()


def store(report, fresh, what, a, chunk) -> None:
    """Write, read, and take ten elements."""

    def write_ours():
        path = fresh("zarr0")
        return lambda: ndfile.save(
            path, a, format="zarr0", chunks=(chunk,), compression=("lz4", 5, "shuffle")
        )

    def write_zarr(name):
        def ready():
            path = fresh(name)
            codec = BloscCodec(cname="lz4", clevel=5, shuffle="shuffle")

            def work():
                pipeline(name)
                z = zarr.create_array(
                    path, shape=a.shape, chunks=(chunk,), dtype=a.dtype, compressors=codec, zarr_format=3
                )
                z[:] = a

            return work

        return ready

    def write_tensor():
        path = fresh("tensorstore")
        blosc = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}

        def work():
            metadata = {"shape": list(a.shape), "chunks": [chunk], "dtype": a.dtype.str, "compressor": blosc}
            tensor(path, metadata=metadata)[:] = a

        return work

    report.row(
        f"write {what}",
        1,
        {OURS: write_ours, PYTHON: write_zarr(PYTHON), RUST: write_zarr(RUST), TENSORSTORE: write_tensor},
    )
    path, v2, v3 = fresh("zarr0"), fresh("v2"), fresh("v3")
    ndfile.save(path, a, format="zarr0", chunks=(chunk,), compression=("lz4", 5, "shuffle"))
    ndfile.convert(path, v2, "zarr2")
    ndfile.convert(path, v3, "zarr3")

    n = 200
    starts = [int(i) for i in np.random.default_rng(2).integers(0, len(a) - 10, n)]
    for title, keys in (
        (f"read {what}", [slice(None)]),
        (f"10 elements of {what}, anywhere", [slice(i, i + 10) for i in starts]),
        (f"10 elements of {what}, same place", [slice(starts[0], starts[0] + 10)] * n),
    ):

        def ours(keys=keys):
            v = ndfile.open(path).array
            return lambda: [v[key] for key in keys]

        def zarr_by(name, keys=keys):
            def ready():
                pipeline(name)
                z = zarr.open_array(v3, mode="r")
                assert (z[keys[0]] == a[keys[0]]).all()
                return lambda: [z[key] for key in keys]

            return ready

        def tensorstore_reads(keys=keys):
            z = tensor(v2)
            return lambda: [z[key].read().result() for key in keys]

        peers = {PYTHON: zarr_by(PYTHON), RUST: zarr_by(RUST), TENSORSTORE: tensorstore_reads}
        report.row(title, 1, {OURS: ours, **peers}, len(keys))


if __name__ == "__main__":
    main()
