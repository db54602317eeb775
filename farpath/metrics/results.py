"""The summaries of many runs, by path, stack and seed.

Tables, claims and pages take a ``ResultSet``. It is read from a directory of records, or from the
summary file that was written of such a directory.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

from farpath.base.documents import check_format_version, read_json
from farpath.base.errors import BadInputError, FarpathError
from farpath.base.files import write_text
from farpath.mechanisms.era.mechanism import era_text
from farpath.metrics.link import summarise_record
from farpath.metrics.run import Summary
from farpath.record.record import Record, load_record, records_in
from farpath.spec.plan import Plan
from farpath.spec.wire import as_wire

if TYPE_CHECKING:
    from farpath.metrics.measures import Measure

T = TypeVar("T")

#: The format version of the summary file.
FIGURES_VERSION = 2
_FIGURES_REMEDY = (
    "give records with --records, or make it from them with 'farpath tables --format=summary'"
)
#: A sentence on mixed records names at most this many.
MAX_NAMED_RECORDS = 3


@dataclass(frozen=True)
class RunSummary:
    """The summary of one run, and its provenance.

    ``record``: the name of its directory. ``kernel``: its release. ``images``, ``code``:
    the hashes of the images and of farpath's code, as in its record. The other hashes compare runs
    of several machines. ``lab``: of the kernel's source and the packages. ``config``: of the
    kernel's configuration, which depends on the ``compiler`` too. ``parts``: of the source of the
    stack's modules and programs, and of users' images. ``settings``: of path and settings, without
    stack and seed. ``hosts``: the era in full, as text. ``processor``: the model of the
    machine's. ``cycles``: ``instructions`` where the clock counts these, else empty.
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
    hosts: str = ""

    @property
    def path(self) -> str:
        """The name of the path."""
        return self.summary.path_name

    @property
    def stack(self) -> str:
        """The label of the stack."""
        return self.summary.stack

    @property
    def seed(self) -> int:
        """The seed of the run's random choices."""
        return self.summary.seed

    def as_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists and numbers for JSON; undefined values are None."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {**values, "summary": self.summary.as_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunSummary:
        """Return the inverse of ``as_dict``.

        Raises BadInputError, KeyError or TypeError for other data.
        """
        texts = {name: value for name, value in data.items() if name != "summary"}
        for name, value in texts.items():
            if not isinstance(value, str):
                raise TypeError(f"{name} is no text")
        return cls(**texts, summary=Summary.from_dict(data["summary"]))


@dataclass(frozen=True)
class ResultSet:
    """Runs sorted by path, stack and seed; no two have all three in common.

    ``cpu_runs``: further runs of the same stacks, in which CPU was counted; only the numbers on CPU
    are taken from them. ``measures``: the measures of the companion experiments, for the claims
    that these decide.
    """

    runs: tuple[RunSummary, ...]
    cpu_runs: tuple[RunSummary, ...] = ()
    measures: tuple[Measure, ...] = ()

    def of(self, path: str, stack: str) -> tuple[RunSummary, ...]:
        """Return the runs of a stack on a path, one for each seed; empty if there are none."""
        return tuple(run for run in self.runs if (run.path, run.stack) == (path, stack))

    def cpu_of(self, path: str, stack: str) -> tuple[RunSummary, ...]:
        """Return the runs of a stack in which CPU was counted, on a path or in place of it.

        A machine that counts CPU may be too slow for the path's rate. If there are no runs on the
        path itself, those on another path of the same base RTT take their place.
        """
        counted = [
            run
            for run in self.cpu_runs or self.runs
            if run.stack == stack and run.summary.mhz_per_mbps is not None
        ]
        if on_path := [run for run in counted if run.path == path]:
            return tuple(on_path)
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
    """Sort runs; raise BadInputError naming two of the same path, stack and seed."""
    by_key: dict[tuple[str, str, int], RunSummary] = {}
    for run in runs:
        key = (run.path, run.stack, run.seed)
        if key in by_key:
            raise BadInputError(
                problem=f"{by_key[key].record} and {run.record} are both {run.stack} on path "
                f"{run.path} with seed {run.seed}{_difference(by_key[key], run)}: "
                "results have one record of each",
                remedy="move one of them elsewhere; 'farpath tables' and 'site' show both",
            )
        by_key[key] = run
    return tuple(by_key[key] for key in sorted(by_key))


def _difference(first: RunSummary, second: RunSummary) -> str:
    """Describe the differences between two runs of the same path, stack and seed."""
    texts = [
        f"{name} {values[0]} and {values[1]}"
        for name, value_of in _SAME.items()
        for values in [(value_of(first), value_of(second))]
        if values[0] != values[1]
    ]
    return f" ({'; '.join(texts)})" if texts else ""


def result_set_of(runs: Iterable[RunSummary], cpu_runs: Iterable[RunSummary] = ()) -> ResultSet:
    """Return the result set of runs in any order.

    Raises BadInputError naming two runs of the same path, stack and seed. They may be of two
    kernels, eras or lengths: such runs are not one quantity and must not be averaged.
    """
    return ResultSet(_sorted(runs), _sorted(cpu_runs))


