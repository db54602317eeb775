"""Agreement: how far a campaign is from the published numbers, beside the goals."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from farpath.analysis.claims import UNDECIDED, judge_all
from farpath.analysis.paper_stacks import labels_by_paper_name, paper_names
from farpath.analysis.published import PUBLISHED_PATH, all_published, published_paths
from farpath.analysis.results import ResultSet, mixed
from farpath.analysis.statistics import spearman
from farpath.base.errors import BadInputError
from farpath.report.tables.campaign import (
    QUANTITIES,
    mean_over_stacks,
    path_means,
    run_stacks,
    table_1,
    table_2,
)
from farpath.report.tables.formats import Datum, Sheet
from farpath.report.tables.regions import NOTHING, Grid, number

#: Spearman's rank correlation of the nine means, and how many claims are to be decided.
SPEARMAN_GOAL = 0.9
DECIDED_GOAL = 24
#: By how much a path's means of S and F may be off.
PATH_GOAL = 0.1


@dataclass(frozen=True)
class Goal:
    """How far a column of table 1 may be from published: ``most``, in ``unit``."""

    key: str
    heading: str
    most: float
    unit: str
    decimals: int

    def deviation(self, campaign: ResultSet, name: str) -> float:
        """One stack's at CERN; NaN if it was not run."""
        quantity = next(each for each in QUANTITIES if each.key == self.key)
        found = quantity.measured(campaign, PUBLISHED_PATH, name)
        deviation = quantity.deviation_of(found, quantity.printed(all_published()[name]))
        assert deviation is not None
        return deviation

    def text(self, deviation: float) -> str:
        """For people, with a mark if it is beyond."""
        if math.isnan(deviation):
            return NOTHING
        shown = f"{round(deviation, self.decimals) + 0.0:+.{self.decimals}f}{self.unit}"
        return shown if abs(deviation) <= self.most else f"{shown} *"


GOALS = (
    Goal("mean_mbps", "mean, within 10 %", 10.0, " %", 0),
    Goal("stability", "S, within 0.15", 0.15, "", 2),
    Goal("fairness_min", "F min, within 0.1", 0.1, "", 2),
    Goal("rtt_std_ms", "SD(RTT), within 10 ms", 10.0, " ms", 1),
)


def known_stacks(texts: Collection[str]) -> tuple[str, ...]:
    """The paper's names of stacks that are given by these, their labels or in lower case.

    Raises BadInputError for one that is none of the paper's.
    """
    from farpath.planning.stack_catalog import catalogue

    names = {name.lower(): name for name in paper_names()}
    names |= {label: entry.published for label, entry in catalogue().items() if entry.published}
    unknown = [text for text in texts if text.lower() not in names]
    if unknown:
        raise BadInputError(
            f"'{unknown[0]}' is none of the paper's stacks: give one of {', '.join(paper_names())}"
        )
    meant = {names[text.lower()] for text in texts}
    return tuple(name for name in paper_names() if name in meant)


def deviations(campaign: ResultSet, held_out: Collection[str] = ()) -> Sheet:
    """How far each stack at CERN is from published, beside the goals.

    ``held_out``: the paper's names of stacks that the path's model was not fitted to.
    """
    found = {name: [goal.deviation(campaign, name) for goal in GOALS] for name in paper_names()}
    rows = [
        (
            f"{name} (held out)" if name in held_out else name,
            *(goal.text(value) for goal, value in zip(GOALS, found[name], strict=True)),
        )
        for name in paper_names()
    ]
    rows.append(("within the goal", *(_share(found, paper_names(), goal) for goal in GOALS)))
    if held_out:
        rows.append(("held out, within", *(_share(found, held_out, goal) for goal in GOALS)))
    data: list[tuple[Datum, ...]] = []
    for name, values in found.items():
        cells: list[Datum] = [name, "yes" if name in held_out else "no"]
        for goal, value in zip(GOALS, values, strict=True):
            within = "" if math.isnan(value) else "yes" if abs(value) <= goal.most else "no"
            cells += [value, within]
        data.append(tuple(cells))
    columns = ["stack", "held_out"]
    for goal in GOALS:
        suffix = "_percent" if goal.unit == " %" else ""
        columns += [f"{goal.key}_deviation{suffix}", f"{goal.key}_within_goal"]
    grid = Grid(
        f"Deviations from table 1, path {PUBLISHED_PATH}: measured less published",
        ("stack", *(goal.heading for goal in GOALS)),
        tuple(rows),
        " ".join([*(f"MIXED: {said}." for said in mixed(campaign)), "*: beyond the goal."]),
    )
    return Sheet("deviations", grid, tuple(columns), tuple(data))


def _within(found: dict[str, list[float]], names: Collection[str], goal: Goal) -> tuple[int, int]:
    """Of how many stacks the deviation is within the goal, and how many were run."""
    known = [found[name][GOALS.index(goal)] for name in names]
    known = [value for value in known if not math.isnan(value)]
    return sum(abs(value) <= goal.most for value in known), len(known)


