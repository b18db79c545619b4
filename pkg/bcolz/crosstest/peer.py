"""Read bcolz roots with bcolz: one path a line in, one line of JSON a root out."""

import hashlib
import json
import sys
import warnings

warnings.filterwarnings("ignore")
import bcolz  # noqa: E402


def describe(path):
    t = bcolz.open(path, mode="r")
    if isinstance(t, bcolz.carray):
        rows = {"": t[:]}
    else:
        whole = t[:]
        rows = {name: whole[name] for name in t.names}
    return {n: [len(v), hashlib.sha256(v.tobytes()).hexdigest()] for n, v in rows.items()}


for line in sys.stdin:
    try:
        answer = describe(line.rstrip("\n"))
    except Exception as e:  # whatever bcolz raises is its answer
        answer = {"error": f"{type(e).__name__}: {e}"}
    print(json.dumps(answer), flush=True)
