"""NumPy's side of cross_test.go.

peer.py FOLDER CASES: for each case {"dtype", "shape", "data" (hex, C order)} of the JSON file, number i,
- FOLDER/i.npy is read, compared with the case, and compared with what numpy.save writes, byte by byte;
- FOLDER/i-fortran.npy is written in Fortran order;
and all cases are written as members of FOLDER/stored.npz and FOLDER/deflated.npz, member m<i>.
"""

import io
import json
import sys
import warnings
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")  # versions 2.0 and 3.0 come with warnings


def dtype_of(d):
    if isinstance(d, str):
        return np.dtype(d)
    return np.dtype([(f[0], dtype_of(f[1]), *(tuple(x) for x in f[2:])) for f in d])


folder, cases = Path(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())
arrays = {}
for i, c in enumerate(cases):
    dtype = dtype_of(c["dtype"])
    a = np.frombuffer(bytes.fromhex(c["data"]), dtype).reshape(c["shape"])
    arrays[f"m{i}"] = a
    content = (folder / f"{i}.npy").read_bytes()
    got = np.load(io.BytesIO(content), max_header_size=1 << 20)
    if got.dtype != dtype or got.shape != a.shape or got.tobytes() != a.tobytes():
        print(f"case {i}: NumPy reads {got.dtype} {got.shape}, expected {dtype} {a.shape}")
    out = io.BytesIO()
    np.save(out, a)
    if out.getvalue() != content:
        print(f"case {i}: NumPy writes {out.getvalue()[:200]!r}, found {content[:200]!r}")
    np.save(folder / f"{i}-fortran.npy", np.asarray(a, order="F"))  # asfortranarray would give 0-d an axis
np.savez(folder / "stored.npz", **arrays)
np.savez_compressed(folder / "deflated.npz", **arrays)
print(f"{len(cases)} cases, NumPy {np.__version__}")
