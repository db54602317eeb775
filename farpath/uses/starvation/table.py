"""The tables of a search for starvation: the worst conditions, and all trials in long form."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from farpath.base.column import NOTHING, given, number
from farpath.metrics.catalogue import in_mbps
from farpath.metrics.estimate import CONFIDENCE
from farpath.metrics.significance import (
    SHARE_DIFFERENCE,
    bootstrap_interval,
    holm,
    runs_needed,
    welch,
)
from farpath.report.table import Table
from farpath.uses.starvation.question import Starvation, Trial, worst

_DRAWS_NOTE = "Each is of {} draws: median (and range), and all else of the draw in the middle."
#: The most trials in the table of the worst.
SHOWN = 10
#: Made trials of each search, in their order.
Searches = Sequence[tuple[Starvation, tuple[Trial, ...]]]
_NOTE = (
    "Shares are in per cent of a fair half, of the flow that had less, in the time in which both "
    "sent, without its first quarter; Mbit/s are means over the same time."
)


def share_text(trial: Trial) -> str:
    """Return the least share in per cent of a fair half, with its range over draws."""
    if trial.shares is None:
        return NOTHING
    return trial.range.text(lambda share: number(100 * share, 1))


def starved_text(search: Starvation, trial: Trial) -> str:
    """Return the flow that had less: its stack, and which of two if both have the same."""
    if trial.starved is None:
        return NOTHING
    stack = search.pair[trial.starved]
    return f"{stack} (flow{trial.starved + 1})" if len(set(search.pair)) == 1 else stack


def worst_table(search: Starvation, trials: Sequence[Trial]) -> Table:
    """Return the trials in which a flow had the least, the worst first."""
    shown = sorted(trials, key=lambda trial: trial.order)[:SHOWN]
    first, second = search.pair
    return Table.of_texts(
        f"Worst conditions of {len(trials)} for {first} beside {second}",
        ("trial", "least share", "of", *search.templates, "Mbit/s", "other Mbit/s"),
        tuple(
            (
                str(trial.number),
                share_text(trial),
                starved_text(search, trial),
                *trial.options.values(),
                *(f"{bps / 1e6:.2f}" for bps in sorted(trial.throughputs_bps)),
            )
            for trial in shown
        ),
        " ".join((_NOTE, _DRAWS_NOTE.format(search.draws), *_chance_sentences(trials)))
        if search.draws > 1
        else _NOTE,
    )


def _chance_sentences(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield what chance leaves of the worst trial: its interval, and what differs from it."""
    least = worst(trials)
    interval = bootstrap_interval(least.least_shares)
    if not interval.is_known:
        return
    needed = runs_needed(least.least_shares, SHARE_DIFFERENCE)
    yield (
        f"Trial {least.number} has a median of {_interval_text(interval.low, interval.high)} "
        "(95 %, bootstrap); as the least of many it is lower than in further draws."
    )
    if needed is not None:
        yield (
            f"To see a difference of {100 * SHARE_DIFFERENCE:.0f} % of a fair half from it takes "
            f"{needed} draws (power 80 %)."
        )
    tested = [
        probability
        for trial in trials
        if trial is not least
        and not math.isnan(probability := welch(least.least_shares, trial.least_shares))
    ]
    if tested:
        seen = sum(probability <= 1 - CONFIDENCE for probability in holm(tested))
        yield (
            f"{seen} of {len(tested)} other trials differ from it by more than chance (Welch's "
            "test, 5 % after Holm's correction)."
        )


def _interval_text(low: float, high: float) -> str:
    return f"{number(100 * low, 1)} to {number(100 * high, 1)}"


def _interval(trial: Trial) -> tuple[float | None, float | None]:
    interval = bootstrap_interval(trial.least_shares)
    return (interval.low, interval.high) if interval.is_known else (None, None)


def trials_table(searches: Searches) -> Table:
    """Return a row for each trial of each search."""
    names = tuple(dict.fromkeys(name for search, _ in searches for name in search.templates))
    keys = (
        "stack", "other", "trial", *names, "least_share", "draws", "least_of_draws",
        "most_of_draws", "share", "other_share",
        "throughput_mbps", "other_throughput_mbps", "record", "fingerprint", "command",
        "least_share_low", "least_share_high", "draws_for_5_percent",
    )  # fmt: skip
    rows = tuple(
        (
            *search.pair, trial.number, *(trial.options.get(name) for name in names),
            trial.least_share if trial.shares else None, search.draws,
            *((trial.range.least, trial.range.most) if trial.shares else (None, None)),
            *(trial.shares or (None, None)),
            *map(in_mbps, trial.throughputs_bps), trial.record, trial.fingerprint, trial.command,
            *_interval(trial), runs_needed(trial.least_shares, SHARE_DIFFERENCE),
        )
        for search, trials in searches
        for trial in trials
    )  # fmt: skip
    return Table("starvation", "Trials", tuple(given(key, key, 3) for key in keys), rows)


def as_json(searches: Searches) -> list[dict[str, object]]:
    """Return plain values for JSON: for each search its stacks, the worst trial and all trials."""
    table = trials_table(searches)
    rows = table.objects
    found: list[dict[str, object]] = []
    for search, trials in searches:
        own, rows = rows[: len(trials)], rows[len(trials) :]
        worst_number = worst(trials).number
        worst_row = next(row for row in own if row["trial"] == worst_number)
        found.append({"stacks": list(search.pair), "worst": worst_row, "trials": own})
    return found
