"""Baseline: what a suite's runs gave on a known kernel, as a small text file.

TOML, a table for each run: its fingerprint, and for each metric its value with seed 1 and
the least and greatest that a run of any seed is expected to give. A metric that not every
seed's run has, as the time until two flows share that never do, says so in a fourth place.
"""

from __future__ import annotations

import json
import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from farpath.analysis.statistics import student_t
from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.base.files import write_text
from farpath.regress.metrics import DIGITS

FORMAT_VERSION = 1
#: Where the project's own are, a file for each kernel release and processor level.
BASELINES = FilePath(__file__).parent / "baselines"
#: The part of all values of other seeds that bounds are to hold: a suite compares a
#: thousand numbers, of which about one may be out of bounds by chance.
COVERED = 0.999
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
#: Behind the numbers of a metric that some seeds' runs do not have.
OR_NONE = "or none"
#: A key of TOML that needs no quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_NAME = re.compile(r"linux-(\d+\.\d+(?:\.\d+)?)-x86-64-v([1-4])\.toml")


@dataclass(frozen=True)
class Interval:
    """A metric with seed 1, and the least and greatest that other seeds may give.

    ``optional``: some seed's run does not have it; ``value`` is None if seed 1's has not.
    """

    value: float | None
    low: float
    high: float
    optional: bool = False

    def holds(self, value: float | None) -> bool:
        """Whether a value, or its absence, is one that the baseline's kernel gives too."""
        return self.optional if value is None else self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}{f', {OR_NONE}' if self.optional else ''}"


@dataclass(frozen=True)
class BaselineRun:
    """A run as a baseline has it."""

    fingerprint: str
    bounds: Mapping[str, Interval]


@dataclass(frozen=True)
class Baseline:
    """Every run that is known, by the trial's name; ``made``: of what kernel and machine."""

    name: str
    made: Mapping[str, Any]
    runs: Mapping[str, BaselineRun] = field(default_factory=dict)


def interval(values: Sequence[float | None]) -> Interval:
    """Of the values that seeds give, the first of seed 1: where a further one is expected.

    A prediction interval for one more value of a normal distribution of which n are known:
    mean +- t(n - 1) s sqrt(1 + 1/n), widened to hold all that were seen, and no metric is
    below 0. What does not depend on the seed has bounds of no width. Where one seed of
    several gives a value, nothing is known of how far others are from it.
    """
    seen = [value for value in values if value is not None]
    if len(seen) == 1 < len(values):
        return Interval(values[0], 0.0, math.inf, optional=True)
    mean, count = statistics.fmean(seen), len(seen)
    half = 0.0
    if count > 1 and (deviation := statistics.stdev(seen)) > 0:
        half = student_t(count - 1, (1 + COVERED) / 2) * deviation * math.sqrt(1 + 1 / count)
    low, high = min(*seen, max(0.0, mean - half)), max(*seen, mean + half)
    low, high = (float(f"{each:.{DIGITS}g}") for each in (low, high))
    return Interval(values[0], low, high, optional=count < len(values))


def baseline_run(fingerprint: str, by_seed: Sequence[Mapping[str, float]]) -> BaselineRun:
    """What is known of a trial: its fingerprint with seed 1, and each seed's metrics."""
    names = dict.fromkeys(name for each in by_seed for name in each)
    return BaselineRun(
        fingerprint, {name: interval([each.get(name) for each in by_seed]) for name in names}
    )


