"""bcolz stores: ndfile against bcolz-zipline, in one run.

Wall time; stores lie in memory (/dev/shm) unless --folder says otherwise. See peers.py for the rounds. Both write
with their defaults (lz4, level 5, byte shuffle, the same chunk length), ndfile atomically (temporary folder and
rename, which bcolz does not have).

usage: bench_bcolz.py [--rounds N] [--quick] [--folder DIR] [--out STEM]
"""

from __future__ import annotations

import argparse
import warnings

import ndfile
import numpy as np
from peers import OURS, Report, workspace

warnings.filterwarnings("ignore")
import bcolz  # noqa: E402

BCOLZ = "bcolz-zipline"


def main() -> None:
    """Run all rows."""
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    args.add_argument("--rounds", type=int, default=9)
    args.add_argument("--quick", action="store_true", help="a tenth of the work")
    args.add_argument("--folder", default="/dev/shm")
    args.add_argument("--out", help="write STEM.json and STEM.md")
    opt = args.parse_args()
    scale = 10 if opt.quick else 1
    report = Report("bcolz stores", opt.rounds)
    with workspace(opt.folder) as fresh:
        carrays(report, fresh, scale)
        appends(report, fresh, scale)
        tables(report, fresh, scale)
        opens(report, fresh, scale)
    if opt.out:
        report.write(
            opt.out,
            {"ndfile": ndfile.__version__, "bcolz-zipline": bcolz.__version__, "numpy": np.__version__},
        )


def carrays(report, fresh, scale) -> None:
    """Write, read, and take single items of 64 MB."""
    rng = np.random.default_rng(1)
    a = np.cumsum(rng.integers(-3, 4, 8_000_000 // scale)).astype("i8")

    def write_ours():
        path = fresh("ours.bcolz")
        return lambda: ndfile.save(path, a)

    def write_theirs():
        path = fresh("theirs")
        return lambda: bcolz.carray(a, rootdir=path, mode="w").flush()

    report.row("write 64 MB int64", 1.5, {OURS: write_ours, BCOLZ: write_theirs})
    path = fresh("carray.bcolz")
    ndfile.save(path, a)
    assert (bcolz.open(path, mode="r")[:] == a).all() and (ndfile.read(path) == a).all()
    report.row("read 64 MB int64", 1.5, {
        OURS: lambda: lambda: ndfile.open(path).array[...],
        BCOLZ: lambda: lambda: bcolz.open(path, mode="r")[:],
    })  # fmt: skip
    n = 20_000 // scale
    everywhere = [int(i) for i in rng.integers(0, len(a), n)]
    near = [int(i) for i in len(a) // 2 + np.cumsum(rng.integers(-20, 21, n))]

    def ours(where):
        def ready():
            v = ndfile.open(path).array
            return lambda: [v[i] for i in where]

        return ready

    def theirs(where):
        def ready():
            c = bcolz.open(path, mode="r")
            return lambda: [c[i] for i in where]

        return ready

    report.row(
        "one item, anywhere",
        5,
        {OURS: ours(everywhere[: n // 10]), BCOLZ: theirs(everywhere[: n // 10])},
        n // 10,
    )
    report.row("one item, near the last", 5, {OURS: ours(near), BCOLZ: theirs(near)}, n)


def appends(report, fresh, scale) -> None:
    """Append small batches."""
    n, batch = 20_000 // scale, np.arange(100, dtype="f8")

    def ours():
        path = fresh("ours.bcolz")

        def work():
            with ndfile.open(path, "w") as f:
                v = f.create("", 0, "f8", expected_rows=100 * n)
                for _ in range(n):
                    v.append(batch)

        return work

    def theirs():
        path = fresh("theirs")

        def work():
            c = bcolz.zeros(0, dtype="f8", expectedlen=100 * n, rootdir=path, mode="w")
            for _ in range(n):
                c.append(batch)
            c.flush()

        return work

    report.row("append of 100 items", 1.5, {OURS: ours, BCOLZ: theirs}, n)


def tables(report, fresh, scale) -> None:
    """Slice columns of a table of 20."""
    rows, n = 1_000_000 // scale, 2_000 // scale
    rng = np.random.default_rng(2)
    columns = {f"c{i:02}": np.cumsum(rng.integers(0, 5, rows)).astype("u4") for i in range(20)}
    path = fresh("table.bcolz")
    ndfile.save(path, columns)
    places = [
        (f"c{int(c):02}", int(at)) for c, at in zip(rng.integers(0, 20, n), rng.integers(0, rows - 400, n))
    ]

    def ours():
        f = ndfile.open(path)
        cols = {name: f[name] for name in columns}
        return lambda: [cols[c][at : at + 400] for c, at in places]

    def theirs():
        t = bcolz.open(path, mode="r")
        cols = {name: t[name] for name in columns}
        return lambda: [cols[c][at : at + 400] for c, at in places]

    report.row("400 rows of a column of 20", 1.5, {OURS: ours, BCOLZ: theirs}, n)
    report.row("a whole column of 20", 1.5, {
        OURS: lambda: lambda: ndfile.open(path)["c07"][:],
        BCOLZ: lambda: lambda: bcolz.open(path, mode="r")["c07"][:],
    })  # fmt: skip


def opens(report, fresh, scale) -> None:
    """Open small carrays."""
    n = 1_000 // scale
    paths = [fresh("small") for _ in range(n)]
    for i, path in enumerate(paths):
        ndfile.save(path, np.arange(50 + i % 50, dtype="u4"), format="bcolz")

    def work_ours():
        for path in paths:
            ndfile.open(path).close()

    def work_theirs():
        for path in paths:
            bcolz.open(path, mode="r")

    def items_ours():
        for path in paths:
            ndfile.open(path).array[7]

    def items_theirs():
        for path in paths:
            bcolz.open(path, mode="r")[7]

    report.row("open a small carray", 5, {OURS: lambda: work_ours, BCOLZ: lambda: work_theirs}, n)
    report.row("open it and read an item", 5, {OURS: lambda: items_ours, BCOLZ: lambda: items_theirs}, n)


if __name__ == "__main__":
    main()
