"""Experiments: the runs that the experiment.toml of a folder describes.

The file has a ``title`` and one or more tables ``[[runs]]`` with options of ``farpath run``. A list
of values stands for one run with each value. Several lists stand for every combination of their
values. Options of all tables stand once in ``[options]``. ``[runs.quick]`` and ``[runs.cpu]`` hold
the options in which the quick and the cpu set of runs differ; a table without one is not in that
set. ``minutes``, a number or one for each stack, is the real time of a run on one core. Instead of
runs, a file may name other experiments in ``of``.

With ``[[runs.mechanisms]]`` all runs of a table are made once with each mechanism, which changes
their ``options``, or those of single stacks (``only``). Of an era and of a stack it gives the words
that change: ``era = "2004:ring=256"`` keeps the others. A ``ladder`` of mechanisms adds those that
have all up to each, all, and all but one. Runs of several mechanisms that have equal options are
one run.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.base.path_variants import DROPPING
from farpath.base.project import EXPERIMENTS, experiment_folder
from farpath.mechanisms.quantities import DURATION_S
from farpath.planning.request import RunRequest
from farpath.planning.stack_texts import parse_stacks
from farpath.platforms import platform_of
from farpath.programs.catalog import split_text
from farpath.programs.entry import label_of
from farpath.spec.settings import VIRTUAL_CLOCK

if TYPE_CHECKING:
    from farpath.record.record import Record
    from farpath.runs.experiment_schema import RunsTable
    from farpath.spec.plan import Plan

FILE = "experiment.toml"
#: Directory of an experiment's own path files, in its folder.
OWN_PATHS = "paths"
#: Sets of runs of an experiment: all runs, a short form of them, and those that count CPU.
WHOLE = "whole"
QUICK = "quick"
CPU = "cpu"
SETS = (WHOLE, QUICK, CPU)
#: Options that a run's label has in any case or says in other words.
_LABELLED = ("path", "stack", "seed", "lab", "clock")


@dataclass(frozen=True)
class WantedRun:
    """One run of an experiment.

    ``request``: its options in the file. ``command``: the command that makes it. ``label``: its
    name in messages. ``expected_s``: real seconds that it takes on one core, from ``minutes``.
    ``experiment``: the experiment whose folder describes it and keeps its record. ``mechanisms``:
    the names of those that it is a run of.
    """

    plan: Plan
    request: RunRequest
    command: tuple[str, ...]
    label: str
    expected_s: float
    experiment: str
    mechanisms: tuple[str, ...] = ()

    @property
    def repetition(self) -> int:
        """Which of the runs of equal options it is: the number of its draw, or else its seed."""
        return int(self.request.draw or self.plan.seed)

    @property
    def on_host(self) -> bool:
        """Whether it is a run of the host lab."""
        return platform_of(self.plan).measures_cpu


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A run of an experiment and its record."""

    run: WantedRun
    record: Record


@dataclass(frozen=True)
class ExperimentPart:
    """A part of an experiment, or a shorter form: ``region`` for all runs, ``only`` mechanisms.

    ``region`` is empty for the lengths of the file, ``only`` for all mechanisms, ``paths`` for the
    runs on all paths.
    """

    region: str = ""
    only: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def settings(self) -> tuple[str, ...]:
        """Return the words that ask for this part, without dashes."""
        words = {"region": self.region, "only": ",".join(self.only), "path": ",".join(self.paths)}
        return tuple(f"{name}={value}" for name, value in words.items() if value)

    def options(self) -> tuple[str, ...]:
        """Return the options of ``farpath campaign`` that ask for this part."""
        return tuple(f"--{setting}" for setting in self.settings())

    def changed(self, options: dict[str, list[str]]) -> dict[str, list[str]]:
        """Return the options of a table with this part's region."""
        return {**options, "region": [self.region]} if self.region else options


WHOLE_EXPERIMENT = ExperimentPart()


