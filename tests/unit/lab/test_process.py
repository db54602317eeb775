"""What a guest gets of farpath's code."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path as FilePath
from typing import Any

from farpath import __version__
from farpath.lab.process import GUEST_INIT, copy_code

#: Imports each module of the guest in a process of its own, as its main program does, with
#: stand-ins for Mininet, which the guest's own root file system holds.
IMPORT_EACH = """
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


def test_the_package_in_the_guest_has_a_version_and_nothing_of_the_host() -> None:
    package: dict[str, Any] = {}
    exec(GUEST_INIT, package)
    assert set(package) - {"__builtins__"} == {"__doc__", "__version__"}
    assert package["__version__"] == __version__


def test_each_module_of_a_guest_imports_what_the_guest_has(tmp_path: FilePath) -> None:
    copy_code(tmp_path)
    modules = sorted(
        ".".join(file.relative_to(tmp_path).with_suffix("").parts)
        for file in tmp_path.rglob("*.py")
        if file.name not in ("__init__.py", "__main__.py")
    )
    assert {"farpath.guest.network", "farpath.mechanisms.disk.device"} < set(modules)
    assert not [name for name in modules if name.endswith((".mechanism", ".program"))]
    # Without the packages of this environment, as in the guest
    command = [sys.executable, "-S", "-c", IMPORT_EACH, *modules]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ended.stdout == ""
