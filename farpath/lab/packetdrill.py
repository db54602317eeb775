"""packetdrill: the kernel's own scripts of TCP's behaviour, run inside the lab.

The tool is the user's (github.com/google/packetdrill; Debian has no package of it), the
scripts come with the kernel's source, in tools/testing/selftests/net/packetdrill. On the
virtual clock no machine is too slow for the moments that they name.
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
from farpath.base.project import PROJECT
from farpath.lab import machine, process, uml
from farpath.lab.artifacts import elf
from farpath.lab.artifacts.images import Images
from farpath.lab.watchdog import VirtualClock
from farpath.spec.protocol import ORDERS, PACKETDRILL_DIR, RUNNER, TIMES

TOOL = "packetdrill"
TIMES_SOURCE = PROJECT / "images" / "packetdrill" / "times.c"
ELF_MAGIC = b"\x7fELF"
SUFFIX = ".pkt"
#: What the kernel's runner reads beside its own folder, from tools/testing/selftests on.
HELPERS = FilePath("kselftest", "ktap_helpers.sh")
GUEST_BYTES = 512 << 20


@dataclass(frozen=True)
class Script:
    """How one script ended: whether as it should, what was said, and its virtual seconds."""

    name: str
    passed: bool
    said: str
    took_s: float


def find_tool(given: FilePath | None) -> FilePath:
    """The user's packetdrill, from PATH if none is named.

    Raises MachineLacksError if there is none, BadInputError for what the lab cannot run.
    """
    found = shutil.which(str(given) if given else TOOL)
    if found is None:
        where = f"{given} is no program" if given else "packetdrill is not in PATH"
        raise MachineLacksError(
            f"{where}, and Debian has no package of it: build it from "
            "github.com/google/packetdrill (gtests/net/packetdrill: ./configure && make) and name "
            "it with --tool"
        )
    tool = FilePath(found).resolve()
    program = tool.read_bytes()
    if program[:4] != ELF_MAGIC or not elf.is_x86_64(program) or not elf.interpreter(program):
        raise BadInputError(
            f"{tool}: is no dynamic program for x86-64: build packetdrill without -static, the lab "
            "gives it a call that its clock can do"
        )
    return tool


def find_scripts(folder: FilePath, only: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of the scripts in a folder that match one of some patterns, all without one.

    Raises BadInputError for a folder without any, and for a pattern that matches none.
    """
    known = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not known:
        raise BadInputError(
            f"{folder}: there is no script *{SUFFIX}; give tools/testing/selftests/net/packetdrill "
            "of a Linux tree"
        )
    for pattern in only:
        if not any(_is_called(file, pattern) for file in known):
            raise BadInputError(f"ONLY is '{pattern}': no script of {folder} is called so")
    chosen = [file for file in known if any(_is_called(file, pattern) for pattern in only)]
    return tuple(file.name for file in (chosen if only else known))


def _is_called(file: FilePath, pattern: str) -> bool:
    return file.match(pattern) or file.stem == pattern


def run_scripts(
    images: Images,
    tool: FilePath,
    folder: FilePath,
    scripts: Iterable[str],
    log: FilePath,
    watch: Callable[[Script], None],
) -> tuple[Script, ...]:
    """Run scripts one after another in a fresh guest; ``watch`` is told of each.

    Raises MachineLacksError before anything boots, LabFailedError for a guest that fails.
    """
    found: list[Script] = []

    def take(event: dict[str, Any]) -> None:
        if event["event"] == "script":
            passed = event["status"] == 0
            found.append(Script(event["name"], passed, event["said"], event["took_s"]))
            watch(found[-1])

    machine.check_machine()
    environment = uml.guest_environment(images, 1, GUEST_BYTES)
    with machine.reserved_core() as core, process.shared_directory(images, None) as share:
        _fill(share / PACKETDRILL_DIR, tool, folder, list(scripts))
        command = uml.guest_command(images, core, GUEST_BYTES, ipv6=True)
        clock = VirtualClock(images.linux_elf)
        process.run_guest(command, environment, share, log, take, clock=clock)
    return tuple(found)


def _compile(source: FilePath, library: FilePath) -> None:
    """A library to be preloaded; MachineLacksError without a compiler."""
    command = ["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source)]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise MachineLacksError(
            "no C compiler that works: install the package gcc, or run 'make setup'", said
        ) from error


def _fill(place: FilePath, tool: FilePath, folder: FilePath, scripts: list[str]) -> None:
    """The tool, the scripts with what lies beside them, and what is to be run."""
    inside = FilePath("net", "packetdrill")
    (place / "bin").mkdir(parents=True)
    shutil.copyfile(tool, place / "bin" / TOOL)
    os.chmod(place / "bin" / TOOL, 0o755)
    _compile(TIMES_SOURCE, place / TIMES)
    shutil.copytree(folder, place / inside)
    if (folder / RUNNER).is_file():
        helpers = folder.resolve().parents[1] / HELPERS
        if not helpers.is_file():
            raise BadInputError(
                f"{folder / RUNNER} reads {helpers}, which is not there: give the folder within a "
                "whole tools/testing/selftests"
            )
        (place / HELPERS).parent.mkdir()
        shutil.copyfile(helpers, place / HELPERS)
    (place / ORDERS).write_text(json.dumps({"scripts": scripts, "folder": str(inside)}))
