"""Lists what the library and the command are made of, as a CycloneDX document.

These are the Go modules that are linked into them, by what Go itself stamps into programs,
Go's standard library, and libzstd, whose C source is part of a module.
"""

from __future__ import annotations

import json
import subprocess
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Component = dict[str, object]

OWN = "github.com/ndfile/ndfile"
# Modules that bring the C source of another project, at the version of its own tag.
BUNDLED = {"github.com/DataDog/zstd": ("libzstd", "pkg:github/facebook/zstd@{version}", "BSD-3-Clause")}


def _linked(go: str, program: Path) -> tuple[str, set[tuple[str, str, str]]]:
    """Give the version of Go and the modules (path, version, sum) of a program."""
    text = subprocess.run([go, "version", "-m", str(program)], check=True, capture_output=True, text=True)
    first, *rest = text.stdout.splitlines()
    modules = set()
    for line in rest:
        kind, *words = line.split("\t")[1:]
        if kind == "dep" and not words[0].startswith(OWN):
            modules.add((words[0], words[1], words[2] if len(words) > 2 else ""))
    return first.split()[-1][len("go") :], modules


def _component(name: str, version: str, purl: str, **more: object) -> Component:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, **more}


def _components(go_version: str, modules: set[tuple[str, str, str]]) -> Iterator[Component]:
    yield _component("std", go_version, f"pkg:golang/std@{go_version}")
    for path, version, checksum in sorted(modules):
        known = {"properties": [{"name": "go:sum", "value": checksum}]} if checksum else {}
        yield _component(path, version, f"pkg:golang/{path}@{version}", **known)
        if path in BUNDLED:
            name, purl, licence = BUNDLED[path]
            yield _component(
                name, version, purl.format(version=version), licenses=[{"license": {"id": licence}}]
            )


def write_sbom(go: str, programs: list[Path], version: str, out: Path) -> None:
    """Write what all programs together are made of to out; the same programs give the same bytes."""
    modules: set[tuple[str, str, str]] = set()
    go_version = ""
    for program in programs:
        go_version, more = _linked(go, program)
        modules |= more
    parts = list(_components(go_version, modules))
    own = _component("ndfile", version, f"pkg:pypi/ndfile@{version}", licenses=[{"license": {"id": "MIT"}}])
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([own, *parts], sort_keys=True))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": own},
        "components": parts,
        "dependencies": [{"ref": own["bom-ref"], "dependsOn": sorted(str(p["bom-ref"]) for p in parts)}],
    }
    out.write_text(json.dumps(document, indent=1) + "\n")
