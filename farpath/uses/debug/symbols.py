"""Symbols: the debug information of a run's kernels, made on demand by a second build."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path as FilePath

from farpath.base.errors import CheckFailedError, MachineLacksError
from farpath.base.project import IMAGES
from farpath.lab.artifacts.images import Images, manifest
from farpath.lab.artifacts.scripts import MODULES_SCRIPT, build_artifact
from farpath.spec.stack import Stack

DEBUG_SCRIPT = IMAGES / "kernel" / "debug"
SYMBOLS_FILE = "linux.debug"
#: The variable of the modules' build script for such files.
MODULE_DEBUG = {"MODULE_DEBUG": "1"}
#: How gdb is installed.
REMEDY = "install it ('apt-get install gdb', or 'images/host-packages debug' in a clone)"


def require_gdb(found: str | None) -> str:
    """Return gdb's program; raise MachineLacksError for None."""
    if found is None:
        raise MachineLacksError(f"this machine has no gdb: {REMEDY}")
    return found


def symbols_of(images: Images, tell: Callable[[str], None]) -> FilePath:
    """Return the file with symbols, types and lines of a site's kernel; built if it is missing.

    ``tell``: called with each line of the build, which takes minutes. Raises MachineLacksError
    where there is no source, and CheckFailedError if symbols are of another kernel.
    """
    built = build_artifact(DEBUG_SCRIPT, str(images.kernel.resolve()), tell=tell)
    of_kernel = images.manifests["kernel"]["linux_hash"]
    if manifest(built, "debug information")["linux_hash"] != of_kernel:
        raise CheckFailedError(f"{built} has the symbols of another kernel; remove it")
    return built / SYMBOLS_FILE


def module_symbols_of(
    images: Images, stacks: Iterable[Stack], tell: Callable[[str], None]
) -> dict[str, FilePath]:
    """Return the file with symbols, types and lines of each module of a site, by its name.

    ``stacks``: of the run; farpath's own modules and those of the user's. ``tell``: called with
    each line of the builds. Raises as ``symbols_of``, where a module has other code.
    """
    built = {images.stacks, *(images.build(stack) for stack in stacks if stack.module)}
    found: dict[str, FilePath] = {}
    for directory in sorted({one.resolve() for one in built}):
        place = build_artifact(
            MODULES_SCRIPT,
            *(str(images.kernel.resolve()), str(directory)),
            environment={**os.environ, **MODULE_DEBUG},
            tell=tell,
        )
        found |= {file.stem: file for file in sorted(place.glob("*.ko"))}
    return found
