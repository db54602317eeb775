"""Experiment: a folder's experiment.toml, and the runs that it asks for.

The file has a ``title`` and one or more tables ``[[runs]]``, each in the words of the
command line (:mod:`farpath.planning.request`): of every word that has a list each value is
taken with each of the others. ``[runs.quick]`` and ``[runs.cpu]`` say what those sets of runs have
otherwise; a table without one is not in that set. ``minutes``, a number or one for each
stack, are what a run takes one core. An experiment may instead be made ``of`` others.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from farpath.base.documents import read_toml
from farpath.base.errors import BadInputError
from farpath.base.project import EXPERIMENTS
from farpath.planning.request import RunRequest
from farpath.planning.stack_texts import parse_stacks
from farpath.spec.settings import HOST, VIRTUAL_CLOCK

if TYPE_CHECKING:
    from farpath.spec.plan import Plan

#: The paper's own.
PAPER = "seven-regions"
FILE = "experiment.toml"
#: Where an experiment's folder has paths of its own, files as in topologies/paths.
OWN_PATHS = "paths"
#: The sets of runs of an experiment: all of it, and the tables that make another.
WHOLE = "whole"
QUICK = "quick"
CPU = "cpu"
SETS = (WHOLE, QUICK, CPU)
#: Entry of ``minutes`` for stacks that have none of their own.
OTHERS = "others"
_WORDS = tuple(field.name for field in dataclasses.fields(RunRequest))
#: What a label says of a run in any case, apart from what its neighbours have otherwise.
_ALWAYS_SAID = ("path", "stack", "seed", "lab", "clock")


@dataclass(frozen=True)
class WantedRun:
    """One run of an experiment: its plan, its command, and how long it may take.

    ``label``: the run for people. ``expected_s``: real seconds on one core, from
    ``minutes``. ``experiment``: the one whose folder asks for it and keeps its record.
    ``asked``: the words that its file has for it.
    """

    plan: Plan
    asked: RunRequest
    command: tuple[str, ...]
    label: str
    expected_s: float
    experiment: str

    @property
    def on_host(self) -> bool:
        """Whether it is a run of the host lab."""
        return self.plan.settings.lab == HOST


@dataclass(frozen=True)
class Experiment:
    """An experiment's name, title, and sets of runs, each with the longest first.

    ``held_out``: stacks that no model of a path was fitted to. ``parts``: the names of
    the experiments that it is made of; its own if it is made of none.
    """

    name: str
    title: str
    sets: Mapping[str, tuple[WantedRun, ...]]
    held_out: tuple[str, ...]
    parts: tuple[str, ...]

    def runs(self, which: str = WHOLE) -> tuple[WantedRun, ...]:
        """The runs of a set, the longest first.

        Raises BadInputError for a set that this experiment has not.
        """
        if which not in self.sets:
            raise BadInputError(
                f"experiment {self.name} has no set '{which}': allowed are "
                f"{', '.join(self.sets)}; name it in its {FILE}, as a table [runs.{which}]"
            )
        return self.sets[which]


@dataclass(frozen=True)
class _Table:
    """One ``[[runs]]``: what it says, by set, and what a run of each stack takes."""

    words: Mapping[str, Mapping[str, tuple[str, ...]]]
    minutes: Mapping[str, float]

    def asked(self, which: str) -> Iterator[RunRequest]:
        """Every run of a set, seed by seed and path by path."""
        words = self.words[which]
        order = [name for name in ("seed", "path") if name in words]
        order += [name for name in words if name not in (*order, "stack")]
        order += ["stack"] if "stack" in words else []
        for values in product(*(words[name] for name in order)):
            yield RunRequest(**dict(zip(order, values, strict=True)))

    def label(self, which: str, asked: RunRequest, plan: Plan) -> str:
        """Path, stack and seed; lab or clock if not virtual; and what tells it from others."""
        several = [name for name, values in self.words[which].items() if len(values) > 1]
        told = [f"{name} {getattr(asked, name)}" for name in several if name not in _ALWAYS_SAID]
        clock = plan.settings.clock
        if plan.settings.lab == HOST:
            told.append("host lab")
        elif clock != VIRTUAL_CLOCK:
            told.append(f"{clock} clock")
        path = plan.path.name.removesuffix("-dropping")
        return ", ".join([f"{path} {asked.stack} seed {plan.seed}", *told])

    def minutes_of(self, asked: RunRequest) -> float:
        """What a run of the whole set takes, by its first stack."""
        return self.minutes.get(parse_stacks(asked.stack)[0], self.minutes.get(OTHERS, 1.0))


def experiment_names(folder: FilePath = EXPERIMENTS) -> tuple[str, ...]:
    """The names of all experiments in a folder."""
    return tuple(sorted(file.parent.name for file in folder.glob(f"*/{FILE}")))


def load_experiment(
    name: str, folder: FilePath = EXPERIMENTS, within: tuple[str, ...] = ()
) -> Experiment:
    """The experiment of that name.

    ``within``: the experiments whose part it is loaded as. Raises BadInputError for a name
    that no folder has, for a file with a field that is missing, unknown, of the wrong type
    or means nothing, and for experiments that are made of each other.
    """
    names = experiment_names(folder)
    if name not in names:
        raise BadInputError(
            f"EXPERIMENT is '{name}': it must be one of {', '.join(names) or 'none'}, "
            f"the folders in {folder} with {FILE}"
        )
    file = folder / name / FILE
    data = read_toml(file)
    try:
        _check_fields(data, ("title", "of", "held_out", "runs"), "")
        title, held_out = data.get("title"), data.get("held_out", [])
        if not isinstance(title, str) or not title:
            raise BadInputError("title: missing; say in a sentence what it is")
        parts = _parts(name, data)
        if circle := [part for part in parts if part in within]:
            raise BadInputError(
                f"of: {name} is made of {circle[0]}, and that of {name}: take one of them out"
            )
        sets = {} if parts else _sets(name, data.get("runs"), folder)
        stacks = [run.asked.stack for run in sets.get(WHOLE, ())]
        if not isinstance(held_out, list) or not all(text in stacks for text in held_out):
            raise BadInputError(f"held_out: {held_out} are no stacks of this experiment")
    except BadInputError as error:
        raise BadInputError(f"{file}: {error.message}") from error
    if parts:
        sets = _sets_of([load_experiment(part, folder, (*within, name)) for part in parts])
    return Experiment(name, title, sets, tuple(held_out), parts or (name,))


def _parts(name: str, data: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the experiments that one is made of; none if it has runs of its own."""
    names = data.get("of", [])
    texts = isinstance(names, list) and all(isinstance(other, str) for other in names)
    if not texts or name in names or ("of" in data and "runs" in data):
        raise BadInputError("of: give the names of other experiments, and no runs beside them")
    return tuple(names)


