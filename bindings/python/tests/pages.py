"""The blocks of code on a page of documentation, in order, and what runs them.

A page is run in a folder of its own, top down. `python` blocks share one namespace; a `text` block right behind one is
what it prints. `c`, `cpp` and `fortran` blocks are written to example.c, example.cpp and example.f90; `sh` blocks, which
compile and run them, see build/, include/ and the command as in a checkout. In `console` blocks what stands below
``$ command`` is what it prints. ``...`` in expected output stands for anything, on a line or for lines. `go` blocks that are
programs are built and run; `julia` blocks run in the tests of Julia.

Comments in the page, which readers do not see: ``<!-- setup`` CODE ``-->`` is a python block, ``<!-- from PATH -->`` before a
block says that its lines stand in that file, ``<!-- needs: A, B -->`` names packages of the ecosystem's environment, and
``<!-- not run: REASON -->`` is for the few blocks that cannot run.
"""

import contextlib
import fnmatch
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
GENERATED = {"c-api.md", "cli.md", "abilities.md"}
RUN = {"python", "sh", "console", "go", "c", "cpp", "fortran"}
EXAMPLE = {"c": "example.c", "cpp": "example.cpp", "fortran": "example.f90"}


def pages():
    """Every page that people write: the READMEs of folders, and docs/ without decisions and what is generated."""
    docs = sorted((ROOT / "docs").rglob("*.md"))
    docs = [p for p in docs if "adr" not in p.parts and not (p.parent.name == "docs" and p.name in GENERATED)]
    return [ROOT / "README.md", *docs]


def needs(page):
    """The packages that the page uses beside NumPy and the package itself."""
    found = re.search(r"^<!-- needs: (.*) -->$", page.read_text(encoding="utf-8"), re.M)
    return found[1].split(", ") if found else []


def blocks(page):
    """(line, language, code, note) of every block; the note is the comment right before it."""
    pattern = re.compile(
        r"(?:^<!-- (?P<note>(?:from|not run:) [^\n]*) -->\n+)?^(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^(?P=indent)```$"
        r"|^<!-- setup\n(?P<setup>.*?)^-->$",
        re.S | re.M,
    )
    text = page.read_text(encoding="utf-8")
    for found in pattern.finditer(text):
        setup = found["setup"] is not None
        start = found.start("setup" if setup else "code")
        code = found["setup"] if setup else re.sub(rf"^{found['indent']}", "", found["code"], flags=re.M)
        yield text.count("\n", 0, start), "python" if setup else found["language"], code, found["note"] or ""


def check(expected, printed, where):
    """Compare what a block printed with what the page says."""
    lines = expected.rstrip("\n").split("\n")
    pattern = "".join(
        "(?:.*\n)*?"
        if line.strip() == "..."
        else fnmatch.translate(glob(line)).removesuffix(r"\Z").removesuffix(r"\z") + "\n"
        for line in lines
    )
    if not re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in printed.rstrip("\n").split("\n"))):
        raise SystemExit(f"{where}: the page says\n{expected}\nit prints\n{printed}")


def glob(line):
    """The line as a pattern in which only ... is special."""
    return re.sub(r"([*?[])", r"[\1]", line.rstrip()).replace("...", "*")


def run_python(code, namespace, where):
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * where[1] + code, where[0], "exec"), namespace)
    finally:
        sys.stderr.write(out.getvalue())
    return out.getvalue()


def run_shell(code, where):
    done = subprocess.run(["sh", "-ec", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def run_console(code, where):
    commands = re.split(r"^\$ ", code, flags=re.M)
    assert not commands[0].strip(), f"{where[0]}:{where[1]}: a console block begins with $"
    for part in commands[1:]:
        command, _, expected = part.partition("\n")
        _, printed = run_shell(command, where)
        check(expected, printed, f"{where[0]}:{where[1]}: {command}")


def run_go(code, where):
    """Go programs are built in the module, and run here."""
    source = Path("example.go").absolute()
    source.write_text(code, encoding="utf-8")
    subprocess.run(["go", "build", "-o", Path("example-go").absolute(), source], cwd=ROOT, check=True)
    return run_shell("./example-go", where)


def step(language, code, note, namespace, where):
    """Run one block; gives what it printed, where that can be compared."""
    if note.startswith("from "):
        source = {line.strip() for line in (ROOT / note[5:]).read_text(encoding="utf-8").splitlines()}
        missing = [line for line in code.splitlines() if line.strip() not in source | {"", "..."}]
        assert not missing, f"{where[0]}:{where[1]}: not in {note[5:]}: {missing}"
    elif language in EXAMPLE:
        Path(EXAMPLE[language]).write_text(code, encoding="utf-8")
    elif language == "python":
        return run_python(code, namespace, where)
    elif language == "console":
        run_console(code, where)
    elif language in ("sh", "go"):
        status, printed = (run_shell if language == "sh" else run_go)(code, where)
        if status:
            raise SystemExit(f"{where[0]}:{where[1]}: status {status}\n{printed}")
        return printed
    return None


def start(page, folder):
    """Run a page in a process of its own, in a folder that is empty."""
    command = [sys.executable, __file__, str(page)]
    return subprocess.run(command, cwd=folder, timeout=300, text=True, stderr=subprocess.PIPE)


def run(page):
    """Run all blocks of a page in the current folder."""
    library = Path(os.environ["NDFILE_LIB"]).resolve()
    Path("include").symlink_to(ROOT / "include")
    Path("build").symlink_to(library.parents[1])
    os.environ["PATH"] = f"{library.parents[1]}{os.pathsep}{os.environ['PATH']}"
    namespace, printed = {"__name__": "__main__"}, None
    for line, language, code, note in blocks(page):
        where = str(page.relative_to(ROOT)), line
        if note.startswith("not run:"):
            continue
        if language == "sh" and "gfortran " in code and not shutil.which("gfortran"):
            print(f"{where[0]}:{line}: no gfortran here; make test-fortran has one", file=sys.stderr)
            continue
        if language == "text" and printed is not None:
            check(code, printed, f"{where[0]}:{line}")
        printed = step(language, code, note, namespace, where) if language in RUN else None


if __name__ == "__main__":
    run(Path(sys.argv[1]))
