"""Kernel modules: loads them from their files, with parameters."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path as FilePath

from farpath.tools.commands import run

#: Number of finit_module(2) on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl), for which the C
#: library has no function.
_FINIT_MODULE = 313


def insert(directory: FilePath, module: str, parameters: Mapping[str, object]) -> None:
    """Load a module, ``<module>.ko`` in a directory; raises CommandError if the kernel refuses."""
    values = (f"{name}={value}" for name, value in parameters.items())
    run("insmod", str(directory / f"{module}.ko"), *values)


def insert_quietly(directory: FilePath, module: str, parameters: Mapping[str, object]) -> None:
    """Load a module as ``insert`` does, without a program, which would take 20 ms of real time.

    Raises OSError if the kernel refuses.
    """
    file = directory / f"{module}.ko"
    values = " ".join(f"{name}={value}" for name, value in parameters.items())
    library = ctypes.CDLL(None, use_errno=True)
    with file.open("rb") as opened:
        if library.syscall(_FINIT_MODULE, opened.fileno(), values.encode(), 0):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(file))
