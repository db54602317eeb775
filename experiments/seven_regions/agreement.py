"""The agreement of a campaign with the published numbers, compared with the goals."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from farpath.base.column import NOTHING, Value, number
from farpath.base.errors import BadInputError
from farpath.metrics.estimate import scipy_part, spearman
from farpath.metrics.results import ResultSet, mixed
from farpath.report.table import Table
from farpath.report.tables.deviations import ratio
from farpath.runs.claims import FAILS, HOLDS, UNDECIDED, count_states, judge_all

from .distances import means_over_seeds, rank_correlation
from .paper_stacks import labels_by_paper_name, paper_names
from .published import (
    PUBLISHED_PATH,
    all_published,
    published_paths,
    repeated_means_mbps,
)
from .tables import (
    COLUMNS,
    mean_over_stacks,
    measured,
    path_means,
    run_stacks,
    table_1,
    table_2,
)

#: The goal for Spearman's rank correlation of the nine means of table 1.
SPEARMAN_GOAL = 0.9
#: So many claims are those of the first comparison with the documents.
FIRST_CLAIMS = 30
#: The paths whose means of S and F were what their models were fitted to.
FITTED_PATHS = ("caltech", "ufl")
#: Two printed means are of one run if they differ by no more than this part, which is rounding.
SAME_MEAN = 0.01
#: The largest deviation of a path's means of S and F.
PATH_GOAL = 0.1


@dataclass(frozen=True)
class Goal:
    """The largest deviation of a column of table 1 from published: ``most``, in ``unit``."""

    key: str
    heading: str
    most: float
    unit: str
    decimals: int

    def deviation(self, campaign: ResultSet, name: str) -> float:
        """Return one stack's deviation at CERN; NaN if it was not run."""
        column = next(each for each in COLUMNS if each.key == self.key)
        value = measured(column, campaign, PUBLISHED_PATH, name)
        deviation = column.deviation_of(value, all_published()[name])
        assert deviation is not None
        return deviation

    def text(self, deviation: float) -> str:
        """Format a deviation for people, with a mark if it is beyond the goal."""
        if math.isnan(deviation):
            return NOTHING
        text = f"{round(deviation, self.decimals) + 0.0:+.{self.decimals}f}{self.unit}"
        return text if abs(deviation) <= self.most else f"{text} *"


GOALS = (
    Goal("mean_mbps", "mean, within 10 %", 10.0, " %", 0),
    Goal("stability", "S, within 0.15", 0.15, "", 2),
    Goal("fairness_min", "F min, within 0.1", 0.1, "", 2),
    Goal("rtt_std_ms", "SD(RTT), within 10 ms", 10.0, " ms", 1),
)


def parse_paper_stacks(texts: Collection[str]) -> tuple[str, ...]:
    """Return the paper's names of stacks that are given by name in any case, or by label.

    Raises BadInputError for one that is none of the paper's.
    """
    from farpath.programs.catalog import catalogue

    names = {name.lower(): name for name in paper_names()}
    names |= {label: entry.published for label, entry in catalogue().items() if entry.published}
    unknown = [text for text in texts if text.lower() not in names]
    if unknown:
        raise BadInputError(
            problem=f"'{unknown[0]}' is none of the paper's stacks: give one of "
            f"{', '.join(paper_names())}"
        )
    chosen = {names[text.lower()] for text in texts}
    return tuple(name for name in paper_names() if name in chosen)


