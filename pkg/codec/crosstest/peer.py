"""Codecs of numcodecs for the Go test: a JSON object a line, answered by one."""

import base64
import json
import sys

import numcodecs
import numpy as np

for line in sys.stdin:
    q = json.loads(line)
    codecs = [numcodecs.get_codec(dict(c)) for c in q["codecs"]]
    raw = base64.b64decode(q["data"])
    out = {}
    try:
        if q["op"] == "encode":
            x = np.array(q["texts"], object).reshape(q["shape"]) if "texts" in q else np.frombuffer(raw, q["dtype"]).reshape(q["shape"])
            for c in codecs:
                x = c.encode(x)
            out["data"] = base64.b64encode(numcodecs.compat.ensure_bytes(x)).decode()
        else:
            x = raw
            for c in reversed(codecs):
                x = c.decode(x)
            if "texts" in q:
                out["texts"] = list(np.asarray(x, object).ravel())
            else:
                out["data"] = base64.b64encode(numcodecs.compat.ensure_bytes(x)).decode()
    except Exception as e:  # the Go side tells which case it was
        out["error"] = f"{type(e).__name__}: {e}"
    print(json.dumps(out), flush=True)
