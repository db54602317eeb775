"""Baselines: the results of a suite's runs on a known kernel, as a small text file.

The file is TOML with a table for each run: its fingerprint, and for each metric its value with seed
1 and the least and greatest value expected with any seed. A fourth field marks a metric that is
undefined with some seeds, such as the time until two flows share where they never do.
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

from farpath.base.documents import check_format_version, read_toml
from farpath.base.errors import BadInputError
from farpath.base.files import write_text
from farpath.metrics.estimate import student_t
from farpath.uses.regress.metrics import DIGITS

FORMAT_VERSION = 1
#: The directory of the project's baselines, a file for each kernel release and processor level.
BASELINES = FilePath(__file__).parent / "baselines"
#: The fraction of values with other seeds that bounds should contain: a suite compares a thousand
#: numbers, of which about one may be out of bounds by chance.
COVERED = 0.999
_RELEASE = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
#: The mark of a metric that is undefined with some seeds.
UNDEFINED_MARK = "or none"
#: A key of TOML that needs no quotes.
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_NAME = re.compile(r"linux-(\d+\.\d+(?:\.\d+)?)-x86-64-v([1-4])\.toml")


@dataclass(frozen=True)
class Interval:
    """A metric with seed 1, and the least and greatest value expected with other seeds.

    ``optional``: the metric is undefined with some seeds; ``value`` is None if it is with seed 1.
    """

    value: float | None
    low: float
    high: float
    optional: bool = False

    def holds(self, value: float | None) -> bool:
        """Whether a value, or its absence, is expected from the baseline's kernel."""
        return self.optional if value is None else self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}{f', {UNDEFINED_MARK}' if self.optional else ''}"


@dataclass(frozen=True)
class BaselineRun:
    """A run in a baseline."""

    fingerprint: str
    bounds: Mapping[str, Interval]


@dataclass(frozen=True)
class Baseline:
    """Every known run, by its trial's name; ``made``: the kernel and machine of the baseline."""

    name: str
    made: Mapping[str, Any]
    runs: Mapping[str, BaselineRun] = field(default_factory=dict)


def prediction_interval(values: Sequence[float | None]) -> Interval:
    """Return the interval in which the value of a further seed is expected.

    ``values``: of the known seeds, seed 1 first. The interval is a prediction interval for
    one more value of a normal distribution of which n are known: mean +- t(n - 1) s sqrt(1 + 1/n).
    It is widened to contain all known values, and no metric is below 0. A metric that does not
    depend on the seed has bounds of no width. If only one of several seeds gives a value, the
    spread is unknown and the interval is unbounded.
    """
    defined = [value for value in values if value is not None]
    if len(defined) == 1 < len(values):
        return Interval(values[0], 0.0, math.inf, optional=True)
    mean, count = statistics.fmean(defined), len(defined)
    half_width = 0.0
    if count > 1 and (deviation := statistics.stdev(defined)) > 0:
        half_width = student_t(count - 1, (1 + COVERED) / 2) * deviation * math.sqrt(1 + 1 / count)
    low, high = min(*defined, max(0.0, mean - half_width)), max(*defined, mean + half_width)
    low, high = (float(f"{bound:.{DIGITS}g}") for bound in (low, high))
    return Interval(values[0], low, high, optional=count < len(values))


def baseline_run(fingerprint: str, by_seed: Sequence[Mapping[str, float]]) -> BaselineRun:
    """Return a trial's entry from its fingerprint with seed 1 and each seed's metrics."""
    names = dict.fromkeys(name for metrics in by_seed for name in metrics)
    return BaselineRun(
        fingerprint,
        {name: prediction_interval([metrics.get(name) for metrics in by_seed]) for name in names},
    )


def as_toml(baseline: Baseline) -> str:
    """Return the file's text: equal baselines give equal bytes.

    A changed metric changes one line.
    """
    lines = ["# Made by 'farpath regress --update'; read what changed before you commit it.", ""]
    lines += [f"format_version = {FORMAT_VERSION}", "", "[made]"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in sorted(baseline.made.items())]
    for trial, run in sorted(baseline.runs.items()):
        lines += ["", f"[{'.'.join(_key(part) for part in ('runs', *trial.split('/')))}]"]
        lines.append(f"fingerprint = {json.dumps(run.fingerprint)}")
        lines += [f"{name} = [{_row(bounds)}]" for name, bounds in run.bounds.items()]
    return "\n".join(lines) + "\n"


