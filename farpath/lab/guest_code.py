"""Guest code: the modules of farpath that a lab's guest imports, as one archive."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from types import ModuleType
from zipfile import ZipFile, ZipInfo

import farpath.mechanisms
import farpath.programs
import topologies
from farpath import __version__
from farpath.base.errors import FarpathError
from farpath.base.files import write_bytes
from farpath.base.project import PROJECT, cache_directory
from farpath.spec.programs import PROGRAM_DEVICE
from farpath.spec.protocol import CODE_DIR, GUEST_CODE, SITE_VARIABLE
from farpath.tools.commands import note

#: The parts of farpath's code that the guest imports.
GUEST_PACKAGES = ("farpath/guest", "farpath/spec", "farpath/tools")
GUEST_FILES = ("farpath/base/__init__.py", "farpath/base/errors.py")
#: Packages of which it imports the device of each folder, with ``guest/``; a lab of a user's
#: programs may have a device of its own there.
DEVICE_PACKAGES = (farpath.mechanisms, farpath.programs)
DEVICE_FILE, PROGRAM_DEVICE_FILE, INIT_FILE = "device.py", f"{PROGRAM_DEVICE}.py", "__init__.py"
#: The package's own file in the guest, without the interface that it has on the host: it stands
#: beside the archive, in which it finds its modules.
GUEST_INIT = f'''"""farpath: real transport stacks over emulated long fat paths, in virtual time."""

import sys

__version__ = "{__version__}"
ARCHIVE = __file__.removesuffix("farpath/{INIT_FILE}") + "{GUEST_CODE}"
__path__ = [f"{{ARCHIVE}}/farpath"]
sys.path.insert(0, ARCHIVE)
'''
#: The same file where the host could not compile the archive: it does so in the guest and starts
#: Python anew, so that nothing of it is left in the process that builds the network, which else
#: would stand a microsecond earlier.
COMPILING_INIT = f'''{GUEST_INIT}
import importlib.util
import os
from importlib._bootstrap_external import _code_to_hash_pyc
from zipfile import ZipFile, ZipInfo

with ZipFile(ARCHIVE) as archive:
    files = {{name: archive.read(name) for name in archive.namelist() if name.endswith(".py")}}
for name, source in list(files.items()):
    code = compile(source, f"{GUEST_CODE}/{{name}}", "exec", dont_inherit=True)
    files[name + "c"] = _code_to_hash_pyc(code, importlib.util.source_hash(source), False)
# Guests of other sites read the same files, and write them too
own = "." + os.environ.get("{SITE_VARIABLE}", "0")
with ZipFile(ARCHIVE + own, "w") as archive:
    for name in sorted(files):
        archive.writestr(ZipInfo(name), files[name])
with open(__file__ + own, "w") as usual:
    usual.write({GUEST_INIT!r})
for file in (ARCHIVE, __file__):
    os.replace(file + own, file)
os.execv(sys.executable, sys.orig_argv)
'''


def guest_files() -> dict[str, bytes]:
    """Return each file of the archive, by its name."""
    files: dict[str, bytes] = {}
    for room in GUEST_PACKAGES:
        files |= _python_files(PROJECT / room, room)
    for place in reversed(topologies.__path__):
        files |= {f"topologies/{each.name}": each.read_bytes() for each in _modules_in(place)}
    files |= {name: (PROJECT / name).read_bytes() for name in GUEST_FILES}
    for package in DEVICE_PACKAGES:
        files |= _device_files(package)
    return files


def _modules_in(place: str) -> Iterator[FilePath]:
    return FilePath(place).glob("*.py")


def _python_files(directory: FilePath, name: str) -> dict[str, bytes]:
    """Return the modules below a directory, which is called ``name`` in the archive."""
    return {
        f"{name}/{file.relative_to(directory).as_posix()}": file.read_bytes()
        for file in directory.rglob("*.py")
    }


def _device_files(package: ModuleType) -> dict[str, bytes]:
    """Return the device files of the folders of a package, wherever these are."""
    name = package.__name__.replace(".", "/")
    files = {f"{name}/{INIT_FILE}": b""}
    for folder in [folder for place in package.__path__ for folder in FilePath(place).iterdir()]:
        if not (folder / DEVICE_FILE).is_file():
            continue
        there = f"{name}/{folder.name}"
        files[f"{there}/{INIT_FILE}"] = b""
        for file in (folder / DEVICE_FILE, folder / PROGRAM_DEVICE_FILE):
            if file.is_file():
                files[f"{there}/{file.name}"] = file.read_bytes()
        files |= _python_files(folder / "guest", f"{there}/guest")
    return files


def write_code(share: FilePath, root: FilePath | None) -> None:
    """Write the code into a guest's shared directory.

    ``root``: the guest's root, whose Python has compiled the archive's files; a guest that compiles
    them takes longer to start. None for the machine's own root.
    """
    # First of all, so that a directory is known for what it is however soon this process is killed
    init = _init_of(share)
    init.parent.mkdir(parents=True)
    init.write_text(GUEST_INIT)
    files = guest_files()
    try:
        archive = _archive(files) if root is None else _compiled_archive(files, root, share)
    except (FarpathError, OSError, subprocess.CalledProcessError):
        # The cache cannot be written, or the root's programs do not run outside the guest
        archive = _archive(files)
        init.write_text(COMPILING_INIT)
    (share / CODE_DIR / GUEST_CODE).write_bytes(archive)


def is_guest_share(directory: FilePath) -> bool:
    """Whether a directory holds the code of a guest, or the beginning of it."""
    return _init_of(directory).is_file()


def _init_of(share: FilePath) -> FilePath:
    return share / CODE_DIR / "farpath" / INIT_FILE


def _archive(files: Mapping[str, bytes]) -> bytes:
    """Return an archive whose bytes follow from the files alone."""
    written = io.BytesIO()
    with ZipFile(written, "w") as archive:
        for name in sorted(files):
            archive.writestr(ZipInfo(name), files[name])
    return written.getvalue()


def _compiled_archive(files: Mapping[str, bytes], root: FilePath, share: FilePath) -> bytes:
    """Return the archive with its compiled files, from the cache or made for it.

    Raises FarpathError, OSError and subprocess.CalledProcessError if it can be neither read nor
    made.
    """
    identity = hashlib.sha256(str(root).encode())
    for name in sorted(files):
        identity.update(f"\0{name}\0{len(files[name])}\0".encode() + files[name])
    kept = cache_directory() / "guest-code" / f"{identity.hexdigest()[:16]}.zip"
    try:
        return kept.read_bytes()
    except FileNotFoundError:
        archive = _archive({**files, **_compiled(files, root, share)})
        write_bytes(kept, archive)
        return archive


def _compiled(files: Mapping[str, bytes], root: FilePath, share: FilePath) -> dict[str, bytes]:
    """Return the files as a root's Python compiles them, which an archive has beside them.

    Python runs by the root's own loader. That a file is the one that was compiled is not checked
    again (https://peps.python.org/pep-0552/). The files are written into the shared directory,
    which is removed even if this process is killed.
    """
    made = share / "compiled"
    for name, contents in files.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(contents)
    command = [
        str(root / "lib64" / "ld-linux-x86-64.so.2"),
        *("--library-path", str(root / "usr" / "lib" / "x86_64-linux-gnu")),
        str(root / "usr" / "bin" / "python3"),
        *("-m", "compileall", "-q", "-b", "--invalidation-mode", "unchecked-hash"),
        *("-s", str(made), "-p", GUEST_CODE, str(made)),
    ]
    note(command)
    environment = {"PYTHONHOME": str(root / "usr"), "LC_ALL": "C.UTF-8"}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    compiled = {
        file.relative_to(made).as_posix(): file.read_bytes() for file in made.rglob("*.pyc")
    }
    shutil.rmtree(made)
    return compiled
