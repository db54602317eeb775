"""Campaign: the figures of many runs, by path, stack and seed.

Pure once read: tables, claims and pages take a :class:`ResultSet`. One is read from a
directory of records, or from the file of figures that was written of such a directory.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.analysis.metrics import Summary, summarise
from farpath.base.documents import read_json
from farpath.base.errors import BadInputError, FarpathError
from farpath.base.files import write_text
from farpath.record.record import RECORD_FILE, Record, load_record
from farpath.spec.plan import Plan

if TYPE_CHECKING:
    from farpath.analysis.studies.measure import Measure

#: Of the file of figures.
FIGURES_VERSION = 1
_FIGURES_REMEDY = "give records with --records, or make it from them with 'farpath summary'"
#: How many records a sentence on mixed ones names.
NAMED = 3


@dataclass(frozen=True)
class RunSummary:
    """One run's figures and what made them.

    ``record``: the name of its directory. ``kernel``: its release. ``images``, ``code``:
    what decided it beside its plan, as its record says. The others are hashes, by which
    runs of several machines can be compared: ``lab``: the kernel's source and the
    packages. ``config``: the kernel's configuration, which also says what ``compiler``
    can. ``parts``: the source of what the stack brings, and users' images.
    ``settings``: path and settings, without stack and seed. ``processor``: its model;
    ``cycles``: ``instructions`` where its clock counts these, else nothing.
    """

    record: str
    fingerprint: str
    kernel: str
    images: str
    code: str
    summary: Summary
    lab: str = ""
    config: str = ""
    compiler: str = ""
    parts: str = ""
    settings: str = ""
    processor: str = ""
    cycles: str = ""

    @property
    def path(self) -> str:
        """The path's name."""
        return self.summary.path_name

    @property
    def stack(self) -> str:
        """The stack's label."""
        return self.summary.stack

    @property
    def seed(self) -> int:
        """What decided its random choices."""
        return self.summary.seed

    def as_dict(self) -> dict[str, Any]:
        """Plain dicts, lists and numbers for JSON; what is not defined is None."""
        mine = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**mine, "summary": self.summary.as_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunSummary:
        """The inverse of :meth:`as_dict`; ValueError, KeyError or TypeError if it is not one."""
        texts = {name: value for name, value in data.items() if name != "summary"}
        for name, value in texts.items():
            if not isinstance(value, str):
                raise TypeError(f"{name} is no text")
        return cls(**texts, summary=Summary.from_dict(data["summary"]))


@dataclass(frozen=True)
class ResultSet:
    """Runs, sorted by path, stack and seed, no two of them with the same three.

    ``cpu_runs``: others of the same, in which CPU was charged and counted; only the
    figures on CPU are taken from them. ``measures``: what the companion experiments
    measured, for the claims that these decide.
    """

    runs: tuple[RunSummary, ...]
    cpu_runs: tuple[RunSummary, ...] = ()
    measures: tuple[Measure, ...] = ()

    def of(self, path: str, stack: str) -> tuple[RunSummary, ...]:
        """The runs of a stack on a path, one for each seed; none if there are none."""
        return tuple(run for run in self.runs if (run.path, run.stack) == (path, stack))

    def cpu_of(self, path: str, stack: str) -> tuple[RunSummary, ...]:
        """The runs of a stack in which CPU was counted, on a path or for it.

        A machine that counts CPU need not carry the path's rate: where there are none on
        the path itself, those on another of the same base RTT are for it.
        """
        counted = [
            run
            for run in self.cpu_runs or self.runs
            if run.stack == stack and run.summary.mhz_per_mbps is not None
        ]
        if mine := [run for run in counted if run.path == path]:
            return tuple(mine)
        rtts_ms = {run.summary.base_rtt_ms for run in self.runs if run.path == path}
        return tuple(run for run in counted if self.cpu_runs and run.summary.base_rtt_ms in rtts_ms)

    @property
    def paths(self) -> tuple[str, ...]:
        """The names of all paths."""
        return tuple(dict.fromkeys(run.path for run in self.runs))

    @property
    def stacks(self) -> tuple[str, ...]:
        """The labels of all stacks."""
        return tuple(dict.fromkeys(run.stack for run in self.runs))


def _sorted(runs: Iterable[RunSummary]) -> tuple[RunSummary, ...]:
    """Runs in order; BadInputError naming two of the same path, stack and seed."""
    known: dict[tuple[str, str, int], RunSummary] = {}
    for run in runs:
        key = (run.path, run.stack, run.seed)
        if key in known:
            raise BadInputError(
                f"{known[key].record} and {run.record} are both {run.stack} on path {run.path} "
                f"with seed {run.seed}{_difference(known[key], run)}: the 2005 study has one "
                "record of each: move one of them elsewhere; 'farpath tables' and 'site' show both"
            )
        known[key] = run
    return tuple(known[key] for key in sorted(known))


