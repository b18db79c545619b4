"""Writes examples.json with what the command ds of ds-format 5.0.2 prints, and the datasets beside it: python make.py.

The examples are those of its user guide, over ds files, and some beside them. Lines of one example are run in order in
one folder that holds the datasets; a status other than 0 is noted with the first line of stderr.
"""

import copy
import json
import os
import shlex
import subprocess
import sys
import tempfile

import ds_format as ds
import numpy as np

EXAMPLES = """
ds dataset.ds
ds ls dataset.ds
ds ls -l dataset.ds
ds ls dataset.ds a: units
ds ls dataset.ds a: { long_name units }
ds ls 'temp*' dataset.ds
ds -l dataset.ds
ds ls -F temperature dataset.ds
ds ls nothing dataset.ds
ds -s ls nothing dataset.ds
ds ls -j dataset.ds -l
ds attrs dataset.ds
ds attrs temperature dataset.ds
ds attrs none title dataset.ds
ds attrs temperature units dataset.ds
ds attrs temperature nothing dataset.ds
ds cat temperature dataset.ds
ds cat time temperature dataset.ds
ds cat -n time dataset.ds
ds cat '*' dataset.ds
ds cat time dataset.ds range: {{ time: { 0 2 } }}
ds cat time temperature dataset.ds at: {{ temperature: 17.5 }}
ds cat time temperature dataset.ds between: {{ time: { 2 none } }}
ds cat temperature dataset.ds sel: {{ time: 1 }}
ds cat temperature dataset.ds sel: {{ time: { 0 2 } }}
ds -j cat temperature dataset.ds
ds dim time dataset.ds
ds dim nothing dataset.ds
ds dims dataset.ds
ds dims temperature dataset.ds
ds dims -z dataset.ds
ds dims --size temperature dataset.ds
ds meta dataset.ds
ds meta temperature dataset.ds
ds meta . dataset.ds
ds -j meta dataset.ds
ds meta --noindent dataset.ds
ds size temperature dataset.ds
ds type temperature dataset.ds
ds stats temperature dataset.ds
ds stats time dataset.ds
ds stats grid more.ds
ds cat grid more.ds
ds cat text more.ds
ds cat gaps more.ds
ds ls -l more.ds
ds stats gaps more.ds
ds select temperature dataset.ds out.ds ; ds out.ds
ds select time: 0 dataset.ds 0.ds ; ds cat time temperature 0.ds
ds select dataset.ds out.json ; cat out.json
ds select dataset.ds out.ds ; ds meta out.ds
ds select time: { 0 2 } dataset.ds out.ds ; ds cat time temperature out.ds
ds select time: { false true true } dataset.ds out.ds ; ds cat time temperature out.ds
ds set { time none time { 1 2 3 } long_name: time units: s } { temperature none time { 16. 18. 21. } long_name: temperature units: celsius } title: 'Temperature data' none x.ds ; ds meta x.ds ; ds cat time temperature x.ds
ds set temperature none none { 17. 19. 22. } dataset.ds output.ds ; ds cat temperature output.ds
ds set temperature none time { 16. 18. none } long_name: temperature units: celsius dataset.ds output.ds ; ds cat temperature output.ds ; ds attrs temperature output.ds
ds set newtitle: 'New title' dataset.ds output.ds ; ds attrs output.ds
ds set temperature newunits: K dataset.ds output.ds ; ds attrs temperature output.ds
ds set temperature int64 dataset.ds output.ds ; ds cat temperature output.ds ; ds type temperature output.ds
ds set flag bool time { true false true } dataset.ds o.ds ; ds cat flag o.ds
ds set name unicode time { a b c } dataset.ds o.ds ; ds cat name o.ds ; ds type name o.ds
ds rename { time: newtime temperature: newtemperature } dataset.ds output.ds ; ds ls -l output.ds
ds rename none { title: newtitle } dataset.ds output.ds ; ds attrs output.ds
ds rename temperature { long_name: newlong_name units: newunits } dataset.ds output.ds ; ds attrs temperature output.ds
ds rename '*' { long_name: newlong_name units: newunits } dataset.ds output.ds ; ds ls output.ds a: { newlong_name newunits }
ds rename time: newtime temperature: newtemperature dataset.ds output.ds ; ds ls -l output.ds
ds rename none title: newtitle dataset.ds output.ds ; ds attrs output.ds
ds rename temperature long_name: newlong_name units: newunits dataset.ds output.ds ; ds attrs temperature output.ds
ds rename { time { long_name: l2 } } { temperature { units: u2 } } dataset.ds output.ds ; ds ls output.ds a: { l2 u2 }
ds rename_dim time: newtime dataset.ds output.ds ; ds dims output.ds
ds rename_dim {{ time: newtime }} dataset.ds output.ds ; ds dims output.ds
ds rm temperature dataset.ds output.ds ; ds output.ds
ds rm temperature long_name dataset.ds output.ds ; ds attrs temperature output.ds
ds rm none title dataset.ds output.ds ; ds attrs output.ds
ds rm { time temperature } dataset.ds output.ds ; ds output.ds
ds rm temperature { units long_name } dataset.ds output.ds ; ds meta output.ds
ds merge time d1.ds d2.ds out.ds ; ds cat time temperature out.ds
ds merge n d1.ds d2.ds out.ds ; ds cat time temperature out.ds ; ds dims temperature out.ds
ds merge time d1.ds more.ds out.ds ; ds cat time out.ds
ds ls missing.ds
ds
ds --version
ds cat temperature grid more.ds
"""

HERE = os.path.dirname(os.path.abspath(__file__))


def datasets(folder):
    time = {".dims": ["time"], "long_name": "time", "units": "s"}
    temperature = {".dims": ["time"], "long_name": "temperature", "units": "celsius"}
    meta = {".": {"title": "Temperature data"}, "time": time, "temperature": temperature}
    d = {"time": [1, 2, 3], "temperature": [16.0, 18.0, 21.0], ".": meta}
    ds.write(os.path.join(folder, "dataset.ds"), copy.deepcopy(d))
    for k in (1, 2):
        part = copy.deepcopy(d)
        part["time"] = [3 * k - 2, 3 * k - 1, 3 * k]
        ds.write(os.path.join(folder, f"d{k}.ds"), part)
    more = {
        "temperature": [1.0],
        "grid": np.arange(6.0).reshape(2, 3),
        "text": ["a b", "c", "none"],
        "gaps": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
        "time": [7, 8],
    }
    dims = {"temperature": ["t"], "grid": ["y", "x"], "text": ["s"], "gaps": ["s"], "time": ["time"]}
    more["."] = {name: {".dims": names} for name, names in dims.items()}
    ds.write(os.path.join(folder, "more.ds"), more)


def outcome(example, folder):
    out = ""
    for line in example.split(" ; "):
        path = os.path.dirname(sys.executable) + ":/usr/bin:/bin"
        p = subprocess.run(shlex.split(line), cwd=folder, capture_output=True, text=True, env={"PATH": path})
        out += p.stdout
        if p.returncode:
            out += f"status {p.returncode}: {p.stderr.splitlines()[0]}\n"
    return out


def main():
    datasets(HERE)
    examples = []
    with tempfile.TemporaryDirectory() as folder:
        datasets(folder)
        for example in EXAMPLES.split("\n"):
            if example:
                lines = [shlex.split(line) for line in example.split(" ; ")]
                examples.append({"lines": lines, "output": outcome(example, folder)})
    with open(os.path.join(HERE, "examples.json"), "w") as f:
        json.dump(examples, f, indent=1, ensure_ascii=False)
        f.write("\n")


main()