def deviations(campaign: ResultSet, held_out: Collection[str] = ()) -> Table:
    """Return the deviation of each stack at CERN from published, with the goals.

    ``held_out``: the paper's names of stacks that the path's model was not fitted to.
    """
    by_stack = {name: [goal.deviation(campaign, name) for goal in GOALS] for name in paper_names()}
    rows = [
        (
            f"{name} (held out)" if name in held_out else name,
            *(goal.text(value) for goal, value in zip(GOALS, by_stack[name], strict=True)),
        )
        for name in paper_names()
    ]
    rows.append(("within the goal", *(_share(by_stack, paper_names(), goal) for goal in GOALS)))
    if held_out:
        rows.append(("held out, within", *(_share(by_stack, held_out, goal) for goal in GOALS)))
    data: list[tuple[Value, ...]] = []
    for name, values in by_stack.items():
        cells: list[Value] = [name, "yes" if name in held_out else "no"]
        for goal, value in zip(GOALS, values, strict=True):
            within = "" if math.isnan(value) else "yes" if abs(value) <= goal.most else "no"
            cells += [value, within]
        data.append(tuple(cells))
    columns = ["stack", "held_out"]
    for goal in GOALS:
        suffix = "_percent" if goal.unit == " %" else ""
        columns += [f"{goal.key}_deviation{suffix}", f"{goal.key}_within_goal"]
    text_table = Table.of_texts(
        f"Deviations from table 1, path {PUBLISHED_PATH}: measured less published",
        ("stack", *(goal.heading for goal in GOALS)),
        tuple(rows),
        " ".join(
            [
                *(f"MIXED: {sentence}." for sentence in mixed(campaign)),
                "*: beyond the goal.",
                _repeat_note(),
            ]
        ),
    )
    return Table.of_values("deviations", tuple(columns), tuple(data), text_table)


def _repeat_note() -> str:
    """Say which means the study printed twice, with other values each time."""
    texts = [
        f"{name} ({ratio(mbps, all_published()[name].mean_mbps)})"
        for name, mbps in repeated_means_mbps().items()
        if abs(mbps / all_published()[name].mean_mbps - 1) > SAME_MEAN
    ]
    return f"The study's abstract prints another mean for {', '.join(texts)}."


def _within(
    by_stack: dict[str, list[float]], names: Collection[str], goal: Goal
) -> tuple[int, int]:
    """Return how many stacks are within the goal, and how many were run."""
    deviations = [by_stack[name][GOALS.index(goal)] for name in names]
    deviations = [value for value in deviations if not math.isnan(value)]
    return sum(abs(value) <= goal.most for value in deviations), len(deviations)


def _share(by_stack: dict[str, list[float]], names: Collection[str], goal: Goal) -> str:
    return "{} of {}".format(*_within(by_stack, names, goal))


def region_rank_correlation(campaign: ResultSet) -> float:
    """Return Spearman's correlation of measured and published S of all cells of table 2.

    S of a stack is the mean over its seeds. It is NaN if a stack is missing.
    """
    rows = all_published()

    def of_region(number: int) -> dict[str, float]:
        return means_over_seeds(campaign, lambda run: run.regions[number - 1].stability)

    numbers = {cell.number for row in rows.values() for cell in row.regions}
    measured = {number: of_region(number) for number in numbers}
    if any(set(of_stacks) != set(rows) for of_stacks in measured.values()):
        return math.nan
    cells = [(name, cell) for name, row in rows.items() for cell in row.regions]
    return spearman(
        [measured[cell.number][name] for name, cell in cells],
        [cell.stability for _name, cell in cells],
    )


def stack_p() -> float:
    """Return how likely chance alone makes S of table 2 differ by stack as it is printed.

    It is the p value of Kruskal and Wallis' test (*JASA* 47, 1952) of the nine stacks, each with
    its seven regions. What differs no more than by chance tells nothing of a stack.
    """
    regions = [[cell.stability for cell in row.regions] for row in all_published().values()]
    return float(scipy_part("stats").kruskal(*regions).pvalue)


def agreement(campaign: ResultSet, held_out: Collection[str] = ()) -> Table:
    """Return the goals of the comparison, the values reached and whether they are met.

    Each of the four goals for single stacks is met if every held-out stack is within it, or every
    stack if none is held out. A path's means that its model was fitted to are marked.
    """
    lines = [
        _line("Spearman's rank correlation of the means at CERN", rank_correlation(campaign),
              f"at least {SPEARMAN_GOAL}", SPEARMAN_GOAL),
        _without_goal("Spearman's rank correlation of S of the regions at CERN",
                      region_rank_correlation(campaign)),
        *_stack_lines(campaign, held_out),
        *_path_lines(campaign),
    ]  # fmt: skip
    states = count_states(judge_all(campaign)[:FIRST_CLAIMS])
    goal = (
        f"claims C1 to C{FIRST_CLAIMS} that hold ({states[FAILS]} fail, {states[UNDECIDED]} are "
        "undecided)"
    )
    lines.append(_without_goal(goal, states[HOLDS]))
    notes = [
        f"By stack, S of the regions differs no more than by chance (p = {stack_p():.2f}), so that "
        "no goal asks for it; the experiment inference has goals for the claims.",
        *(f"MIXED: {sentence}." for sentence in mixed(campaign)),
    ]
    text_table = Table.of_texts(
        "Agreement with the published numbers",
        ("goal", "reached", "wanted", "met"),
        tuple((goal, text, wanted, met) for goal, _, text, wanted, met in lines),
        " ".join(notes),
    )
    data = tuple((goal, value, wanted, met) for goal, value, _, wanted, met in lines)
    return Table.of_values("agreement", ("goal", "reached", "wanted", "met"), data, text_table)