#: The properties that all runs of a result set have in common.
_SAME_IN_ALL: dict[str, Callable[[RunSummary], str]] = {
    "kernel": lambda run: run.kernel,
    "kernel source or packages": lambda run: run.lab[:12],
    "code": lambda run: run.code[:12],
    "schedule": lambda run: run.summary.schedule,
    "regions of": lambda run: f"{run.summary.region_s:g} s",
    "era": lambda run: run.summary.era,
    "clock": lambda run: run.summary.clock,
}
#: The properties that all runs in which CPU was counted have in common.
_SAME_IN_CPU: dict[str, Callable[[RunSummary], str]] = {
    "path": lambda run: run.path,
    "processor": lambda run: run.processor,
}
#: The properties that all runs of one compiler have in common.
_SAME_IN_COMPILER: dict[str, Callable[[RunSummary], str]] = {
    "kernel configuration": lambda run: run.config[:12]
}
#: The properties that all runs of one stack have in common.
_SAME_IN_STACK: dict[str, Callable[[RunSummary], str]] = {
    "modules or images": lambda run: run.parts[:12],
    "hosts": lambda run: run.hosts,
}
#: The properties that all runs on one path have in common.
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
    """Return a sentence for each property that should be the same in all runs and is not.

    Kernel, packages, code, length, era and clock have to be the same in all runs, modules, images
    and hosts in those of one stack, settings in those of one path. Compilers may differ: CPU is
    free on the virtual clock, so they decide no packet. Runs in which CPU was counted are compared
    only with each other, and have path and processor in common.
    """
    sentences: list[str] = []
    for records_text, runs in (("records", campaign.runs), ("CPU records", campaign.cpu_runs)):
        for preposition, group_of, same in _GROUPS:
            for group in dict.fromkeys(group_of(run) for run in runs):
                of_group = [run for run in runs if group_of(run) == group]
                sentences += _mixed(
                    f"{records_text}{preposition}{group if preposition else ''}", of_group, same
                )
    for path in campaign.paths:
        counted = [run for stack in campaign.stacks for run in campaign.cpu_of(path, stack)]
        sentences += _mixed(f"CPU records for path {path}", counted, _SAME_IN_CPU)
    return tuple(sentences)


def cpu_measurement_note(runs: Sequence[RunSummary]) -> str:
    """Say where runs counted CPU and over which path, in two sentences; empty without runs."""
    if not runs:
        return ""
    paths = _joined(
        f"{run.path} of {run.summary.rate_bps / 1e6:g} Mbit/s with regions of "
        f"{run.summary.region_s:g} s"
        for run in runs
    )
    machine_text = f" on {machines}" if (machines := _joined(run.processor for run in runs)) else ""
    cycle = "instruction" if all(run.cycles for run in runs) else "cycle by /proc/cpuinfo's MHz"
    count = f"{len(runs)} run{'s' if len(runs) > 1 else ''}"
    return (
        f"CPU: {count} of the host lab{machine_text}, path {paths}; all sending programs "
        f"together, CPU % of one core at that rate. A hertz there is one {cycle} a second."
    )


def _joined(texts: Iterable[str]) -> str:
    return " and ".join(sorted(set(texts)))


def _mixed(
    records_text: str, runs: Iterable[RunSummary], same: dict[str, Callable[[RunSummary], str]]
) -> list[str]:
    sentences = []
    for name, value_of in same.items():
        by_value: dict[str, list[str]] = {}
        for run in runs:
            by_value.setdefault(value_of(run), []).append(run.record)
        if len(by_value) > 1:
            by_count = sorted(by_value.items(), key=lambda item: -len(item[1]))
            values_text = "; ".join(
                f"{value or 'unknown'}: {_named(names)}" for value, names in by_count
            )
            sentences.append(f"{records_text} of different {name} are mixed: {values_text}")
    return sentences


