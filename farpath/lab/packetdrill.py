"""packetdrill: runs scripts of TCP's behaviour inside the lab.

The user provides the tool (github.com/google/packetdrill; Debian has no package of it). Scripts
are part of the kernel's source, in tools/testing/selftests/net/packetdrill, and of the tool's own,
in gtests/net/tcp. On the virtual clock no machine is too slow for the times in the scripts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError, MachineLacksError
from farpath.base.files import read_regular
from farpath.base.project import IMAGES
from farpath.lab import suites
from farpath.lab.artifacts import elf
from farpath.lab.artifacts.images import Images
from farpath.lab.suite_guest import SUITE, run_in_guest
from farpath.spec.protocol import ORDERS, RUNNER, TIMES

TOOL = "packetdrill"
TIMES_SOURCE = IMAGES / "packetdrill" / "times.c"
SUFFIX = ".pkt"
#: File that the kernel's runner reads outside its own directory, relative to that directory.
HELPERS = "../../kselftest/ktap_helpers.sh"
_DEFINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.+)")


@dataclass(frozen=True)
class Family:
    """Addresses with which scripts run. ``options``: of packetdrill; ``defines``: its symbols."""

    options: tuple[str, ...]
    defines: Mapping[str, str]


IPV6 = "ipv6"
_IPV4_ADDRESSES = (
    *("--local_ip=192.168.0.1", "--gateway_ip=192.168.0.1", "--netmask_ip=255.255.0.0"),
    "--remote_ip=192.0.2.1",
)
_IPV4_SYMBOLS = {"TFO_COOKIE": "3021b9d889017eeb", "CODE": "host_unreachable"}
_SYMBOLS_OF_6 = {"CMSG_LEVEL_IP": "SOL_IPV6", "CMSG_TYPE_RECVERR": "IPV6_RECVERR"}
#: Addresses and symbols by family, as packetdrill's own run_all.py has them; a cookie of TCP Fast
#: Open follows from the addresses and the key that scripts set (RFC 7413).
FAMILIES: Mapping[str, Family] = {
    "ipv4": Family(
        ("--ip_version=ipv4", *_IPV4_ADDRESSES),
        {**_IPV4_SYMBOLS, "CMSG_LEVEL_IP": "SOL_IP", "CMSG_TYPE_RECVERR": "IP_RECVERR"},
    ),
    IPV6: Family(
        (
            *("--ip_version=ipv6", "--mtu=1520", "--local_ip=fd3d:0a0b:17d6::1"),
            *("--gateway_ip=fd3d:0a0b:17d6:8888::1", "--remote_ip=fd3d:fa7b:d17d::1"),
        ),
        {"TFO_COOKIE": "c1d1e9742a47a9bc", **_SYMBOLS_OF_6},
    ),
    "ipv4-mapped-ipv6": Family(
        ("--ip_version=ipv4-mapped-ipv6", *_IPV4_ADDRESSES), {**_IPV4_SYMBOLS, **_SYMBOLS_OF_6}
    ),
}


@dataclass(frozen=True)
class Order:
    """A script to be run, by its place in the folder. ``arguments``: those of packetdrill."""

    name: str
    script: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Script:
    """Result of one script: whether it passed, its output, and its duration in virtual s."""

    name: str
    passed: bool
    output: str
    took_s: float


def find_tool(requested: FilePath | None) -> FilePath:
    """Return the path of the user's packetdrill; it is searched in PATH if none is given.

    Raises MachineLacksError if there is none, and BadInputError if the lab cannot run the tool.
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
        raise BadInputError(
            file=str(tool), problem="cannot be read", remedy=f"{error.strerror}"
        ) from error
    if not elf.is_x86_64(program) or not elf.interpreter(program):
        raise BadInputError(
            problem=f"{tool}: is no dynamic program for x86-64",
            remedy="build packetdrill without -static, since the lab preloads a "
            "times(2) for its clock",
        )
    return tool


