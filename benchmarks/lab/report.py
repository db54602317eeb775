"""The benchmark's report as text: each figure next to its goal, and its method below."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

WIDTH = 98
#: The widths of the columns title, measured value and goal.
TITLE_WIDTH, VALUE_WIDTH, GOAL_WIDTH = 42, 22, 25
SCALES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
VERDICTS = {True: "reached", False: "NOT reached", None: ""}


def number(value: float) -> str:
    """Format a number with three digits and a prefix.

    >>> number(449_600.0), number(0.00234), number(10.0), number(87.25), number(0.0)
    ('450 k', '0.00234', '10', '87.2', '0')
    """
    for scale, prefix in SCALES:
        if abs(value) >= scale:
            return f"{value / scale:.3g} {prefix}"
    return f"{value:.3g}"


def quantity(value: float, unit: str) -> str:
    """Format a number with its unit, its prefix joined to the unit.

    >>> quantity(116e6, "bytes"), quantity(87.25, "s"), quantity(3.0, "of 3 runs")
    ('116 Mbytes', '87.2 s', '3 of 3 runs')
    """
    text = number(value)
    return f"{text}{unit}" if text[-1].isalpha() else f"{text} {unit}"


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


def _scale(results: Mapping[str, Any]) -> list[str]:
    """Format the runs at scale, and the answers to larger requests."""
    headings = ("virtual/real", "CPU", "packets/CPU s", "memory", "estimate", "est./mem.")
    lines = ["", "At scale", "".join(f"{head:>15}" for head in headings)]
    for run in results["runs"]:
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
    for request, refusal in results["larger"].items():
        lines += [f"  {request}", _how(refusal or "not refused: it starts on this machine")]
    return lines


def render(figures: Mapping[str, Any]) -> str:
    """Format the result of ``benchmarks.lab.measure`` for people."""
    machine = figures["machine"]
    headings = ("measured", "goal")
    lines = [
        f"{machine['cpu_model']}, {machine['cores']} cores, Linux {machine['kernel']}, "
        f"load {machine['load_before']:g} before",
    ]
    if figures["figures"]:
        lines += ["", f"{'figure':<{TITLE_WIDTH}}{headings[0]:<{VALUE_WIDTH}}{headings[1]}"]
    for figure in figures["figures"].values():
        lines += [_row(figure), _how(figure["how"])]
    if figures.get("scale"):
        lines += _scale(figures["scale"])
    if figures["quick"]:
        lines += ["", "quick: short runs; 'about' marks what is extrapolated from them"]
    return "\n".join(lines)
