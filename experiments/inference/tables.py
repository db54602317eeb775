"""Tables of the inference: goals, unknowns, held-out numbers, and errors of the surrogates."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from experiments.seven_regions.paper_columns import LAB_COLUMNS
from farpath.report.table import Table

from . import claims
from .analysis import (
    FEWEST,
    GOAL_BRIER,
    GOAL_WITHIN,
    HELD_OUT,
    Inference,
    Prediction,
    of_columns,
    relative_width,
)
from .hosts import HOSTS, HostEffect

HEADINGS = {column.key: column.heading for column in LAB_COLUMNS}
UNITS = {
    "rate_mbps": "rate (Mbit/s)", "buffer_ms": "buffer (ms)", "loss": "loss",
    "window_mb": "window (MB)", "backlog": "input queue (packets)",
    "report noise": "noise of reports (Mbit/s)", "rate by hour": "rate by hour (SD of logarithm)",
    "loss by hour": "loss by hour (SD of logarithm)", "discrepancy": "scatter over the lab's",
}  # fmt: skip
#: A posterior this much narrower than the prior has told something.
TOLD = 0.3


def _table(
    name: str, title: str, header: Sequence[str], rows: Iterable[tuple[str, ...]], note: str
) -> Table:
    return dataclasses.replace(Table.of_texts(title, tuple(header), rows, note), name=name)


def inference_tables(inference: Inference) -> tuple[Table, ...]:
    """Return all tables; before there are enough runs, one that says so."""
    counts: dict[str, int] = {}
    for run in inference.runs:
        counts[run.stack] = counts.get(run.stack, 0) + 1
    runs = _table(
        "inference-runs", "Runs of the design", ("stack", "runs"),
        [(stack, str(count)) for stack, count in counts.items()],
        "" if inference.predictions else f"Nothing is inferred from fewer than {FEWEST} of each.",
    )  # fmt: skip
    if not inference.predictions:
        return (runs,)
    return (
        _goals(inference),
        _unknowns(inference),
        _predictions(inference),
        _claims(inference),
        _hosts(inference),
        _errors(inference),
        runs,
    )


def _number(value: float) -> str:
    return f"{value:.3g}"


def _goals(inference: Inference) -> Table:
    within = sum(each.within for each in inference.predictions)
    number = len(inference.predictions)
    least, most = (round(part * number) for part in GOAL_WITHIN)
    rows = [
        (
            "held-out numbers of table 1 within their interval of 90 %",
            f"{within} of {number}", f"{least} to {most}", _yes(least <= within <= most),
        ),
        *(
            (
                f"{HEADINGS[column]}: width of intervals over the spread of the stacks",
                f"{relative_width(of):.2f}", "below 1", _yes(relative_width(of) < 1),
            )
            for column, of in of_columns(inference).items()
        ),
        *_brier_goals(inference),
    ]  # fmt: skip
    size, least_size = inference.size
    note = (
        f"Effective number of the posterior's points: {size:.0f}, without one stack at least "
        f"{least_size:.0f}."
    )
    return _table(
        "inference-goals",
        "Goals of the inference",
        ("goal", "reached", "wanted", "met"),
        rows,
        note,
    )


def _brier_goals(inference: Inference) -> Iterable[tuple[str, ...]]:
    """Return the goals of forecasts; all claims hold in print, so that their base rate is 1."""
    score = claims.brier((each.held_out, each.holds) for each in inference.claims)
    before = claims.brier((each.before, each.holds) for each in inference.claims)
    wanted = min(GOAL_BRIER, before)
    yield (
        "Brier score of the paper's claims, each stack held out",
        f"{score:.2f}", f"below {wanted:.2f}", _yes(score < wanted),
    )  # fmt: skip
    for order in inference.orders:
        yield (
            f"{HEADINGS[order.column]}: Brier score of which of two stacks has more",
            f"{order.score:.2f}", f"below {order.base:.2f}, its base rate's",
            _yes(order.score < order.base),
        )  # fmt: skip


def _claims(inference: Inference) -> Table:
    rows = [
        (
            each.id, each.claim, f"{100 * each.before:.0f} %", f"{100 * each.held_out:.0f} %",
            "its words" if each.by_words else "its numbers" if each.holds else "-",
        )
        for each in inference.claims
    ]  # fmt: skip
    return _table(
        "inference-claims",
        "How likely the paper's claims on CERN are",
        ("", "claim", "before any number", "by the other stacks", "the paper has it by"), rows,
        "Each stack's numbers are drawn for the path and hosts that the other eight give. The "
        "chance of a claim is the share of draws in which its conditions hold.",
    )  # fmt: skip


def _hosts(inference: Inference) -> Table:
    rows = [
        (stack, *map(_host_cell, by_host))
        for stack, by_host in groupby(inference.effects, attrgetter("stack"))
    ]
    header = [f"{backlog:,} packets{', remembered' if hinted else ''}" for backlog, hinted in HOSTS]
    return _table(
        "inference-hosts",
        "What the input queue, and walks along SACKs that are remembered, do to each stack",
        ("stack", *header), rows,
        "Spurious ones of retransmissions; mean in Mbit/s ± the SD of a run; S. By the surrogates, "
        "on the path of the medians above.",
    )  # fmt: skip


def _host_cell(each: HostEffect) -> str:
    return (
        f"{100 * each.spurious_part:.0f} %; {each.mean_mbps:.0f} ± {each.deviation_mbps:.0f}; "
        f"{each.stability:.2f}"
    )


def _yes(met: bool) -> str:
    return "yes" if met else "no"


def _unknowns(inference: Inference) -> Table:
    rows = [
        (
            UNITS[each.name], _number(each.median), f"{_number(each.low)} to {_number(each.high)}",
            f"{100 * each.told:.0f} %", "" if each.told >= TOLD else "not identified",
        )
        for each in inference.unknowns
    ]  # fmt: skip
    return _table(
        "inference-unknowns",
        "What the printed numbers say of path and hosts",
        ("unknown", "median", "90 %", "narrower than before", ""), rows,
        "The last columns compare the interval of 90 % with that before any number was known.",
    )  # fmt: skip


def _cell(each: Prediction) -> str:
    low, high = _number(each.low), _number(each.high)
    return f"{_number(each.printed)} in {low} to {high}{'' if each.within else ' *'}"


def _predictions(inference: Inference) -> Table:
    rows = [
        (stack, *map(_cell, of_stack))
        for stack, of_stack in groupby(inference.predictions, attrgetter("stack"))
    ]
    return _table(
        "inference-held-out",
        "Each stack's printed numbers in the intervals that the other eight give",
        ("stack", *(HEADINGS[name] for name in HELD_OUT)), rows, "*: outside its interval of 90 %.",
    )  # fmt: skip


def _errors(inference: Inference) -> Table:
    errors = inference.errors or {}
    rows = [
        (stack, *(f"{of[name]:.2f}" if math.isfinite(of[name]) else "-" for name in HELD_OUT))
        for stack, of in errors.items()
    ]
    return _table(
        "inference-surrogates",
        "How far the surrogates are off at runs that they have not seen",
        ("stack", *(HEADINGS[name] for name in HELD_OUT)), rows,
        "Over the spread of the runs: 1 is no better than their mean.",
    )  # fmt: skip