def _share(found: dict[str, list[float]], names: Collection[str], goal: Goal) -> str:
    return "{} of {}".format(*_within(found, names, goal))


def rank_correlation(campaign: ResultSet) -> float:
    """Spearman's of the measured and the published means at CERN; NaN if one is missing."""
    mean = next(each for each in QUANTITIES if each.key == "mean_mbps")
    measured = [mean.measured(campaign, PUBLISHED_PATH, name).mean for name in paper_names()]
    if any(math.isnan(value) for value in measured):
        return math.nan
    return spearman(measured, [all_published()[name].mean_mbps for name in paper_names()])


def agreement(campaign: ResultSet, held_out: Collection[str] = ()) -> Sheet:
    """The goals of the comparison, what was reached and whether that is enough.

    Of the four goals for single stacks most stacks have to be within: more than half
    of the held-out ones, or of all if none is held out.
    """
    lines = [
        _line("Spearman's rank correlation of the means at CERN", rank_correlation(campaign),
              f"at least {SPEARMAN_GOAL}", SPEARMAN_GOAL),
        *_stack_lines(campaign, held_out),
        *_path_lines(campaign),
    ]  # fmt: skip
    verdicts = judge_all(campaign)
    decided = sum(verdict.state != UNDECIDED for verdict in verdicts)
    what = f"claims decided, of {len(verdicts)}"
    lines.append(_line(what, decided, f"at least {DECIDED_GOAL}", DECIDED_GOAL))
    grid = Grid(
        "Agreement with the published numbers",
        ("goal", "reached", "wanted", "met"),
        tuple((what, text, wanted, met) for what, _, text, wanted, met in lines),
        " ".join(f"MIXED: {said}." for said in mixed(campaign)),
    )
    data = tuple((what, value, wanted, met) for what, value, _, wanted, met in lines)
    return Sheet("agreement", grid, ("goal", "reached", "wanted", "met"), data)


_Line = tuple[str, Datum, str, str, str]


def _line(what: str, value: float, wanted: str, bound: float, below: bool = False) -> _Line:
    """One goal, what was reached, and whether the bound is kept; a dash if unknown."""
    met = value <= bound if below else value >= bound
    known = NOTHING if math.isnan(value) else "yes" if met else "no"
    text = str(value) if isinstance(value, int) else number(value, 2)
    return what, value, text, wanted, known


def _stack_lines(campaign: ResultSet, held_out: Collection[str]) -> list[_Line]:
    names = tuple(held_out) or paper_names()
    who = "held-out stacks" if held_out else "stacks"
    found = {name: [goal.deviation(campaign, name) for goal in GOALS] for name in names}
    lines: list[_Line] = []
    for goal in GOALS:
        within, known = _within(found, names, goal)
        met = NOTHING if not known else "yes" if 2 * within > known else "no"
        part = within / known if known else math.nan
        lines.append((f"{who}: {goal.heading}", part, f"{within} of {known}", "most", met))
    return lines


def _path_lines(campaign: ResultSet) -> list[_Line]:
    """A path of which a stack is missing has no mean to set beside the paper's."""
    lines = []
    for path, printed in published_paths().items():
        whole = run_stacks(campaign, path) == paper_names()
        for what, value, beside in (
            ("S", mean_over_stacks(campaign, path, lambda run: run.stability).mean,
             printed.mean_stability),
            ("F min", mean_over_stacks(campaign, path, lambda run: run.fairness_min).mean,
             printed.mean_fairness),
        ):  # fmt: skip
            off = abs(value - beside) if whole else math.nan
            goal = f"{path}: mean {what} off {beside:.2f}"
            lines.append(_line(goal, off, f"at most {PATH_GOAL}", PATH_GOAL, below=True))
    return lines


def all_sheets(
    campaign: ResultSet, path: str | None = None, held_out: Collection[str] = ()
) -> tuple[Sheet, ...]:
    """Every table of a campaign; of one path its tables 1 and 2 alone.

    Raises BadInputError for a path without runs, and for a campaign in which none of
    the paper's stacks was run.
    """
    if not labels_by_paper_name(campaign):
        raise BadInputError(
            "none of the paper's stacks is among the records: run some with 'farpath run "
            f"--era=2004'; there are {', '.join(campaign.stacks) or 'none'}"
        )
    if path is not None and path not in campaign.paths:
        raise BadInputError(
            f"there is no record of path '{path}': it must be one of {', '.join(campaign.paths)}"
        )
    paths = [path] if path else [name for name in published_paths() if name in campaign.paths]
    paths += [] if path else [name for name in campaign.paths if name not in paths]
    sheets = [table(campaign, name) for name in paths for table in (table_1, table_2)]
    if path is None:
        sheets += [
            path_means(campaign),
            deviations(campaign, held_out),
            agreement(campaign, held_out),
        ]
    return tuple(sheets)