def _difference(one: RunSummary, other: RunSummary) -> str:
    """In what two runs of the same path, stack and seed differ, for people."""
    found = [
        f"{name} {values[0]} and {values[1]}"
        for name, look in _SAME.items()
        for values in [(look(one), look(other))]
        if values[0] != values[1]
    ]
    return f" ({'; '.join(found)})" if found else ""


def result_set_of(runs: Iterable[RunSummary], cpu_runs: Iterable[RunSummary] = ()) -> ResultSet:
    """A campaign of runs in any order.

    Raises BadInputError naming both if two have the same path, stack and seed, be they
    of two kernels, eras or lengths: such are not one quantity and must not be averaged.
    """
    return ResultSet(_sorted(runs), _sorted(cpu_runs))


#: What all runs of a campaign have in common; those of a compiler, a stack, a path.
_SAME_IN_ALL: dict[str, Callable[[RunSummary], str]] = {
    "kernel": lambda run: run.kernel,
    "kernel source or packages": lambda run: run.lab[:12],
    "code": lambda run: run.code[:12],
    "schedule": lambda run: run.summary.schedule,
    "regions of": lambda run: f"{run.summary.region_s:g} s",
    "era": lambda run: run.summary.era,
    "clock": lambda run: run.summary.clock,
}
#: What those have in common in which CPU was counted.
_SAME_IN_CPU: dict[str, Callable[[RunSummary], str]] = {
    "path": lambda run: run.path,
    "processor": lambda run: run.processor,
}
_SAME_IN_COMPILER: dict[str, Callable[[RunSummary], str]] = {
    "kernel configuration": lambda run: run.config[:12]
}
_SAME_IN_STACK: dict[str, Callable[[RunSummary], str]] = {
    "modules or images": lambda run: run.parts[:12]
}
_SAME_IN_PATH: dict[str, Callable[[RunSummary], str]] = {
    "path and settings": lambda run: run.settings[:12]
}


_SAME = {**_SAME_IN_ALL, **_SAME_IN_COMPILER, **_SAME_IN_STACK, **_SAME_IN_PATH}
_Group = tuple[str, Callable[[RunSummary], str], dict[str, Callable[[RunSummary], str]]]
_GROUPS: tuple[_Group, ...] = (
    ("", lambda run: "", _SAME_IN_ALL),
    ("", lambda run: run.compiler, _SAME_IN_COMPILER),
    (" of ", lambda run: run.stack, _SAME_IN_STACK),
    (" on path ", lambda run: run.path, _SAME_IN_PATH),
)


def mixed(campaign: ResultSet) -> tuple[str, ...]:
    """One sentence for each thing in which runs differ that should have it in common.

    Kernel, packages, code, length, era and clock of all; the modules and images of one
    stack's; settings of one path's. Compilers may differ: CPU is free on the virtual
    clock, so they decide no packet. Runs for CPU are compared with each other only, and
    have path and processor in common.
    """
    found: list[str] = []
    for kind, runs in (("records", campaign.runs), ("CPU records", campaign.cpu_runs)):
        for word, group_of, same in _GROUPS:
            for group in dict.fromkeys(group_of(run) for run in runs):
                of_group = [run for run in runs if group_of(run) == group]
                found += _mixed(f"{kind}{word}{group if word else ''}", of_group, same)
    for path in campaign.paths:
        counted = [run for stack in campaign.stacks for run in campaign.cpu_of(path, stack)]
        found += _mixed(f"CPU records for path {path}", counted, _SAME_IN_CPU)
    return tuple(found)


def _mixed(
    what: str, runs: Iterable[RunSummary], same: dict[str, Callable[[RunSummary], str]]
) -> list[str]:
    sentences = []
    for name, look in same.items():
        by_value: dict[str, list[str]] = {}
        for run in runs:
            by_value.setdefault(look(run), []).append(run.record)
        if len(by_value) > 1:
            most = sorted(by_value.items(), key=lambda item: -len(item[1]))
            shown = "; ".join(f"{value or 'unknown'}: {_named(names)}" for value, names in most)
            sentences.append(f"{what} of different {name} are mixed: {shown}")
    return sentences


