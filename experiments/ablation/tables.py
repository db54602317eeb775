"""Tables of an ablation: each column by mechanism and stack, the agreement, the settings."""

from __future__ import annotations

import math
from collections.abc import Mapping

from experiments.seven_regions.paper_columns import LAB_COLUMNS, PaperColumn
from experiments.seven_regions.paper_stacks import paper_names
from experiments.seven_regions.published import PUBLISHED_PATH, all_published
from farpath.base.column import NOTHING, Value, number
from farpath.metrics.estimate import Estimate
from farpath.report.table import Table, with_interval

from .analysis import BASE, Ablation, Score

PUBLISHED_ROW = "published"
#: What stands for the results of runs that are the base's own.
SAME = "="
SAME_NOTE = f"{SAME}: the mechanism is not of this stack, whose runs are the base's."
INTERVAL_NOTE = "±: half of the 95 % confidence interval over seeds."


def ablation_tables(ablation: Ablation) -> tuple[Table, ...]:
    """Return a table of each column, then agreement and settings of all mechanisms."""
    return (
        *(_column_table(ablation, column) for column in LAB_COLUMNS),
        _agreement_table(ablation),
        _settings_table(ablation),
    )


def scope(ablation: Ablation) -> str:
    """Return path, length of the regions and number of seeds: what all values are of."""
    regions = " and ".join(f"{length:g}" for length in ablation.regions_s)
    seeds = len(ablation.seeds)
    return f"path {PUBLISHED_PATH}, regions of {regions} s, {seeds} seed{'' if seeds == 1 else 's'}"


def _column_table(ablation: Ablation, column: PaperColumn) -> Table:
    """Return a row for each mechanism, below that of the published values."""
    names = paper_names()
    printed = {name: column.printed.cell(all_published()[name]) for name in names}
    rows = [(PUBLISHED_ROW, *(printed[name].text for name in names))]
    data: list[tuple[Value, ...]] = []
    for mechanism in ablation.results:
        estimates = {name: ablation.of(mechanism, name, column) for name in names}
        cells = (_cell(ablation, mechanism, name, column) for name in names)
        rows.append((mechanism, *cells))
        data += [
            (mechanism, name, *_estimate_data(estimates[name]), printed[name].value)
            for name in names
        ]
    notes = [INTERVAL_NOTE] if len(ablation.seeds) > 1 else []
    notes += [SAME_NOTE] if any(SAME in row for row in rows) else []
    text = Table.of_texts(
        f"{column.heading} with each mechanism: {scope(ablation)}",
        ("mechanism", *names),
        tuple(rows),
        " ".join(notes),
    )
    key = column.key
    columns = ("mechanism", "stack", "seeds", key, f"{key}_half_width_95", f"{key}_published")
    return Table.of_values(f"ablation-{key}", columns, tuple(data), text)


def _cell(ablation: Ablation, mechanism: str, stack: str, column: PaperColumn) -> str:
    """Format a mean and its interval without blanks, so that nine fit beside each other."""
    value = ablation.of(mechanism, stack, column)
    if mechanism != BASE and value.count and not ablation.changes(mechanism, stack):
        return SAME
    return with_interval(value, column.decimals).replace(" ± ", "±")


def _estimate_data(value: Estimate) -> tuple[Value, ...]:
    return value.count, value.mean, value.half_width


def _agreement_table(ablation: Ablation) -> Table:
    """Return how near each mechanism brings all stacks to table 1, and which claims it changes."""
    scores = {name: ablation.score(name) for name in ablation.results}
    rows = tuple(
        (
            name,
            number(score.rank_correlation, 2),
            *(number(score.distances[each.key], each.decimals) for each in LAB_COLUMNS),
            f"{score.holding}, {score.failing}, {score.undecided}",
            _changes_text(name, score),
        )
        for name, score in scores.items()
    )
    stacks = sorted({score.stacks for score in scores.values()})
    part = "" if stacks == [len(paper_names())] else "Not all of the nine stacks were run. "
    mixtures = "".join(f"MIXED: {sentence}. " for sentence in ablation.mixtures)
    note = (
        f"{mixtures}{part}Spearman's rank correlation is of the nine means. "
        "The distances are means over the stacks of |measured - published|. "
        "Claims: those that runs on this path alone can decide."
    )
    text = Table.of_texts(
        f"Agreement with the published table 1, by mechanism: {scope(ablation)}",
        ("mechanism", "Spearman", *(f"off in {each.heading}" for each in LAB_COLUMNS),
         "claims hold, fail, undecided", "claims that change against the base"),
        rows,
        note,
    )  # fmt: skip
    columns = ("mechanism", "stacks", "rank_correlation",
               *(f"{each.key}_distance" for each in LAB_COLUMNS),
               "claims_holding", "claims_failing", "claims_undecided",
               "claims_changed")  # fmt: skip
    data = tuple(
        (
            name,
            score.stacks,
            None if math.isnan(score.rank_correlation) else score.rank_correlation,
            *(score.distances[each.key] for each in LAB_COLUMNS),
            score.holding,
            score.failing,
            score.undecided,
            _changes_text(name, score),
        )
        for name, score in scores.items()
    )
    return Table.of_values("ablation-agreement", columns, data, text)


def _changes_text(mechanism: str, score: Score) -> str:
    """Format the claims that change, by what they change to; a dash at the base."""
    if mechanism == BASE:
        return NOTHING
    by_change: dict[tuple[str, str], list[str]] = {}
    for id_, change in score.changes.items():
        by_change.setdefault(change, []).append(id_)
    texts = [f"{', '.join(ids)} {before} → {after}" for (before, after), ids in by_change.items()]
    return "; ".join(texts) or "none"


def _settings_table(ablation: Ablation) -> Table:
    """Return what each mechanism is, and its settings in full."""
    rows: list[tuple[str, ...]] = []
    for name, title in ablation.mechanisms.items():
        common, single = ablation.settings_of(name)
        of_stacks = "; ".join(f"{stack}: {_words_text(words)}" for stack, words in single.items())
        rows.append((name, title, _words_text(common), of_stacks or NOTHING))
    text_table = Table.of_texts(
        "Mechanisms and their settings in full",
        ("mechanism", "what it is", "settings", "of single stacks, instead or besides"),
        tuple(rows),
    )
    columns = ("mechanism", "title", "settings", "settings_of_stacks")
    return Table.of_values("ablation-settings", columns, tuple(rows), text_table)


def _words_text(words: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in words.items())
