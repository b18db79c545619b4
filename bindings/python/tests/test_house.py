"""The modules of the package: imports run one way, and none is too long to be read."""

from __future__ import annotations

import ast
from pathlib import Path

import ndfile

ROOT = Path(ndfile.__file__).parent
MODULES = {p.relative_to(ROOT).with_suffix("").parts: p for p in ROOT.rglob("*.py")}
MOST_LINES = 450


def imported(module: tuple[str, ...], tree: ast.Module) -> set[tuple[str, ...]]:
    """Give the modules of ours that are imported when a module is."""
    found = set()
    package = module[:-1]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            above = package[: len(package) - node.level + 1]
            base = (*above, *node.module.split(".")) if node.module else above
            for alias in node.names:
                names = (*base, alias.name), base, (*base, "__init__")
                found |= set([m for m in names if m in MODULES][:1])
    return found - {module}


def test_imports_run_one_way() -> None:
    graph = {m: imported(m, ast.parse(p.read_text())) for m, p in MODULES.items()}
    assert sum(map(len, graph.values())) > 200
    done: set[tuple[str, ...]] = set()

    def walk(module: tuple[str, ...], above: tuple[tuple[str, ...], ...]) -> None:
        assert module not in above, " -> ".join(".".join(m) for m in (*above[above.index(module) :], module))
        if module not in done:
            for other in graph[module]:
                walk(other, (*above, module))
            done.add(module)

    for module in graph:
        walk(module, ())


def test_modules_can_be_read() -> None:
    lines = {m: len(p.read_text().splitlines()) for m, p in MODULES.items()}
    assert {m[0]: n for m, n in lines.items() if m[0].startswith("_") and n > MOST_LINES} == {}
