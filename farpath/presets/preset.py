"""Preset: programs of this machine for one question over a path, with all that is asked of them.

A preset is a folder of ``farpath/presets``. Its ``preset.py`` holds ``PRESET``, an object of a
class of its own below ``Preset``; files that its programs read stand beside it. Its programs work
in that folder, and ``farpath exec`` runs them as it does any client and servers.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.errors import LabFailedError, MachineLacksError
from farpath.programs.entry import Parameter
from farpath.spec.changes import Timeline

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from farpath.metrics.finding import Finding
    from farpath.spec.path import Path
    from farpath.spec.plan import Plan

Values = Mapping[str, str]
#: Where programs stand that no user's PATH need have. The scripts of presets look there too.
PLACES = ("/usr/local/sbin", "/usr/sbin", "/usr/lib/postgresql/*/bin")


@dataclass(frozen=True)
class Commands:
    """The commands of a preset: client and servers, and the TCP ports that are waited for."""

    client: tuple[str, ...]
    servers: tuple[tuple[str, ...], ...]
    ports: tuple[int, ...] = ()


@dataclass(frozen=True)
class PresetOutput:
    """What the programs of a preset left, with the plan and the values that they ran with.

    ``directory``: of the record. ``values``: of all parameters of the preset, by name.
    """

    directory: FilePath
    plan: Plan
    values: Values

    @property
    def path(self) -> Path:
        """The path that was asked for."""
        return self.plan.path

    def text(self, name: str) -> str:
        """Return an output of the record, as in ``client.out``; raises LabFailedError."""
        try:
            return (self.directory / name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise LabFailedError(f"the record lacks {name} in {self.directory}") from error

    @property
    def rtt_s(self) -> float:
        """The least RTT that the idle path has during the run, in s."""
        return self.path.least_rtt_ms / 1e3

    @property
    def rate_bps(self) -> int:
        """The greatest rate that the way to the client has during the run, in bit/s."""
        return self.path.up_rate_bps or max(self.path.rates_bps)

    def most_bits(self, end_s: float) -> float:
        """Return the most bits that reach the client from its start to a time in s."""
        return self.rates_to_client(end_s).integral(0.0, end_s)

    def rates_to_client(self, end_s: float) -> Timeline:
        """Return the rate of the way to the client in bit/s; of a trace the highest of a second."""
        if self.path.up_rate_bps or self.path.rate_trace:
            return Timeline((0.0,), (float(self.rate_bps),), end_s)
        return self.path.rate_timeline(end_s)


class Preset:
    """A preset; the class of each folder overrides the values here.

    ``name``: as it is typed. ``summary``: what it measures, without a period. ``parameters``: what
    stands behind the colon, as in ``db:clients=4``. ``refuses_root``: whether its programs refuse
    to run as root; ``account``: the one that runs them then.
    """

    name: str
    summary: str
    parameters: tuple[Parameter, ...] = ()
    refuses_root: bool = False
    account: str = ""

    @property
    def folder(self) -> FilePath:
        """The folder of the preset, with the files that its programs read."""
        file = sys.modules[type(self).__module__].__file__
        assert file is not None
        return FilePath(file).parent

    def packages(self, values: Values) -> Mapping[str, str]:
        """Return the programs, each with the package of Debian that has it.

        A name that begins with a slash is a pattern of files.
        """
        raise NotImplementedError

    def commands(self, values: Values) -> Commands:
        """Return the commands; ``values``: of all parameters, by name."""
        raise NotImplementedError

    def findings(self, output: PresetOutput) -> Sequence[Finding]:
        """Return what was measured, with its bounds; raises LabFailedError for a strange output."""
        raise NotImplementedError

    def figure(self, output: PresetOutput) -> Figure:
        """Draw what was measured, with its bounds."""
        raise NotImplementedError

    def require_programs(self, values: Values) -> None:
        """Raise MachineLacksError if this machine lacks a program."""
        packages = self.packages(values)
        places = [place for pattern in PLACES for place in sorted(glob.glob(pattern))]
        search = os.pathsep.join([os.environ.get("PATH", os.defpath), *places])
        absent = [name for name in packages if not _is_there(name, search)]
        if absent:
            install = " ".join(dict.fromkeys(packages[name] for name in absent))
            raise MachineLacksError(
                f"preset {self.name} needs {', '.join(absent)}: install it, as by "
                f"'apt-get install {install}'"
            )


def _is_there(name: str, search: str) -> bool:
    return (
        bool(glob.glob(name))
        if name.startswith("/")
        else shutil.which(name, path=search) is not None
    )
