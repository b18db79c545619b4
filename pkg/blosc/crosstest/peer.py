"""The C-Blosc side of the test: answers requests on stdin, one at a time.

Request: a line of JSON, then `n` bytes. Reply: a line with the number of bytes (or "error TEXT"), then the bytes.
  {"op": "encode", "n", "codec", "level", "shuffle", "typesize", "blocksize", "threads"}
  {"op": "decode", "n", "nbytes", "codec"}
Codec "snappy" goes to the library named by NDFILE_TEST_LIBBLOSC, the others to the blosc package.
"""
import ctypes
import json
import os
import sys

import blosc


def snappy_library():
    path = os.environ["NDFILE_TEST_LIBBLOSC"]
    snappy = os.path.join(os.path.dirname(path), "libsnappy.so.1")
    if os.path.exists(snappy):
        ctypes.CDLL(snappy, mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(path)


def with_library(lib, r, data):
    size = ctypes.c_size_t
    if r["op"] == "encode":
        out = ctypes.create_string_buffer(len(data) + 16)
        n = lib.blosc_compress_ctx(r["level"], r["shuffle"], size(r["typesize"]), size(len(data)), data, out,
                                   size(len(out)), r["codec"].encode(), size(r["blocksize"]), r["threads"])
    else:
        out = ctypes.create_string_buffer(max(r["nbytes"], 1))
        n = lib.blosc_decompress_ctx(data, out, size(r["nbytes"]), 1)
    if n < 0 or n == 0 and r["op"] == "encode":
        raise ValueError("libblosc returned %d" % n)
    return out.raw[:n]


def with_wheel(r, data):
    if r["op"] == "decode":
        return blosc.decompress(data)
    blosc.set_nthreads(r["threads"])
    blosc.set_blocksize(r["blocksize"])
    return blosc.compress(data, r["typesize"], clevel=r["level"], shuffle=r["shuffle"], cname=r["codec"])


def main():
    lib, stdin, stdout = None, sys.stdin.buffer, sys.stdout.buffer
    print("C-Blosc", blosc.blosclib_version, file=sys.stderr)
    for line in iter(stdin.readline, b""):
        r = json.loads(line)
        data = stdin.read(r["n"])
        try:
            if r["codec"] == "snappy":
                lib = lib or snappy_library()
                out = with_library(lib, r, data)
            else:
                out = with_wheel(r, data)
            stdout.write(b"%d\n" % len(out) + out)
        except Exception as e:  # the test reports it
            stdout.write(b"error %s\n" % str(e).replace("\n", " ").encode())
        stdout.flush()


main()