@dataclass(frozen=True)
class Experiment:
    """An experiment: its name, its title, and its sets of runs, each with the longest run first.

    ``held_out``: stacks to which no path model was fitted. ``parts``: names of the experiments
    that it consists of, which is its own name if it has runs of its own. ``mechanisms``: titles by
    name, in their order. ``part``: the part of it that was asked for. ``report``: the directory of
    its report below results; empty for one below its records.
    """

    name: str
    title: str
    sets: Mapping[str, tuple[WantedRun, ...]]
    held_out: tuple[str, ...]
    parts: tuple[str, ...]
    mechanisms: Mapping[str, str] = dataclasses.field(default_factory=dict)
    part: ExperimentPart = WHOLE_EXPERIMENT
    report: str = ""

    def runs(self, set_name: str = WHOLE) -> tuple[WantedRun, ...]:
        """Return the runs of a set, the longest first.

        Raises BadInputError if the experiment does not have this set.
        """
        if set_name not in self.sets:
            paths = f" on {', '.join(self.part.paths)}" if self.part.paths else ""
            raise BadInputError(
                problem=f"experiment {self.name} has no set '{set_name}'{paths}",
                remedy=(
                    f"allowed are {', '.join(self.sets)}; name it in its {FILE}, as a table "
                    f"[runs.{set_name}]"
                ),
            )
        return self.sets[set_name]


def experiment_names(folder: FilePath = EXPERIMENTS) -> tuple[str, ...]:
    """Return the names of all experiments in a folder."""
    return tuple(sorted(_plain(file.parent.name) for file in folder.glob(f"*/{FILE}")))


def _plain(name: str) -> str:
    """Return a name as it is printed: with hyphens, which a folder may have as underscores."""
    return name.replace("_", "-")


def combined_in(name: str, folder: FilePath = EXPERIMENTS) -> str | None:
    """Return the name of the experiment that has this one as a part; None if none has."""
    return next(
        (
            other
            for other in experiment_names(folder)
            if name in read_toml(experiment_folder(other, folder) / FILE).get("of", ())
        ),
        None,
    )


def load_experiment(
    name: str,
    folder: FilePath = EXPERIMENTS,
    within: tuple[str, ...] = (),
    part: ExperimentPart = WHOLE_EXPERIMENT,
) -> Experiment:
    """Load the experiment of a name, or a part of it.

    ``within``: the experiments that it is loaded as a part of. Raises BadInputError for an unknown
    name or mechanism, for a file with an invalid field, and for experiments that contain each
    other.
    """
    # pydantic is slow to import
    from farpath.base.validation import validated
    from farpath.runs.experiment_schema import ExperimentFile

    name, names = _plain(name), experiment_names(folder)
    if name not in names:
        raise BadInputError(
            option="experiment",
            given=name,
            remedy=(
                f"it must be one of {', '.join(names) or 'none'}, the folders in "
                f"{folder} with {FILE}"
            ),
        )
    if part.region:
        DURATION_S.parse(part.region, "region")
    file = experiment_folder(name, folder) / FILE
    data = read_toml(file)
    within = (*within, name)
    try:
        content = validated(ExperimentFile, data)
        if circle := [each for each in content.of if each in within]:
            raise BadInputError(
                option="of",
                problem=f"{name} is made of {circle[0]}, and that of {name}",
                remedy="take one of them out",
            )
        sets = _own_sets(name, content.runs, folder, part)
        stacks = [text for table in content.runs for text in table.options.get("stack", ())]
        if unknown := [text for text in content.held_out if text not in stacks]:
            raise BadInputError(
                option="held_out", problem=f"{unknown[0]} is no stack of this experiment"
            )
    except BadInputError as error:
        raise error.in_file(str(file)) from error
    mechanisms = _mechanisms(name, content.runs, part)
    if content.of:
        sets = _joined_sets([load_experiment(each, folder, within, part) for each in content.of])
    found = {run.request.path for set_ in sets.values() for run in set_}
    if len(within) == 1 and (unknown := [path for path in part.paths if path not in found]):
        whole = load_experiment(name, folder, part=dataclasses.replace(part, paths=()))
        raise BadInputError(option="path", given=unknown[0], problem=_paths_text(whole))
    parts = tuple(content.of) or (name,)
    held_out = tuple(content.held_out)
    return Experiment(name, content.title, sets, held_out, parts, mechanisms, part, content.report)


