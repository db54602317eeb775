"""Selftests: runs scripts of the kernel's own selftests inside the lab, many times in one guest.

They are those of a folder of tools/testing/selftests/net of a Linux tree, as ``net/mptcp``, whose
programs ``make -C tools/testing/selftests TARGETS=net/mptcp`` builds beside them. On the virtual
clock no machine is too slow for the times in a script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from farpath.base.errors import BadInputError
from farpath.lab import suites
from farpath.lab.artifacts.images import Images
from farpath.lab.suite_guest import SUITE, run_in_guest
from farpath.spec.protocol import ORDERS

#: Statuses of scripts beside failures (tools/testing/selftests/kselftest.h).
PASSED, SKIPPED = 0, 4
#: What a suite's Makefile says of it: its scripts, and the programs that it builds for them.
_SCRIPTS, _PROGRAMS = "TEST_PROGS", "TEST_GEN_FILES"
_WORDS = r"^{}\s*:=((?:[^\n]*\\\n)*[^\n]*)$"
#: Files beside a suite that its scripts read, from its folder.
_LIBRARIES = ("../lib.sh", "../lib/sh/defer.sh", "../../kselftest/ktap_helpers.sh")
MOST_TIMES = 10_000
#: Marks of single tests in what a script says, by KTAP (Documentation/dev-tools/ktap.rst).
_LINE = re.compile(r"^(?:# )*(not ok|ok) \d+ (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Selftest:
    """Result of one run of a script: its exit status, its output and its duration in virtual s."""

    name: str
    status: int
    output: str
    took_s: float

    @property
    def failures(self) -> tuple[str, ...]:
        """The lines of its single tests that failed."""
        return tuple(f"not ok {rest}" for mark, rest in _LINE.findall(self.output) if mark != "ok")

    @property
    def tests(self) -> int:
        """How many single tests it had, skipped ones among them."""
        return len(_LINE.findall(self.output))

    @property
    def skipped_tests(self) -> int:
        """How many single tests it skipped."""
        return sum("# SKIP" in rest for mark, rest in _LINE.findall(self.output))


def _words(makefile: str, name: str) -> list[str]:
    """Return the words of a variable of a Makefile, which may go over several lines."""
    match = re.search(_WORDS.format(name), makefile, re.MULTILINE)
    return match[1].replace("\\\n", " ").split("#")[0].split() if match else []


def find_scripts(folder: FilePath, only: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of a suite's scripts; ``only``: names, with or without ``.sh``.

    Raises BadInputError for a folder that is no suite, for programs that are not built, and for a
    name that is none.
    """
    makefile = folder / "Makefile"
    scripts = _words(makefile.read_text(), _SCRIPTS) if makefile.is_file() else []
    scripts = [name for name in scripts if name.endswith(".sh")]
    if not scripts:
        raise BadInputError(
            file=str(folder),
            problem="no Makefile with scripts of selftests is there",
            remedy="give tools/testing/selftests/net/mptcp of a Linux tree",
        )
    missing = [
        name for name in _words(makefile.read_text(), _PROGRAMS) if not (folder / name).exists()
    ]
    if missing:
        raise BadInputError(
            file=str(folder),
            problem=f"its programs are not built: {', '.join(missing)}",
            remedy=f"run make -C {folder.parent.parent} TARGETS={folder.parent.name}/{folder.name}",
        )
    for name in only:
        if name not in scripts and f"{name}.sh" not in scripts:
            raise BadInputError(
                option="only", given=name, remedy=f"the scripts are {', '.join(scripts)}"
            )
    return tuple(
        name for name in scripts if not only or name in only or name.removesuffix(".sh") in only
    )


def run_selftests(
    images: Images,
    folder: FilePath,
    scripts: Sequence[str],
    times: int,
    log: FilePath,
    watch: Callable[[Selftest], None],
) -> tuple[Selftest, ...]:
    """Run scripts in their order, all of them ``times`` times, in one new guest.

    ``watch``: called with each result. Raises BadInputError and MachineLacksError before the guest
    boots, and LabFailedError if the guest fails.
    """
    results: list[Selftest] = []

    def note(event: Mapping[str, Any]) -> None:
        took_s, said = event["took_s"], event["said"]
        results.append(Selftest(event["name"], event["status"], said, took_s))
        watch(results[-1])

    def fill(directory: FilePath) -> None:
        found = [name for name in _LIBRARIES if (folder / name).is_file()]
        suite = suites.suite_of(folder, found)
        (directory / "bin").mkdir(parents=True)
        suite.copy(directory / SUITE)
        orders = [
            {
                "name": name,
                "folder": str(SUITE / suite.place),
                "file": name,
                "command": ["bash", f"./{name}"],
            }
            for _ in range(times)
            for name in scripts
        ]
        (directory / ORDERS).write_text(json.dumps({"scripts": orders}))

    run_in_guest(images, log, fill, note)
    return tuple(results)
