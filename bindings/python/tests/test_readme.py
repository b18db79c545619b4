"""The README's examples are run as they stand there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language, blocks=1):
    """The blocks of that language in the README, which follow on each other."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.S | re.M)
    assert len(found) == blocks, f"README has {len(found)} {language} blocks"
    return "\n".join(found)


def test_python_example(tmp_path):
    env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"))
    subprocess.run([sys.executable, "-c", block("python", 2)], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "weather.ds").stat().st_size > 0


def run_example(tmp_path, language, default, flags):
    """Compiles and runs an example; gives what it prints."""
    compiler = os.environ.get({"c": "CC", "cpp": "CXX"}[language]) or shutil.which(default)
    library = os.environ.get("NDFILE_LIB")
    assert compiler and library, "a compiler and NDFILE_LIB are needed; run this by `make test`"
    folder = Path(library).resolve().parent
    source = tmp_path / f"example.{language}"
    source.write_text(block(language))
    command = [compiler, *flags, "-Wall", "-Wextra", "-Werror", source.name, f"-I{ROOT / 'include'}"]
    command += [f"-L{folder}", "-lndfile", f"-Wl,-rpath,{folder}", "-o", "example"]
    subprocess.run(command, cwd=tmp_path, check=True)
    return subprocess.run(["./example"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout


def test_c_example(tmp_path):
    assert run_example(tmp_path, "c", "cc", ["-std=c99"]) == "last column: 3 6\n"


def test_cpp_example(tmp_path):
    out = run_example(tmp_path, "cpp", "c++", ["-std=c++17"])
    assert out == "Praha: 272.5 K\nOslo: 270.5 K\nday 2 of Praha is missing\n"


def test_go_example(tmp_path):
    go, source = os.environ.get("GO") or shutil.which("go"), tmp_path / "main.go"
    assert go, "Go is needed"
    source.write_text(block("go"))
    subprocess.run([go, "build", "-o", str(tmp_path / "example"), str(source)], cwd=ROOT, check=True)
    out = subprocess.run(["./example"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert out == "[272.5 270.5] <nil>\n"


# Go's f[T](x) is no link.
PROSE = re.sub(r"^```.*?^```$|`[^`\n]+`", "", README, flags=re.S | re.M)


@pytest.mark.parametrize("path", re.findall(r"\]\((?!http)([^)#]+)\)", PROSE))
def test_links(path):
    assert (ROOT / path).exists()