def find_scripts(folder: FilePath, only: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the scripts below a folder that match a pattern, by their places in it.

    Without patterns all are returned; those of a folder with the kernel's runner lie in the folder
    itself. Raises BadInputError if there is no script, or if a pattern matches none.
    """
    files = [file for file in suites.files_below(folder) if file.suffix == SUFFIX]
    if (folder / RUNNER).is_file():
        files = [file for file in files if file.parent == folder]
    if not files:
        raise BadInputError(
            file=str(folder),
            problem=f"there is no script *{SUFFIX} in it or below",
            remedy=(
                "give tools/testing/selftests/net/packetdrill of a Linux tree, or "
                "gtests/net/tcp of packetdrill's own"
            ),
        )
    for pattern in only:
        if not any(_matches(file, folder, pattern) for file in files):
            raise BadInputError(
                option="only", given=pattern, problem=f"it matches no script of {folder}"
            )
    chosen = [file for file in files if any(_matches(file, folder, pattern) for pattern in only)]
    found = chosen if only else files
    return tuple(file.relative_to(folder).as_posix() for file in found)


def _matches(file: FilePath, folder: FilePath, pattern: str) -> bool:
    place = file.relative_to(folder).as_posix()
    return (
        file.match(pattern) or file.stem == pattern or place.startswith(f"{pattern.rstrip('/')}/")
    )


def parse_families(text: str | None, folder: FilePath) -> tuple[str, ...]:
    """Return the address families that a text names; without one all, or none for a runner.

    Raises BadInputError for any other text, and for a text together with the kernel's runner.
    """
    if (folder / RUNNER).is_file():
        if text is not None:
            raise BadInputError(
                option="family",
                given=text,
                problem=f"{folder / RUNNER} says it",
                remedy="leave it out",
            )
        return ()
    names = tuple(FAMILIES) if text is None else tuple(text.split(","))
    for name in names:
        if name not in FAMILIES:
            raise BadInputError(
                option="family",
                given=text,
                remedy=f"give some of {', '.join(FAMILIES)}, separated by commas",
            )
    return names


def parse_defines(texts: Sequence[str], folder: FilePath) -> dict[str, str]:
    """Return symbols of scripts with their values; raises BadInputError for any other text."""
    defines = {}
    for text in texts:
        match = _DEFINE.fullmatch(text)
        if match is None:
            raise BadInputError(
                option="define",
                given=text,
                remedy="give a name and a value, as in TFO_COOKIE=3021b9d889017eeb",
            )
        if (folder / RUNNER).is_file():
            raise BadInputError(
                option="define",
                given=text,
                problem=f"{folder / RUNNER} has its own",
                remedy="leave it out",
            )
        defines[match[1]] = match[2]
    return defines


def orders_of(
    scripts: Sequence[str], families: Sequence[str], defines: Mapping[str, str]
) -> list[Order]:
    """Return the runs: each script in each family for which it is written.

    A script whose name ends with v4 or v6 is for that version alone, as in run_all.py of
    packetdrill.
    """
    orders = []
    for script in scripts:
        stem = script.removesuffix(SUFFIX)
        for family in families:
            if stem.endswith("v4" if family == IPV6 else "v6"):
                continue
            symbols = {**FAMILIES[family].defines, **defines}
            arguments = [
                *("--send_omit_free", *FAMILIES[family].options),
                *(word for name, value in symbols.items() for word in ("-D", f"{name}={value}")),
            ]
            orders.append(Order(f"{script} ({family})", script, tuple(arguments)))
        if not families:
            orders.append(Order(script, script))
    return orders


def run_scripts(
    images: Images,
    tool: FilePath,
    folder: FilePath,
    orders: Sequence[Order],
    log: FilePath,
    watch: Callable[[Script], None],
) -> tuple[Script, ...]:
    """Run scripts one after another in a new guest; ``watch`` is called with each result.

    Raises BadInputError and MachineLacksError before the guest boots, and LabFailedError if the
    guest fails.
    """
    results: list[Script] = []

    def note(event: Mapping[str, Any]) -> None:
        passed = event["status"] == 0
        results.append(Script(event["name"], passed, event["said"], event["took_s"]))
        watch(results[-1])

    def fill(directory: FilePath) -> None:
        _fill(directory, tool, folder, orders)

    run_in_guest(images, log, fill, note)
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


def _fill(directory: FilePath, tool: FilePath, folder: FilePath, orders: Sequence[Order]) -> None:
    """Copy the tool and the scripts, with all files that they read, into the guest's directory."""
    (directory / "bin").mkdir(parents=True)
    shutil.copyfile(tool, directory / "bin" / TOOL)
    os.chmod(directory / "bin" / TOOL, 0o755)
    _compile(TIMES_SOURCE, directory / TIMES)
    suite = suites.suite_of(folder, (HELPERS,) if (folder / RUNNER).is_file() else ())
    suite.copy(directory / SUITE)
    scripts = [
        {
            "name": order.name,
            "folder": str(SUITE / suite.place / FilePath(order.script).parent),
            "file": FilePath(order.script).name,
            "arguments": list(order.arguments),
        }
        for order in orders
    ]
    (directory / ORDERS).write_text(json.dumps({"scripts": scripts}))
