"""The benchmark as text: measured beside goal, and below each how it was got."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

WIDTH = 98
#: Columns of title, measured value and goal.
TITLE_WIDTH, VALUE_WIDTH, GOAL_WIDTH = 34, 24, 26
SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
VERDICTS = {True: "reached", False: "NOT reached", None: ""}


def number(value: float) -> str:
    """A number with three digits, or all of a larger whole one below 1000.

    >>> number(449_600.0), number(0.00234), number(10.0), number(87.25), number(0.0)
    ('450 k', '0.00234', '10', '87.2', '0')
    """
    for scale, prefix in SCALES:
        if abs(value) >= scale:
            return f"{value / scale:.3g} {prefix}"
    return f"{value:.3g}"


def quantity(value: float, unit: str) -> str:
    """A number and its unit, its prefix joined to it.

    >>> quantity(116e6, "bytes"), quantity(87.25, "s"), quantity(3.0, "of 3 runs")
    ('116 Mbytes', '87.2 s', '3 of 3 runs')
    """
    shown = number(value)
    return f"{shown}{unit}" if shown[-1].isalpha() else f"{shown} {unit}"


def _row(figure: Mapping[str, Any]) -> str:
    value, goal, unit = figure["value"], figure["goal"], figure["unit"]
    measured = "-" if value is None else quantity(value, unit)
    if figure["estimated"]:
        measured = f"about {measured}"
    wanted = "" if goal is None else f"{goal['wanted']} {quantity(goal['number'], unit)}"
    verdict = VERDICTS[figure["reached"]]
    cells = f"{figure['title']:<{TITLE_WIDTH}}{measured:<{VALUE_WIDTH}}{wanted:<{GOAL_WIDTH}}"
    return f"{cells}{verdict}".rstrip()


def _how(text: str) -> str:
    return textwrap.fill(text, WIDTH, initial_indent="    ", subsequent_indent="    ")


def _scale(found: Mapping[str, Any]) -> list[str]:
    """Runs at scale, and what larger requests were told."""
    heads = ("virtual/real", "CPU", "packets/CPU s", "memory", "estimate", "est./mem.")
    lines = ["", "At scale", "".join(f"{head:>15}" for head in heads)]
    for run in found["runs"]:
        over = run["estimate_over_measured"]
        cells = (
            quantity(run["speed"], "x"),
            quantity(run["cpu_s"], "s"),
            number(run["packets_per_cpu_s"]),
            quantity(run["peak_memory_bytes"], "bytes"),
            quantity(run["estimate_bytes"], "bytes"),
            "-" if over is None else quantity(over, "x"),
        )
        lines += ["".join(f"{cell:>15}" for cell in cells), _how(run["asked"])]
    lines += ["", "Larger"]
    for asked, refused in found["larger"].items():
        lines += [f"  {asked}", _how(refused or "not refused: it starts on this machine")]
    return lines


def render(figures: Mapping[str, Any]) -> str:
    """What :func:`farpath.bench.measure` returns, for a reader."""
    machine = figures["machine"]
    heads = ("measured", "goal")
    lines = [
        f"{machine['cpu_model']}, {machine['cores']} cores, Linux {machine['kernel']}, "
        f"load {machine['load_before']:g} before",
    ]
    if figures["figures"]:
        lines += ["", f"{'figure':<{TITLE_WIDTH}}{heads[0]:<{VALUE_WIDTH}}{heads[1]}"]
    for figure in figures["figures"].values():
        lines += [_row(figure), _how(figure["how"])]
    if figures.get("scale"):
        lines += _scale(figures["scale"])
    if figures["quick"]:
        lines += ["", "quick: short runs; 'about' marks what is extrapolated from them"]
    return "\n".join(lines)