def as_toml(baseline: Baseline) -> str:
    """The file's text: equal baselines give equal bytes, a changed metric one changed line."""
    lines = ["# Made by 'farpath regress --update'; read what changed before you commit it.", ""]
    lines += [f"format_version = {FORMAT_VERSION}", "", "[made]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in sorted(baseline.made.items())]
    for trial, run in sorted(baseline.runs.items()):
        lines += ["", f"[{'.'.join(_key(part) for part in ('runs', *trial.split('/')))}]"]
        lines.append(f"fingerprint = {json.dumps(run.fingerprint)}")
        lines += [f"{name} = [{_row(each)}]" for name, each in run.bounds.items()]
    return "\n".join(lines) + "\n"


def _row(found: Interval) -> str:
    value = math.nan if found.value is None else found.value
    numbers = [f"{each:.{DIGITS}g}" for each in (value, found.low, found.high)]
    return ", ".join([*numbers, *([json.dumps(OR_NONE)] if found.optional else [])])


def _bound_of(row: Sequence[Any]) -> Interval:
    """The inverse of :func:`_row`; TypeError or ValueError for what is no such row."""
    value, low, high = map(float, row[:3])
    if row[3:] not in ([], [OR_NONE]):
        raise ValueError(f"'{row[3:]}' is not '{OR_NONE}'")
    return Interval(None if math.isnan(value) else value, low, high, optional=len(row) > 3)


def _key(text: str) -> str:
    return text if _BARE_KEY.fullmatch(text) else json.dumps(text)


def write_baseline(baseline: Baseline, file: FilePath) -> None:
    """Write it whole or not at all."""
    write_text(file, as_toml(baseline))


def read_baseline(file: FilePath) -> Baseline:
    """What :func:`write_baseline` wrote; BadInputError for what is no such file."""
    data = read_toml(file)
    try:
        version = data["format_version"]
        runs = {
            f"{stack}/{case}": BaselineRun(
                table.pop("fingerprint"),
                {name: _bound_of(row) for name, row in table.items()},
            )
            for stack, cases in data.get("runs", {}).items()
            for case, table in cases.items()
        }
        made = dict(data["made"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(
            f"{file}: is no baseline ({error}): make one with 'farpath regress --update'"
        ) from error
    if version != FORMAT_VERSION:
        raise BadInputError(
            f"{file}: has format version {version}, this farpath reads {FORMAT_VERSION}: make it "
            "again with 'farpath regress --update'"
        )
    return Baseline(file.stem, made, runs)


def file_for(release: str, level: int, folder: FilePath = BASELINES) -> FilePath:
    """Where the baseline of a kernel release (7.2.12-farpath) and processor level belongs."""
    match = _RELEASE.match(release)
    if match is None:
        raise BadInputError(f"the kernel calls itself '{release}', which is no release")
    return folder / f"linux-{match[0]}-x86-64-v{level}.toml"


def nearest(release: str, level: int, folder: FilePath = BASELINES) -> FilePath | None:
    """The baseline to hold a kernel against, if there is one of its series.

    Of its release before others of the series, then of the nearest level: programs such as
    UDT compute with what the processor has, in other last digits.
    """
    wanted = _numbers(release)
    found: list[tuple[int, int, FilePath]] = []
    for file in folder.glob("linux-*.toml"):
        match = _NAME.fullmatch(file.name)
        if match and (numbers := _numbers(match[1]))[:2] == wanted[:2]:
            found.append((abs(numbers[2] - wanted[2]), abs(int(match[2]) - level), file))
    return min(found)[2] if found else None


def _numbers(release: str) -> tuple[int, int, int]:
    match = _RELEASE.match(release)
    major, minor, patch = match.groups() if match else (0, 0, 0)
    return int(major), int(minor), int(patch or 0)


def merged(old: Baseline | None, new: Baseline) -> Baseline:
    """The new one, with those runs of the old that were not made again."""
    runs = {**(old.runs if old else {}), **new.runs}
    return Baseline(new.name, new.made, runs)


def changes(old: Baseline | None, new: Baseline, trials: Iterable[str]) -> list[str]:
    """What an update changes, a line each."""
    before = old.runs if old else {}
    said = []
    for trial in sorted(trials):
        was, now = before.get(trial), new.runs[trial]
        if was is None:
            said.append(f"+ {trial}: new, {len(now.bounds)} metrics")
        elif was != now:
            said += [f"~ {trial}: {line}" for line in _changed_metrics(was, now)]
    return said


def _changed_metrics(was: BaselineRun, now: BaselineRun) -> list[str]:
    lines = [] if was.fingerprint == now.fingerprint else ["another fingerprint"]
    for name in dict.fromkeys((*was.bounds, *now.bounds)):
        old, new = was.bounds.get(name), now.bounds.get(name)
        if old != new:
            lines.append(f"{name} {_shown(old)} -> {_shown(new)}")
    return lines


def _shown(found: Interval | None) -> str:
    return "none" if found is None else f"{number(found.value)} ({found})"


def number(value: float | None) -> str:
    """A value for people, or that there is none."""
    return "none" if value is None else f"{value:g}"
