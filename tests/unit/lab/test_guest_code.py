"""What a guest gets of farpath's code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path as FilePath
from zipfile import ZipFile

from farpath import __version__
from farpath.lab.guest_code import guest_files, write_code
from farpath.spec.protocol import CODE_DIR, GUEST_CODE

#: Imports each module of the guest in a process of its own, as its main program does, with
#: stand-ins for Mininet, which the guest's own root file system holds. What most import of the
#: standard library is there before.
IMPORT_EACH = """
import dataclasses, hashlib, json, logging, pathlib, random, socket, subprocess, tempfile, typing
import importlib, os, sys, types
from importlib.machinery import ModuleSpec

class Mininet:
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "mininet":
            return ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = self.attribute
        return module
    def attribute(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})
    def exec_module(self, module):
        pass

sys.meta_path.append(Mininet())
import farpath
failed = {}
for name in sys.argv[1:]:
    if not (pid := os.fork()):
        try:
            importlib.import_module(name)
        except BaseException as error:
            os.write(1, f"{name}: {error!r}\\n".encode())
        os._exit(0)
    os.waitpid(pid, 0)
"""


def in_guest(share: FilePath, *arguments: str) -> str:
    """What Python prints without the packages of this environment, as in a guest."""
    ended = subprocess.run(
        [sys.executable, "-S", "-c", *arguments],
        cwd=share,
        env={"PYTHONPATH": str(share / CODE_DIR)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout


def test_the_package_in_the_guest_has_a_version_and_nothing_of_the_host(tmp_path: FilePath) -> None:
    write_code(tmp_path, None)
    public = "[name for name in vars(farpath) if not name.startswith('_')]"
    said = in_guest(tmp_path, f"import farpath; print(farpath.__version__, {public})")
    assert said == f"{__version__} ['sys', 'ARCHIVE']\n"


def test_each_module_of_a_guest_imports_what_the_guest_has(tmp_path: FilePath) -> None:
    write_code(tmp_path, None)
    # A folder in the archive's place, where a module is compiled once and not in each process
    archive = tmp_path / CODE_DIR / GUEST_CODE
    with ZipFile(archive) as packed:
        packed.extractall(tmp_path / "unpacked")
    archive.unlink()
    (tmp_path / "unpacked").rename(archive)
    modules = sorted(
        name.removesuffix(".py").replace("/", ".")
        for name in guest_files()
        if not name.endswith(("__init__.py", "__main__.py"))
    )
    assert {"farpath.guest.network", "farpath.mechanisms.disk.device"} < set(modules)
    assert not [name for name in modules if name.endswith((".mechanism", ".program"))]
    assert in_guest(tmp_path, IMPORT_EACH, *modules) == ""