def _paths_text(experiment: Experiment) -> str:
    """Say on which named paths an experiment has runs."""
    runs = [run for set_ in experiment.sets.values() for run in set_]
    known = dict.fromkeys(run.request.path for run in runs if run.request.path)
    return f"{experiment.name} has runs on {', '.join(known) or 'no named path'}"


def _mechanisms(name: str, tables: list[RunsTable], part: ExperimentPart) -> dict[str, str]:
    """Return the titles of those mechanisms that a part has, by name."""
    titles = {each.name: each.title for table in tables for each in table.mechanisms}
    if unknown := [each for each in part.only if each not in titles]:
        raise BadInputError(
            option="only",
            given=unknown[0],
            remedy=f"it must be one of {', '.join(titles)}"
            if titles
            else f"{name} has no mechanisms",
        )
    return {each: title for each, title in titles.items() if not part.only or each in part.only}


def _joined_sets(experiments: list[Experiment]) -> dict[str, tuple[WantedRun, ...]]:
    return {
        set_name: _longest_first(run for part in experiments for run in part.sets.get(set_name, ()))
        for set_name in SETS
        if any(set_name in part.sets for part in experiments)
    }


def _longest_first(runs: Iterable[WantedRun]) -> tuple[WantedRun, ...]:
    return tuple(sorted(runs, key=lambda run: -run.expected_s))


def _own_sets(
    name: str, tables: list[RunsTable], folder: FilePath, part: ExperimentPart
) -> dict[str, tuple[WantedRun, ...]]:
    """Return the sets of an experiment that has runs of its own; empty without tables."""
    files = sorted((experiment_folder(name, folder) / OWN_PATHS).glob("*.toml"))
    own_paths = {file.stem: file for file in files}
    sets = {}
    for set_name in SETS:
        runs: list[WantedRun] = []
        for index, table in enumerate(tables):
            where = f"runs.{index}" + (f".{set_name}" if set_name != WHOLE else "")
            try:
                runs += [
                    run
                    for run in _runs_of_table(name, table, set_name, own_paths, part)
                    if not part.paths or run.request.path in part.paths
                ]
            except BadInputError as error:
                raise error.in_file(where) from error
        if runs:
            # farpath run does not know the paths of the experiment's own folder
            campaign = ("farpath", "campaign", f"--experiment={name}", f"--experiments={folder}")
            command = (*campaign, *part.options())
            sets[set_name] = tuple(
                dataclasses.replace(
                    run, command=(*command, f"--set={set_name}", f"--index={index}")
                )
                if run.request.path in own_paths
                else run
                for index, run in enumerate(_longest_first(runs))
            )
    return sets


def _runs_of_table(
    name: str,
    table: RunsTable,
    set_name: str,
    own_paths: Mapping[str, FilePath],
    part: ExperimentPart,
) -> Iterator[WantedRun]:
    """Yield the runs that a table adds to a set, in the table's order; equal ones once."""
    options = _options_of(table, set_name)
    if options is None:
        return
    options = part.changed(options)
    full_plan = next(_requests(table.options)).plan(own_paths)
    for request, mechanisms in _requests_with_mechanisms(table, options, part.only).items():
        plan = request.plan(own_paths)
        fraction = plan.schedule.duration_s / full_plan.schedule.duration_s
        yield WantedRun(
            plan=plan,
            request=request,
            command=("farpath", "run", *request.options()),
            label=_label(options, request, plan, mechanisms),
            expected_s=60 * table.minutes_of(parse_stacks(request.stack)[0]) * fraction,
            experiment=name,
            mechanisms=mechanisms,
        )