_Line = tuple[str, Value, str, str, str]


def _line(goal: str, value: float, wanted: str, bound: float, below: bool = False) -> _Line:
    """Return one goal, its value, and whether the bound is kept; a dash if unknown."""
    met = value <= bound if below else value >= bound
    met_text = NOTHING if math.isnan(value) else "yes" if met else "no"
    return goal, value, _value_text(value), wanted, met_text


def _without_goal(what: str, value: float) -> _Line:
    """Return a value for which there is no goal."""
    return what, value, _value_text(value), "no goal", NOTHING


def _value_text(value: float) -> str:
    return str(value) if isinstance(value, int) else number(value, 3)


def _stack_lines(campaign: ResultSet, held_out: Collection[str]) -> list[_Line]:
    names = tuple(held_out) or paper_names()
    stacks_text = "held-out stacks" if held_out else "stacks"
    by_stack = {name: [goal.deviation(campaign, name) for goal in GOALS] for name in names}
    lines: list[_Line] = []
    for goal in GOALS:
        within, count = _within(by_stack, names, goal)
        met = NOTHING if not count else "yes" if within == count else "no"
        fraction = within / count if count else math.nan
        lines.append(
            (f"{stacks_text}: {goal.heading}", fraction, f"{within} of {count}", "all", met)
        )
    return lines


def _path_lines(campaign: ResultSet) -> list[_Line]:
    """Return the goals for path means; a path that lacks a stack has no comparable mean."""
    lines = []
    for path, printed in published_paths().items():
        complete = run_stacks(campaign, path) == paper_names()
        for quantity, value, published in (
            ("S", mean_over_stacks(campaign, path, lambda run: run.stability).mean,
             printed.mean_stability),
            ("F min", mean_over_stacks(campaign, path, lambda run: run.fairness_min).mean,
             printed.mean_fairness),
        ):  # fmt: skip
            deviation = abs(value - published) if complete else math.nan
            goal = f"{path}: mean {quantity} off {published:.2f}"
            goal += ", fitted" if path in FITTED_PATHS else ""
            lines.append(_line(goal, deviation, f"at most {PATH_GOAL}", PATH_GOAL, below=True))
    return lines


def all_tables(
    campaign: ResultSet, path: str | None = None, held_out: Collection[str] = ()
) -> tuple[Table, ...]:
    """Return every table of a campaign; for a single path only tables 1 and 2.

    Raises BadInputError for a path without runs, and for a campaign in which none of the paper's
    stacks was run.
    """
    if not labels_by_paper_name(campaign):
        raise BadInputError(
            problem="none of the paper's stacks is among the records: run some with "
            "'farpath run --era=2004'; there are "
            f"{', '.join(campaign.stacks) or 'none'}"
        )
    if path is not None and path not in campaign.paths:
        raise BadInputError(
            problem=f"there is no record of path '{path}'",
            remedy=f"it must be one of {', '.join(campaign.paths)}",
        )
    paths = [path] if path else [name for name in published_paths() if name in campaign.paths]
    paths += [] if path else [name for name in campaign.paths if name not in paths]
    tables = [make_table(campaign, name) for name in paths for make_table in (table_1, table_2)]
    if path is None:
        tables += [
            path_means(campaign),
            deviations(campaign, held_out),
            agreement(campaign, held_out),
        ]
    return tuple(tables)
