"""Mechanism: one thing that a run can have besides flows over a path, with all of its host side.

``mechanism.py`` of a folder of ``farpath/mechanisms`` holds one as ``MECHANISM``, which states only
the parts that it has. Its part in the lab is in ``farpath.guest``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Protocol

from farpath.base.column import Column
from farpath.base.frames import add_to_hash
from farpath.base.options import Option

if TYPE_CHECKING:
    import pandas as pd

    from farpath.spec.path import Path
    from farpath.spec.plan import Plan

#: Options of a mechanism as they were typed, by name; options that were left out are absent.
Texts = Mapping[str, str]
#: The order from which on mechanisms are of hosts; those before are of the path.
OF_HOSTS = 50
#: Prefix of warnings about the machine, in contrast to the path.
DOUBT = "slow machine: "


@dataclass(frozen=True)
class PathSoFar:
    """A path before mechanisms change it, with what options say of its first rate, RTT and MTU.

    ``base``: the path that options change; None for a path that an RTT makes.
    """

    base: Path | None
    rate_bps: int
    rtt_ms: float
    mtu_bytes: int


@dataclass(frozen=True)
class Output:
    """The raw result of a run in the lab.

    ``raw_dir``: the tools' output. ``readback``: settings and counts that the guest read before and
    after the traffic. ``flows``: the samples of flows (``farpath.record.record.Samples``).
    ``ended_s``: when the client of a user's programs ended, in s from its start; None for flows,
    which last as long as the schedule.
    """

    plan: Plan
    raw_dir: FilePath
    readback: Mapping[str, Any]
    flows: pd.DataFrame
    ended_s: float | None = None

    @property
    def duration_s(self) -> float:
        """How long the schedule was played, in s."""
        return self.plan.schedule.duration_s if self.ended_s is None else self.ended_s


class Recorded(Protocol):
    """The record of a run, as far as mechanisms read it (``farpath.record.record.Record``)."""

    @property
    def directory(self) -> FilePath:
        """The directory of the record."""

    @property
    def data(self) -> Mapping[str, Any]:
        """The contents of record.json."""

    @property
    def plan(self) -> Plan:
        """The plan of the run."""

    @property
    def readback(self) -> Mapping[str, Any]:
        """The settings and counts that the lab read, with the findings of mechanisms."""

    @property
    def trace(self) -> pd.DataFrame | None:
        """The samples of TCP connections; None without a trace."""


@dataclass(frozen=True)
class RecordPart:
    """A further part of a record: its files, and its entry in record.json under ``name``.

    ``write``: writes the files into the record's directory.
    """

    name: str
    entry: Any
    write: Callable[[FilePath], None]


@dataclass(frozen=True)
class FurtherTable:
    """A table that only some records have: its file and its entry in record.json have its ``name``.

    ``columns``: name and type of each. ``rows``: about how many it has at most in a plan.
    ``parquet``: options of its file.
    """

    name: str
    columns: Mapping[str, str]
    rows: Callable[[Plan], float]
    parquet: Mapping[str, Any] = field(default_factory=dict)

    def file(self, directory: FilePath) -> FilePath:
        """Return the table's file in the directory of a record."""
        return directory / f"{self.name}.parquet"

    def fingerprint(self, frame: pd.DataFrame) -> str:
        """Return the table's SHA-256, in the format of ``farpath.record.record.fingerprint``."""
        digest = hashlib.sha256()
        add_to_hash(digest, self.name, self.columns, frame)
        return digest.hexdigest()

    def part(self, frame: pd.DataFrame, **entry: Any) -> RecordPart:
        """Return the table as a part of a record, with further values of its entry."""

        def write(directory: FilePath) -> None:
            frame.to_parquet(self.file(directory), index=False, **self.parquet)

        return RecordPart(self.name, {"fingerprint": self.fingerprint(frame), **entry}, write)


@dataclass(frozen=True)
class Findings:
    """Results of a mechanism's check of a run that is as planned.

    ``readback``: further entries of the read-back. ``warnings``: sentences for the user. ``parts``:
    further parts of the record.
    """

    readback: Mapping[str, Any] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    parts: Sequence[RecordPart] = ()


