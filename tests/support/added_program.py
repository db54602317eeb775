"""Capped: a program as a folder of its own, with a host's part and a guest's part.

It is udtperf at no more than ``CAP_BPS``, which the guest's part says.
"""

from __future__ import annotations

from pathlib import Path as FilePath

#: Of a process that finds the folder: it runs before any other part of farpath is imported.
FIND = """
import sys
import farpath.programs
farpath.programs.__path__.append(sys.argv.pop(1))
"""
CAP_BPS = 20_000_000
PROGRAM = '''
"""Capped: UDT at a constant rate at most."""

import dataclasses

from farpath.programs.program import Program
from farpath.spec.settings import VIRTUAL


class Capped(Program):
    name = "capped"
    ip_versions = (4,)
    labs = (VIRTUAL,)
    paces_itself = True
    packet_size_parameter = "mss"
    source_hashes = ("udtperf_hash",)

    def fitted(self, stack, path, ip_version):
        return dataclasses.replace(stack, parameters={"mss": str(path.mtu_bytes)})


PROGRAM = Capped()
'''
STACKS = """
[capped]
title = "Capped UDT"
year = 2026
source = "Debian libudt 4.11"
[capped.parameters]
mss = { default = 1500, range = [576, 9000], unit = "bytes", meaning = "size of a packet" }
"""
DEVICE = f'''
"""Capped: the command of udtperf with its rate."""

from farpath.guest.flow_ends import FlowEnds


class CappedEnds(FlowEnds):
    """The ends of flows."""

    program = "capped"

    def command(self, stack):
        return ["udtperf", "--max-rate", "{CAP_BPS}"]


ENDS = CappedEnds()
'''


def add_capped(directory: FilePath) -> None:
    """Write the folder into a directory."""
    folder = directory / "capped"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "program.py").write_text(PROGRAM)
    (folder / "stacks.toml").write_text(STACKS)
    (folder / "device.py").write_text(DEVICE)