def _named(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= MAX_NAMED_RECORDS else f"{len(names)} records"


def _hash(data: object) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _lab_hash(provenance: dict[str, Any]) -> str:
    """Hash each kernel's source, or its bytes where the source is unknown, and the packages."""
    kernels = provenance.get("kernels", {}).values() or [provenance.get("kernel", {})]
    sources = [
        part
        for kernel in kernels
        for part in (kernel.get("source_hash", kernel.get("linux_hash")), kernel.get("cflags"))
    ]
    packages = [provenance.get(part, {}).get("packages_hash") for part in ("lab", "sender")]
    return _hash([*sources, *packages])


def _parts_hash(provenance: dict[str, Any]) -> str:
    """Hash the sources of a run's modules and programs, and users' images."""
    stacks = {
        label: built.get("source_hash", built)
        for label, built in provenance.get("stacks", {}).items()
    }
    return _hash([stacks, provenance.get("images", {})])


def _settings_hash(plan: Plan) -> str:
    path = dataclasses.replace(plan.path, title="", sources={})
    settings = dataclasses.replace(plan.settings, clock="")
    return _hash(
        [
            as_wire(path),
            as_wire(settings),
            plan.schedule.name,
            plan.topology,
            *_network(plan),
        ]
    )


def _network(plan: Plan) -> list[Any]:
    """Return the network options that differ from the original dumbbell; empty for most plans."""
    options = {
        "senders": as_wire(plan.senders),
        "reverse": as_wire(plan.schedule.reverse),
        "bottlenecks": plan.bottlenecks if plan.bottlenecks != 1 else None,
        "ip_version": plan.ip_version if plan.ip_version != 4 else None,
        "own": as_wire(plan.user_network),
    }
    return (
        [{name: value for name, value in options.items() if value}] if any(options.values()) else []
    )


def run_summary(record: Record) -> RunSummary:
    """Summarise a record; this reads its samples."""
    provenance, plan = record.data["provenance"], record.plan
    kernel = provenance.get("kernel", {})
    return RunSummary(
        record=record.directory.name,
        fingerprint=record.fingerprint,
        kernel=record.kernel,
        images=provenance.get("images_sha256", ""),
        code=provenance.get("code_sha256", ""),
        summary=summarise_record(record),
        lab=_lab_hash(provenance),
        config=str(kernel.get("config_hash", "")),
        compiler=kernel.get("compiler", ""),
        parts=_parts_hash(provenance),
        settings=_settings_hash(plan),
        processor=provenance.get("cpu_model", ""),
        cycles="instructions" if provenance.get("instruction_ns") else "",
        hosts=era_text(plan.era),
    )


def measure_records(
    record_dirs: Iterable[FilePath], measure: Callable[[Record], T]
) -> tuple[tuple[T, ...], tuple[str, ...]]:
    """Measure records, and return a sentence for each that cannot be read.

    A record that is damaged, incomplete or of another format version does not keep the others from
    being read. Samples are read once, and left before those of the next record.
    """
    measured, problems = [], []
    for record_dir in record_dirs:
        try:
            measured.append(measure(load_record(record_dir)))
        except FarpathError as error:
            problems.append(error.message)
        except OSError as error:
            problems.append(f"{record_dir}: cannot be read ({error.strerror}): repeat the run")
    return tuple(measured), tuple(problems)


def summarise_records(
    record_dirs: Iterable[FilePath],
) -> tuple[tuple[RunSummary, ...], tuple[str, ...]]:
    """Summarise records as ``measure_records`` measures them."""
    return measure_records(record_dirs, run_summary)


def measure_directory(
    directory: FilePath, measure: Callable[[Record], T]
) -> tuple[tuple[T, ...], tuple[str, ...]]:
    """Measure all records in a directory, as ``measure_records`` does.

    Raises BadInputError for a directory without records.
    """
    if not directory.is_dir():
        raise BadInputError(
            problem=f"{directory}: is no directory", remedy="give one that holds records"
        )
    measured, problems = measure_records(records_in(directory), measure)
    if not measured:
        reason = "; ".join(problems) or "give one that 'farpath run' wrote to"
        raise BadInputError(file=str(directory), problem="holds no record", remedy=reason)
    return measured, problems


def load_runs(directory: FilePath) -> tuple[tuple[RunSummary, ...], tuple[str, ...]]:
    """Summarise all records in a directory, as ``measure_directory`` measures them."""
    return measure_directory(directory, run_summary)


def load_results(
    directory: FilePath, cpu_directory: FilePath | None = None
) -> tuple[ResultSet, tuple[str, ...]]:
    """Load all records in a directory, and return a sentence for each that cannot be read.

    ``cpu_directory`` holds the runs in which CPU was counted. Raises BadInputError as ``load_runs``
    and ``result_set_of`` do. ``mixed`` tells whether the records have different provenance.
    """
    runs, problems = load_runs(directory)
    if cpu_directory is None:
        return result_set_of(runs), problems
    cpu_runs, cpu_problems = load_runs(cpu_directory)
    return result_set_of(runs, cpu_runs), (*problems, *cpu_problems)


def write_figures(campaign: ResultSet, file: FilePath) -> None:
    """Write a result set as JSON, one line a run; equal sets give equal bytes."""

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
    """Read the result set that ``write_figures`` wrote.

    Raises BadInputError for a file that is missing, damaged or of another version.
    """
    data = read_json(file, _FIGURES_REMEDY)
    check_format_version(data, FIGURES_VERSION, file, _FIGURES_REMEDY)
    try:
        runs_and_cpu_runs = [
            [RunSummary.from_dict(run) for run in data[name]] for name in ("runs", "cpu_runs")
        ]
    except (BadInputError, KeyError, TypeError, AttributeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInputError(
            problem=f"{file}: is damaged ({reason})", remedy=_FIGURES_REMEDY
        ) from error
    return result_set_of(*runs_and_cpu_runs)
