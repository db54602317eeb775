"""packetdrill: runs the kernel's scripts of TCP's behaviour inside the lab.

The user provides the tool (github.com/google/packetdrill; Debian has no package of it). The
scripts are part of the kernel's source, in tools/testing/selftests/net/packetdrill. On the
virtual clock no machine is too slow for the times in the scripts.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import read_regular
from farpath.base.project import PROJECT
from farpath.lab import machine, process, uml
from farpath.lab.artifacts import elf
from farpath.lab.artifacts.images import Images
from farpath.lab.process import Guest
from farpath.lab.watchdog import VirtualClock
from farpath.spec.protocol import ORDERS, PACKETDRILL_DIR, RUNNER, TIMES

TOOL = "packetdrill"
TIMES_SOURCE = PROJECT / "images" / "packetdrill" / "times.c"
SUFFIX = ".pkt"
#: File outside its own directory that the kernel's runner reads, below tools/testing/selftests.
HELPERS = FilePath("kselftest", "ktap_helpers.sh")
#: Memory of the guest in bytes.
GUEST_BYTES = 512 << 20


@dataclass(frozen=True)
class Script:
    """Result of one script: whether it passed, its output, and its duration in virtual s."""

    name: str
    passed: bool
    output: str
    took_s: float


def find_tool(requested: FilePath | None) -> FilePath:
    """Return the path of the user's packetdrill; it is searched in PATH if none is given.

    Raises MachineLacksError if there is none, and BadInputError if the lab cannot run it.
    """
    program_path = shutil.which(str(requested) if requested else TOOL)
    if program_path is None:
        problem = f"{requested} is no program" if requested else "packetdrill is not in PATH"
        raise MachineLacksError(
            f"{problem}, and Debian has no package of it: build it from "
            "github.com/google/packetdrill (gtests/net/packetdrill: ./configure && make) and name "
            "it with --tool"
        )
    tool = FilePath(program_path).resolve()
    try:
        program = read_regular(tool)
    except OSError as error:
        raise BadInputError(f"{tool}: cannot be read: {error.strerror}") from error
    if not elf.is_x86_64(program) or not elf.interpreter(program):
        raise BadInputError(
            f"{tool}: is no dynamic program for x86-64: build packetdrill without -static, since "
            "the lab preloads a times(2) for its clock"
        )
    return tool


def find_scripts(folder: FilePath, only: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the scripts in a folder that match a pattern; without patterns, all.

    Raises BadInputError if the folder has no script, or if a pattern matches none.
    """
    files = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not files:
        raise BadInputError(
            f"{folder}: there is no script *{SUFFIX}; give tools/testing/selftests/net/packetdrill "
            "of a Linux tree"
        )
    for pattern in only:
        if not any(_matches(file, pattern) for file in files):
            raise BadInputError(f"ONLY is '{pattern}': it matches no script of {folder}")
    chosen = [file for file in files if any(_matches(file, pattern) for pattern in only)]
    return tuple(file.name for file in (chosen if only else files))


def _matches(file: FilePath, pattern: str) -> bool:
    return file.match(pattern) or file.stem == pattern


def run_scripts(
    images: Images,
    tool: FilePath,
    folder: FilePath,
    scripts: Iterable[str],
    log: FilePath,
    watch: Callable[[Script], None],
) -> tuple[Script, ...]:
    """Run scripts one after another in a new guest; ``watch`` is called with each result.

    Raises MachineLacksError before the guest boots, and LabFailedError if the guest fails.
    """
    results: list[Script] = []

    def handle_event(event: dict[str, Any]) -> None:
        if event["event"] == "script":
            passed = event["status"] == 0
            results.append(Script(event["name"], passed, event["said"], event["took_s"]))
            watch(results[-1])

    machine.check_machine()
    environment = uml.guest_environment(images, 1, GUEST_BYTES)
    with machine.reserved_cores(1) as [core], process.shared_directory(images, None) as share:
        _fill(share / PACKETDRILL_DIR, tool, folder, list(scripts))
        command = uml.guest_command(images, core, GUEST_BYTES, ipv6=True)
        clock = VirtualClock(images.linux_elf)
        process.run_guests([Guest(command, environment, clock)], share, log, handle_event)
    return tuple(results)


def _compile(source: FilePath, library: FilePath) -> None:
    """Compile a library to be preloaded; raises MachineLacksError without a compiler."""
    command = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source)]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        output = getattr(error, "stderr", "") or str(error)
        raise MachineLacksError(
            "no C compiler that works: install the package gcc, or run 'make setup'", output
        ) from error


def _fill(directory: FilePath, tool: FilePath, folder: FilePath, scripts: list[str]) -> None:
    """Copy the tool and the scripts' folder into the guest's directory, with the script list."""
    inside = FilePath("net", "packetdrill")
    (directory / "bin").mkdir(parents=True)
    shutil.copyfile(tool, directory / "bin" / TOOL)
    os.chmod(directory / "bin" / TOOL, 0o755)
    _compile(TIMES_SOURCE, directory / TIMES)
    shutil.copytree(folder, directory / inside)
    if (folder / RUNNER).is_file():
        helpers = folder.resolve().parents[1] / HELPERS
        if not helpers.is_file():
            raise BadInputError(
                f"{folder / RUNNER} reads {helpers}, which is not there: give the folder within a "
                "whole tools/testing/selftests"
            )
        (directory / HELPERS).parent.mkdir()
        shutil.copyfile(helpers, directory / HELPERS)
    (directory / ORDERS).write_text(json.dumps({"scripts": scripts, "folder": str(inside)}))