def _sets_of(others: Sequence[Experiment]) -> dict[str, tuple[WantedRun, ...]]:
    """The runs of several experiments, set by set."""
    return {
        which: tuple(_longest_first([run for one in others for run in one.sets.get(which, ())]))
        for which in SETS
        if any(which in one.sets for one in others)
    }


def _longest_first(runs: Sequence[WantedRun]) -> list[WantedRun]:
    return sorted(runs, key=lambda run: -run.expected_s)


def _sets(name: str, tables: Any, folder: FilePath) -> dict[str, tuple[WantedRun, ...]]:
    """All sets of runs of an experiment's tables."""
    if not isinstance(tables, list) or not tables:
        raise BadInputError("runs: missing; say in a table [[runs]] what is to be run")
    read = [_read_table(table, _place(tables, number, "")) for number, table in enumerate(tables)]
    own = {file.stem: file for file in sorted((folder / name / OWN_PATHS).glob("*.toml"))}
    return {
        which: _runs_of(name, which, read, own, folder)
        for which in SETS
        if any(which in table.words for table in read)
    }


def _place(tables: Sequence[Any], number: int, which: str) -> str:
    """Where in the file something is said: which table if there are several, and which set."""
    words = [f"runs {number + 1}"] * (len(tables) > 1) + [f"[{which}]"] * bool(which)
    return f"{' '.join(words)} " if words else ""