@dataclass(frozen=True)
class Curve:
    """A curve over time: its label in the legend, times in s, and values."""

    label: str
    t_s: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True)
class Panel:
    """Curves that have a panel of their own in the figure of a run; ``heading`` has their unit."""

    heading: str
    curves: Sequence[Curve]


@dataclass(frozen=True)
class Fact:
    """A row of a run's page: its name, its value, and the path's field of its source."""

    name: str
    value: str
    path_field: str = ""


@dataclass(frozen=True)
class Mechanism:
    """One thing that a run can have besides flows over a path.

    ``order``: where it stands among all mechanisms, in texts and checks. ``options``: its options
    by name, in their order. ``apply``: returns a plan with the mechanism that options ask for, of
    which at least one is given; raises BadInputError for a text that an option does not allow.
    ``apply_path``: of a mechanism that is part of the path, in place of ``apply``: returns fields
    of the path, also where none of its options is given and others change the path; ``given`` are
    those of its options. ``stands_for``: returns further options of a path that options of this one
    say too, from all that are given. Both raise BadInputError.
    ``texts``: returns the options from which the mechanism of a plan is made.
    ``ends_flows``: whether flows end before their time, so that they all start at once unless a
    schedule is given.
    ``of_programs``: whether a user's programs can have it too, whose plan has one flow that does
    not run (``farpath exec``). ``of_flows``: of any other, what to do without it there, for people.
    ``lasts``: whether it does something in a plan that depends on how
    long the schedule lasts, which for programs is the time limit of the client; None for one that
    never does. Labs of programs have devices in such plans alone.

    ``check``: raises BadInputError for a plan in which the mechanism has no effect, or a wrong one.
    ``warnings``: a sentence for each thing about it that the plan's user may not have meant.
    ``memory_bytes``: the most memory that it needs in the guest. ``words``: how its settings differ
    from the usual, for people, and ``path_words`` how it makes a path differ from a plain one;
    ``line_words``: the same as a path on one line has it, None for ``path_words``;
    ``plain_words``: what a run without it is called beside runs that have it.
    ``facts`` and ``host_facts``: what it is in a plan, as rows of the path and of the hosts on the
    run's page.

    ``examine``: checks the raw result and returns its parts for the record; raises CheckFailedError
    if it differs from the plan, and LabFailedError if output is missing or broken. ``tables``: of
    its parts.
    ``columns``: numbers that it adds to the results of a run, by the run's record; None for a run
    without it. ``lines``: what it did in a run, as lines below the run's tables in a terminal.
    """

    order: int
    options: Mapping[str, Option] = field(default_factory=dict)
    apply: Callable[[Plan, Texts], Plan] = lambda plan, _texts: plan
    apply_path: Callable[[PathSoFar, Texts], Mapping[str, Any]] | None = None
    stands_for: Callable[[Texts], Texts] = lambda _texts: {}
    texts: Callable[[Plan], Texts] = lambda _plan: {}
    check: Callable[[Plan], None] = lambda _plan: None
    warnings: Callable[[Plan], Iterable[str]] = lambda _plan: ()
    ends_flows: bool = False
    of_programs: bool = False
    of_flows: str = ""
    lasts: Callable[[Plan], bool] | None = None
    memory_bytes: Callable[[Plan], int] = lambda _plan: 0
    words: Callable[[Plan], Iterable[str]] = lambda _plan: ()
    path_words: Callable[[Path], Iterable[str]] = lambda _path: ()
    line_words: Callable[[Path], Iterable[str]] | None = None
    plain_words: str = ""
    facts: Callable[[Plan], Iterable[Fact]] = lambda _plan: ()
    host_facts: Callable[[Plan], Iterable[Fact]] = lambda _plan: ()
    examine: Callable[[Output], Findings] = lambda _output: Findings()
    tables: Sequence[FurtherTable] = ()
    columns: Sequence[Column[Recorded]] = ()
    lines: Callable[[Recorded], Iterable[str]] = lambda _record: ()
    panel: Callable[[Recorded], Panel | None] = lambda _record: None