def _row(bounds: Interval) -> str:
    value = math.nan if bounds.value is None else bounds.value
    numbers = [f"{number:.{DIGITS}g}" for number in (value, bounds.low, bounds.high)]
    return ", ".join([*numbers, *([json.dumps(UNDEFINED_MARK)] if bounds.optional else [])])


def _parse_interval(row: Sequence[Any]) -> Interval:
    """Return the inverse of ``_row``; raise TypeError or ValueError for another format."""
    value, low, high = map(float, row[:3])
    if row[3:] not in ([], [UNDEFINED_MARK]):
        raise ValueError(f"'{row[3:]}' is not '{UNDEFINED_MARK}'")
    return Interval(None if math.isnan(value) else value, low, high, optional=len(row) > 3)


def _key(text: str) -> str:
    return text if _BARE_KEY.fullmatch(text) else json.dumps(text)


def write_baseline(baseline: Baseline, file: FilePath) -> None:
    """Write a baseline, completely or not at all."""
    write_text(file, as_toml(baseline))


def read_baseline(file: FilePath) -> Baseline:
    """Read a file of ``write_baseline``; raise BadInputError for any other."""
    data = read_toml(file)
    remedy = "make one with 'farpath regress --update'"
    check_format_version(data, FORMAT_VERSION, file, remedy)
    try:
        runs = {
            f"{stack}/{case}": BaselineRun(
                table.pop("fingerprint"),
                {name: _parse_interval(row) for name, row in table.items()},
            )
            for stack, cases in data.get("runs", {}).items()
            for case, table in cases.items()
        }
        made = dict(data["made"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadInputError(problem=f"{file}: is no baseline ({error})", remedy=remedy) from error
    return Baseline(file.stem, made, runs)


def baseline_file(release: str, level: int, folder: FilePath = BASELINES) -> FilePath:
    """Return the file for a kernel release (7.2.12-farpath) and processor level."""
    match = _RELEASE.match(release)
    if match is None:
        raise BadInputError(problem=f"the kernel calls itself '{release}', which is no release")
    return folder / f"linux-{match[0]}-x86-64-v{level}.toml"


def nearest_baseline(release: str, level: int, folder: FilePath = BASELINES) -> FilePath | None:
    """Return the baseline to compare a kernel with, if there is one of its series.

    The kernel's release comes before others of the series, then the nearest level decides. Programs
    such as UDT compute with the processor's instructions, and their last digits differ.
    """
    wanted = _numbers(release)
    candidates: list[tuple[int, int, FilePath]] = []
    for file in folder.glob("linux-*.toml"):
        match = _NAME.fullmatch(file.name)
        if match and (numbers := _numbers(match[1]))[:2] == wanted[:2]:
            candidates.append((abs(numbers[2] - wanted[2]), abs(int(match[2]) - level), file))
    return min(candidates)[2] if candidates else None


def _numbers(release: str) -> tuple[int, int, int]:
    match = _RELEASE.match(release)
    major, minor, patch = match.groups() if match else (0, 0, 0)
    return int(major), int(minor), int(patch or 0)


def merge_baselines(old: Baseline | None, new: Baseline) -> Baseline:
    """Return the new baseline, with the runs of the old one that were not made again."""
    runs = {**(old.runs if old else {}), **new.runs}
    return Baseline(new.name, new.made, runs)


def describe_changes(old: Baseline | None, new: Baseline, trials: Iterable[str]) -> list[str]:
    """Return the changes of an update, a line each."""
    before = old.runs if old else {}
    lines = []
    for trial in sorted(trials):
        old_run, new_run = before.get(trial), new.runs[trial]
        if old_run is None:
            lines.append(f"+ {trial}: new, {len(new_run.bounds)} metrics")
        elif old_run != new_run:
            lines += [f"~ {trial}: {line}" for line in _changed_metrics(old_run, new_run)]
    return lines


def _changed_metrics(old_run: BaselineRun, new_run: BaselineRun) -> list[str]:
    lines = [] if old_run.fingerprint == new_run.fingerprint else ["another fingerprint"]
    for name in dict.fromkeys((*old_run.bounds, *new_run.bounds)):
        old, new = old_run.bounds.get(name), new_run.bounds.get(name)
        if old != new:
            lines.append(f"{name} {_interval_text(old)} -> {_interval_text(new)}")
    return lines


def _interval_text(bounds: Interval | None) -> str:
    return "none" if bounds is None else f"{value_text(bounds.value)} ({bounds})"


def value_text(value: float | None) -> str:
    """Format a value for people; None becomes "none"."""
    return "none" if value is None else f"{value:g}"