def _runs_of(
    name: str, which: str, tables: Sequence[_Table], own: Mapping[str, FilePath], folder: FilePath
) -> tuple[WantedRun, ...]:
    found: list[WantedRun] = []
    for number, table in enumerate(tables):
        if which not in table.words:
            continue
        try:
            whole = next(table.asked(WHOLE)).plan(own)
            found += [
                _wanted(name, which, table, asked, own, whole) for asked in table.asked(which)
            ]
        except BadInputError as error:
            place = _place(tables, number, which if which != WHOLE else "")
            raise BadInputError(f"{place}{error.message}") from error
    ordered = _longest_first(found)
    asked_here = (f"--experiment={name}", f"--experiments={folder}", f"--set={which}")
    return tuple(
        dataclasses.replace(run, command=("farpath", "campaign", *asked_here, f"--index={index}"))
        if run.asked.path in own
        else run
        for index, run in enumerate(ordered)
    )


def _wanted(
    name: str,
    which: str,
    table: _Table,
    asked: RunRequest,
    own: Mapping[str, FilePath],
    whole: Plan,
) -> WantedRun:
    plan = asked.plan(own)
    part = plan.schedule.duration_s / whole.schedule.duration_s
    return WantedRun(
        plan=plan,
        asked=asked,
        command=("farpath", "run", *asked.options()),
        label=table.label(which, asked, plan),
        expected_s=60 * table.minutes_of(asked) * part,
        experiment=name,
    )


def _check_fields(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    if unknown := sorted(set(table) - set(known)):
        raise BadInputError(
            f"{where}{unknown[0]}: unknown field; the fields are {', '.join(known)}"
        )


def _read_table(table: Any, where: str) -> _Table:
    if not isinstance(table, dict):
        raise BadInputError(f"{where}runs: is no table; write [[runs]]")
    others = SETS[1:]
    _check_fields(table, (*_WORDS, "minutes", *others), where)
    base = {word: value for word, value in table.items() if word in _WORDS}
    words = {WHOLE: _values(base, where)}
    for which in others:
        if which in table:
            at = f"{where}[{which}] "
            change = table[which]
            if not isinstance(change, dict):
                raise BadInputError(f"{at}is no table")
            _check_fields(change, _WORDS, at)
            # Another lab has other clocks
            kept = {
                key: value for key, value in base.items() if key != "clock" or "lab" not in change
            }
            words[which] = _values({**kept, **change}, at)
    return _Table(words, _minutes(table.get("minutes", {}), words[WHOLE], where))


def _values(table: Mapping[str, Any], where: str) -> dict[str, tuple[str, ...]]:
    """Each word's values, as texts."""
    found = {}
    for word, given in table.items():
        values = given if isinstance(given, list) else [given]
        wrong = [value for value in values if type(value) not in (str, int)]
        if wrong:
            raise BadInputError(f"{where}{word}: {wrong[0]!r} is neither a text nor a whole number")
        texts = tuple(str(value) for value in values)
        if not texts or len(set(texts)) < len(texts):
            raise BadInputError(f"{where}{word}: holds nothing, or something twice: {values}")
        found[word] = texts
    return found


def _minutes(given: Any, words: Mapping[str, tuple[str, ...]], where: str) -> Mapping[str, float]:
    by_stack = given if isinstance(given, dict) else {OTHERS: given}
    stacks = {stack for text in words.get("stack", ()) for stack in parse_stacks(text)}
    for name, minutes in by_stack.items():
        if name not in (*stacks, OTHERS):
            raise BadInputError(f"{where}minutes.{name}: is no stack of these runs, nor '{OTHERS}'")
        if type(minutes) not in (int, float) or not 0 < minutes < 1e6:
            raise BadInputError(
                f"{where}minutes.{name}: is {minutes}, it must be a number above 0 and below 1e6"
            )
    return by_stack