def _named(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= NAMED else f"{len(names)} records"


def _hash(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _lab_hash(made: dict[str, Any]) -> str:
    """The kernel's source, or its bytes where the source is unknown, and the packages."""
    kernel = made.get("kernel", {})
    source = kernel.get("source_hash", kernel.get("linux_hash"))
    packages = [made.get(part, {}).get("packages_hash") for part in ("lab", "sender")]
    return _hash([source, kernel.get("cflags"), *packages])


def _parts_hash(made: dict[str, Any]) -> str:
    """The sources of a run's modules, what else its stacks bring, and users' images."""
    stacks = {
        label: built.get("source_hash", built) for label, built in made.get("stacks", {}).items()
    }
    return _hash([stacks, made.get("images", {})])


def _settings_hash(plan: Plan) -> str:
    path = dataclasses.replace(plan.path, title="", sources={})
    settings = dataclasses.replace(plan.settings, clock="")
    return _hash(
        [
            dataclasses.asdict(path),
            dataclasses.asdict(settings),
            plan.schedule.name,
            plan.topology,
            *_network(plan),
        ]
    )


def _network(plan: Plan) -> list[Any]:
    """What of a plan's hosts is not as it always was; nothing of most."""
    found = {
        "senders": [dataclasses.asdict(sender) for sender in plan.senders],
        "reverse": [dataclasses.asdict(flow) for flow in plan.schedule.reverse],
        "bottlenecks": plan.bottlenecks if plan.bottlenecks != 1 else None,
        "ip_version": plan.ip_version if plan.ip_version != 4 else None,
    }
    return [{name: value for name, value in found.items() if value}] if any(found.values()) else []


def run_summary(record: Record) -> RunSummary:
    """A record's figures; reads its samples."""
    made, plan = record.data["provenance"], record.plan
    kernel = made.get("kernel", {})
    return RunSummary(
        record=record.directory.name,
        fingerprint=record.fingerprint,
        kernel=kernel.get("release", ""),
        images=made.get("images_sha256", ""),
        code=made.get("code_sha256", ""),
        summary=summarise(record.samples, plan, record.cpu),
        lab=_lab_hash(made),
        config=str(kernel.get("config_hash", "")),
        compiler=kernel.get("compiler", ""),
        parts=_parts_hash(made),
        settings=_settings_hash(plan),
        processor=made.get("cpu_model", ""),
        cycles="instructions" if made.get("instruction_ns") else "",
    )


def runs_at(places: Iterable[FilePath]) -> tuple[tuple[RunSummary, ...], tuple[str, ...]]:
    """The figures of the records at these places, and a sentence for each that has none.

    A record that is damaged, half made or of another format version does not keep
    the others from being read.
    """
    runs, problems = [], []
    for place in places:
        try:
            runs.append(run_summary(load_record(place)))
        except FarpathError as error:
            problems.append(error.message)
        except OSError as error:
            problems.append(f"{place}: cannot be read ({error.strerror}): repeat the run")
    return tuple(runs), tuple(problems)


def load_runs(directory: FilePath) -> tuple[tuple[RunSummary, ...], tuple[str, ...]]:
    """The figures of all records in a directory, as :func:`runs_at`.

    Raises BadInputError for a directory without any.
    """
    if not directory.is_dir():
        raise BadInputError(f"{directory}: is no directory: give one that holds records")
    places = sorted(file.parent for file in directory.glob(f"*/{RECORD_FILE}"))
    # Those with a dot are still being made.
    runs, problems = runs_at(place for place in places if not place.name.startswith("."))
    if not runs:
        said = "; ".join(problems) or "give one that 'farpath run' wrote to"
        raise BadInputError(f"{directory}: holds no record: {said}")
    return runs, problems


def load_results(
    directory: FilePath, cpu_directory: FilePath | None = None
) -> tuple[ResultSet, tuple[str, ...]]:
    """All records in a directory, and one sentence for each that cannot be taken.

    ``cpu_directory`` holds the runs in which CPU was counted. Raises as
    :func:`load_runs` and :func:`result_set_of`; whether records of different makes are
    mixed, :func:`mixed` tells.
    """
    runs, problems = load_runs(directory)
    if cpu_directory is None:
        return result_set_of(runs), problems
    cpu_runs, cpu_problems = load_runs(cpu_directory)
    return result_set_of(runs, cpu_runs), (*problems, *cpu_problems)


def write_figures(campaign: ResultSet, file: FilePath) -> None:
    """A campaign's figures as JSON, one line a run; equal campaigns give equal bytes."""

    def lines(runs: tuple[RunSummary, ...]) -> str:
        texts = (
            json.dumps(run.as_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
            for run in runs
        )
        return "[\n" + ",\n".join(texts) + "\n]"

    write_text(
        file,
        f'{{"format_version":{FIGURES_VERSION},"runs":{lines(campaign.runs)},'
        f'"cpu_runs":{lines(campaign.cpu_runs)}}}\n',
    )


def read_figures(file: FilePath) -> ResultSet:
    """The campaign that :func:`write_figures` wrote.

    Raises BadInputError for a file that is not there, damaged or of another version.
    """
    data = read_json(file, _FIGURES_REMEDY)
    version = data.get("format_version") if isinstance(data, dict) else None
    if type(version) is int and version != FIGURES_VERSION:
        raise BadInputError(
            f"{file}: has format version {version}, this farpath reads {FIGURES_VERSION}: make it "
            "again from the records with 'farpath summary'"
        )
    if version is None or isinstance(version, bool):
        raise BadInputError(f"{file}: is damaged (no format version): {_FIGURES_REMEDY}")
    try:
        both = [[RunSummary.from_dict(run) for run in data[name]] for name in ("runs", "cpu_runs")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInputError(f"{file}: is damaged ({reason}): {_FIGURES_REMEDY}") from error
    return result_set_of(*both)
