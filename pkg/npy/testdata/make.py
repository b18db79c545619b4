"""Writes the fixtures: python make.py, with the NumPy that README.md names."""

import hashlib
import json
import struct
import warnings
from pathlib import Path

import numpy as np

warnings.simplefilter("ignore")
here = Path(__file__).parent
valid = here / "valid"
valid.mkdir(exist_ok=True)
expected = {}


def descr(dtype):
    """The dtype as ndarray.Parse reads it: padding gets NumPy's name f<position>."""
    if dtype.names is None:
        return dtype.str

    def field(i, f):
        rest = [descr(np.dtype(f[1])) if isinstance(f[1], str) else [field(k, g) for k, g in enumerate(f[1])]]
        name = f[0][1] if isinstance(f[0], tuple) else f[0]  # a tuple has the title first
        return [name or f"f{i}", *rest, *([list(f[2])] if len(f) > 2 else [])]

    return [field(i, f) for i, f in enumerate(dtype.descr)]


def note(name, a, same):
    d = descr(a.dtype)
    expected[name] = {
        "dtype": "" if len(str(d)) > 9999 else d if isinstance(d, str) else json.dumps(d),  # "" is not compared
        "shape": list(a.shape),
        "sha256": hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest(),  # elements in C order
        "rewritten": same,  # numpy.save of the array in C order gives this file
    }


def save(name, a):
    a = np.asarray(a)
    np.save(valid / f"{name}.npy", a)
    plain = all(f[0] and isinstance(f[0], str) for f in a.dtype.descr) if a.dtype.names else True  # neither padding nor titles
    note(f"{name}.npy", a, a.flags.c_contiguous and plain)


def version(name, a, v):
    with open(valid / f"{name}.npy", "wb") as f:
        np.lib.format.write_array(f, a, version=v)
    note(f"{name}.npy", a, False)


def by_hand(name, a, text, after=b""):
    """A version 1.0 file padded to 16 bytes, as NumPy before 1.14 wrote it."""
    text += " " * (-(10 + len(text) + 1) % 16) + "\n"
    (valid / f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin1") + a.tobytes() + after)
    note(f"{name}.npy", a, False)


rng = np.random.default_rng(1)


def noise(dtype, *shape):
    dtype = np.dtype(dtype)
    return np.frombuffer(rng.bytes(dtype.itemsize * int(np.prod(shape))), dtype).reshape(shape)


for code in "|b1 |i1 <i2 >i2 <i4 >i4 <i8 |u1 <u2 <u4 >u8 <f2 <f4 >f4 <f8 >f8 <f16 <c8 >c16 <c32 |S5 |V7 <M8[ns] >M8[D] <m8[25s] <M8".split():
    tidy = code.replace("|", "").replace("<", "").replace(">", "be_").replace("[", "_").replace("]", "")
    save(f"{tidy}_2x3", noise(code, 2, 3) if code != "|b1" else np.array([[1, 0, 1], [0, 0, 1]], "?"))
save("u4_unicode", np.array(["naïve", "☃", "", "😀"]))
save("be_unicode", np.array(["naïve", "☃"], ">U5"))
save("scalar", np.float64(1.5))
save("one", np.arange(1))
save("empty", np.zeros((0,)))
save("empty_3x0x2", np.zeros((3, 0, 2), "i2"))
save("many_axes", np.arange(32, dtype="u1").reshape((1,) * 20 + (2,) * 5 + (1,) * 7))
save("fortran_3x4", np.asfortranarray(np.arange(12, dtype="<i4").reshape(3, 4)))
save("fortran_be_2x3x4x5", np.asfortranarray(noise(">f8", 2, 3, 4, 5)))
save("fortran_column", np.asfortranarray(np.arange(3.0).reshape(3, 1)))
save("strided", np.arange(24, dtype="i2").reshape(4, 6)[::2, ::-1])
save("record", noise([("a", "<i4"), ("b", ">f8"), ("c", "S3")], 4))
save("record_nested", noise([("p", [("x", "<f4"), ("y", [("z", "<u2", (2,))])]), ("q", "<i2", (2, 3)), ("r", [("s", "u1")], (2,))], 2, 2))
save("record_padded", np.zeros(3, np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<i2")], align=True)))
save("record_title", noise([(("title", "name"), "<i4")], 2))
save("record_fortran", np.asfortranarray(noise([("a", "<i2"), ("b", ">i2")], 2, 3)))
save("record_quotes", noise([("it's", "u1"), ('"', "u1"), ("'\"\\", "u1"), ("tab\t", "u1")], 2))
save("record_latin1", noise([("é", "u1"), ("\xad", "u1")], 2))
save("record_utf8", noise([("☃", "u1"), ("é😀", "<i2")], 2))
save("record_4000", np.zeros(1, [(f"field{i}", "u1") for i in range(4000)]))
version("version2", np.arange(6.0).reshape(2, 3), (2, 0))
version("version3", np.arange(6.0).reshape(2, 3), (3, 0))
by_hand("python2", np.arange(3.0), "{'descr': '<f8', 'fortran_order': False, 'shape': (3L,), }")
by_hand("other_spelling", np.arange(6, dtype="<i4").reshape(2, 3), '{"shape":(2,3),"fortran_order":False,"descr":"int32"}')
by_hand("two_arrays", np.arange(3.0), "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }", (valid / "one.npy").read_bytes())

# For every length of the header near a multiple of 64: whose last byte is where?
for n in range(40, 110, 3):
    save(f"name_{n}", np.zeros(1, [("n" * n, "u1")]))

np.save(here / "objects.npy", np.array([None, {}], object), allow_pickle=True)
np.save(here / "object_field.npy", np.array([(1, None)], [("a", "u1"), ("b", "O")]), allow_pickle=True)

arrays = {"x": np.arange(12.0).reshape(3, 4), "be": np.arange(5, dtype=">i4"), "f": np.asfortranarray(np.arange(24, dtype="<i2").reshape(2, 3, 4)),
          "naïve ☃": noise([("a", "<i4"), ("b", "S3")], 3), "group/y": np.array("scalar"), "empty": np.zeros((0, 3))}
objects = {"o": np.array([None, 1], object), "x": arrays["x"]}
for name, contents in {"stored": arrays, "objects": objects, "nothing": {}}.items():
    np.savez(here / f"{name}.npz", **contents)
np.savez_compressed(here / "deflated.npz", **arrays)
for key, a in arrays.items():
    note(f"npz/{key}", a, False)

lines = [f"{json.dumps(k, ensure_ascii=False)}: {json.dumps(v, ensure_ascii=False)}" for k, v in expected.items()]
(here / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