def _requests_with_mechanisms(
    table: RunsTable, options: Mapping[str, list[str]], only: tuple[str, ...]
) -> dict[RunRequest, tuple[str, ...]]:
    """Return the requests of a table, each with the names of the mechanisms that it belongs to."""
    if not table.mechanisms:
        return dict.fromkeys(_requests(options), ())
    names_by_request: dict[RunRequest, tuple[str, ...]] = {}
    for mechanism in table.mechanisms:
        if only and mechanism.name not in only:
            continue
        for request in _requests(options):
            changed = request
            for changes in table.changes_of(mechanism, stack_name(request.stack)):
                changed = _changed(changed, changes)
            names = names_by_request.get(changed, ())
            names_by_request[changed] = (*names, mechanism.name)
    return names_by_request


def stack_name(text: str) -> str:
    """Return the name of a stack without its parameters.

    >>> stack_name("fast:alpha=200")
    'fast'
    """
    return text.partition(":")[0]


def _changed(request: RunRequest, changes: Mapping[str, str]) -> RunRequest:
    """Return a request with other options; of an era and of a stack the words given change."""
    values = dict(changes)
    for option in ("era", "stack"):
        if option in changes:
            values[option] = _with_words(option, getattr(request, option) or "", changes[option])
    return dataclasses.replace(request, **values)


def _with_words(option: str, text: str, change: str) -> str:
    """Return a text ``name:word=value,...`` with some words changed or added.

    >>> _with_words("era", "2004:ring=0,cpu=none", "2004:ring=256,load=1")
    '2004:ring=256,cpu=none,load=1'
    """
    (name, words), (changed_name, changed_words) = split_text(text), split_text(change)
    if name != changed_name:
        raise BadInputError(
            option=option,
            problem=(f"a mechanism may change the words of '{name}', and '{change}' is another"),
            remedy=f"begin it with {name}:",
        )
    return label_of(name, {**words, **changed_words})


def _options_of(table: RunsTable, set_name: str) -> dict[str, list[str]] | None:
    """Return the options of a table for a set; None if the table is not in the set."""
    if set_name == WHOLE:
        return table.options
    changes = {QUICK: table.quick, CPU: table.cpu}[set_name]
    if changes is None:
        return None
    # Each lab has its own clocks
    dropped = "clock" if "lab" in changes.options else None
    kept = {name: values for name, values in table.options.items() if name != dropped}
    return {**kept, **changes.options}


def _requests(options: Mapping[str, list[str]]) -> Iterator[RunRequest]:
    """Yield a request for each combination of values; seeds vary slowest, then paths."""
    order = [name for name in ("seed", "path") if name in options]
    order += [name for name in options if name not in (*order, "stack")]
    order += ["stack"] if "stack" in options else []
    for values in product(*(options[name] for name in order)):
        yield RunRequest(**dict(zip(order, values, strict=True)))


def _label(
    options: Mapping[str, list[str]],
    request: RunRequest,
    plan: Plan,
    mechanisms: tuple[str, ...] = (),
) -> str:
    """Return path, stack and seed, mechanisms, an unusual lab or clock, and what varies."""
    varied = [name for name, values in options.items() if len(values) > 1]
    details = [", ".join(mechanisms)] if mechanisms else []
    details += [f"{name} {getattr(request, name)}" for name in varied if name not in _LABELLED]
    if platform_of(plan).measures_cpu:
        details.append("host lab")
    elif plan.settings.clock != VIRTUAL_CLOCK:
        details.append(f"{plan.settings.clock} clock")
    path_name = request.path if mechanisms else plan.path.name.removesuffix(f"-{DROPPING.word}")
    stack = stack_name(request.stack) if mechanisms else request.stack
    return ", ".join([f"{path_name} {stack} seed {plan.seed}", *details])
