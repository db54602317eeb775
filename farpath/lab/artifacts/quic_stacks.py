"""QUIC stacks: builds the programs of images/quic that a plan runs, once for their sources."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from farpath.lab.artifacts.images import QUIC_LINKS, Images
from farpath.lab.artifacts.scripts import QUIC_SCRIPT, build_artifact, errors_named, linked
from farpath.spec.stack import QUIC, Stack

#: Prefix of the stacks' names, before the name of the library.
PREFIX = "quic_"


def _print_to_stderr(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def build_quic(stacks: Iterable[Stack], images: Images) -> None:
    """Build the programs of a plan's QUIC stacks, and link them to where ``images`` are.

    Programs that were built before are used. Raises MachineLacksError if a tool for building is
    missing.
    """
    for name in sorted({stack.name for stack in stacks if stack.program == QUIC}):
        with errors_named("STACK"):
            directory = build_artifact(
                QUIC_SCRIPT, name.removeprefix(PREFIX), tell=_print_to_stderr
            )
        linked(directory, images.own.parent / QUIC_LINKS, name)
