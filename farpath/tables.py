"""Tables: the paper's tables 1 and 2, measured beside published."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.metrics import Summary
from farpath.published import PUBLISHED_PATH, Published

if TYPE_CHECKING:
    from rich.table import Table

NOTHING = "-"
NOT_PUBLISHED = "not published"


@dataclass(frozen=True)
class Grid:
    """A table as texts: title, header, rows of as many cells, and a line below."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def number(value: float | None, decimals: int) -> str:
    """A number as text; a dash for none."""
    return NOTHING if value is None or not math.isfinite(value) else f"{value:.{decimals}f}"


def _cpu_note(summary: Summary) -> str:
    """What the columns on CPU count."""
    if summary.cpu_percent is not None:
        return (
            "CPU: of one core, all sending programs together, system calls included; packet work "
            "in interrupts is counted where the kernel charges it."
        )
    return "CPU is free on the virtual clock." if summary.clock == "virtual" else ""


def ratio(measured: float, printed: float) -> str:
    """Deviation of a measured value from a printed one, in per cent of the latter."""
    if not math.isfinite(measured) or printed == 0:
        return NOTHING
    return f"{round(100 * (measured / printed - 1)) + 0.0:+.0f} %"


def difference(measured: float, printed: float, decimals: int = 2) -> str:
    """Measured less printed, with its sign."""
    if not math.isfinite(measured):
        return NOTHING
    return f"{round(measured - printed, decimals) + 0.0:+.{decimals}f}"


def _why_not_published(summary: Summary) -> str:
    if summary.path_name != PUBLISHED_PATH:
        return f"The paper prints this table for path {PUBLISHED_PATH} only."
    return f"The paper prints no row for {summary.stack}."


def _absent(columns: int) -> tuple[str, ...]:
    return (NOT_PUBLISHED, *[NOTHING] * (columns - 1))


def grid_1(summary: Summary, published: Published | None) -> Grid:
    """Table 1: throughput, stability, fairness, CPU and RTT over the whole run.

    Deviations are in per cent of the published value; those of F are differences.
    """
    header = (
        summary.stack, "mean Mbit/s", "s Mbit/s", "S = s/mean", "F min", "F max",
        "CPU %", "MHz / Mbps", "SD(RTT) ms",
    )  # fmt: skip
    mean_mbps, std_mbps = summary.mean_bps / 1e6, summary.std_bps / 1e6
    measured = (
        "measured", number(mean_mbps, 1), number(std_mbps, 1),
        number(summary.stability, 2), number(summary.fairness_min, 2),
        number(summary.fairness_max, 2), number(summary.cpu_percent, 1),
        number(summary.mhz_per_mbps, 2), number(summary.rtt_std_ms, 1),
    )  # fmt: skip
    note = _cpu_note(summary)
    title = f"Table 1: whole run, path {summary.path_name}"
    if published is None:
        why = f"{_why_not_published(summary)} {note}".strip()
        return Grid(title, header, (measured, _absent(len(header))), why)
    printed = (
        "published", number(published.mean_mbps, 0), number(published.std_mbps, 0),
        number(published.stability, 2), number(published.fairness_min, 2),
        number(published.fairness_max, 2), f"{published.cpu_util_as_printed:g}",
        number(published.mhz_per_mbps, 2), number(published.rtt_std_ms, 0),
    )  # fmt: skip
    deviation = (
        "deviation", ratio(mean_mbps, published.mean_mbps),
        ratio(std_mbps, published.std_mbps), ratio(summary.stability, published.stability),
        difference(summary.fairness_min, published.fairness_min),
        difference(summary.fairness_max, published.fairness_max), NOTHING, NOTHING,
        ratio(summary.rtt_std_ms, published.rtt_std_ms),
    )  # fmt: skip
    return Grid(title, header, (measured, printed, deviation), _with_difference(summary, note))


def _with_difference(summary: Summary, note: str) -> str:
    """What of the published run differs by intent, before a note."""
    differences = []
    if summary.region_s != 120:
        differences.append(
            f"Published with regions of 120 s, measured with {summary.region_s:g} s."
        )
    if summary.era != "2004":
        differences.append("Published with the stacks and hosts of 2004, measured with today's.")
    return " ".join([*differences, note]).strip()


def grid_2(summary: Summary, published: Published | None) -> Grid:
    """Table 2: stability / fairness of each region. Deviations are differences."""
    header = (summary.stack, *(f"reg. {region.number}" for region in summary.regions))
    measured = tuple(
        f"{number(region.stability, 2)} / {number(region.fairness, 2)}"
        for region in summary.regions
    )
    title = f"Table 2: S / F of each region, path {summary.path_name}"
    rows = [("measured", *measured)]
    if published is None:
        return Grid(title, header, (*rows, _absent(len(header))), _why_not_published(summary))
    pairs = list(zip(summary.regions, published.regions, strict=True))
    rows.append(("published", *(f"{p.stability:.2f} / {p.fairness:.2f}" for _, p in pairs)))
    rows.append(
        (
            "deviation",
            *(
                f"{difference(m.stability, p.stability)} / {difference(m.fairness, p.fairness)}"
                for m, p in pairs
            ),
        )
    )
    return Grid(title, header, tuple(rows), _with_difference(summary, ""))


def rich_table(grid: Grid) -> Table:
    """A grid for the terminal; nothing in its texts is taken for rich's markup."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=escape(grid.title), caption=escape(grid.note) or None, box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 1), title_justify="left", caption_justify="left", title_style="bold",
        caption_style="dim",
    )  # fmt: skip
    for place, name in enumerate(grid.header):
        table.add_column(Text(name), justify="right" if place else "left", no_wrap=place == 0)
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table


def table_1(summary: Summary, published: Published | None) -> Table:
    """Table 1 for the terminal; see :func:`grid_1`."""
    return rich_table(grid_1(summary, published))


def table_2(summary: Summary, published: Published | None) -> Table:
    """Table 2 for the terminal; see :func:`grid_2`."""
    return rich_table(grid_2(summary, published))


def render(*tables: Table, width_columns: int = 120) -> str:
    """Tables as plain text without colour, one below the other."""
    from rich.console import Console

    # In a notebook rich would display them besides.
    console = Console(
        file=io.StringIO(), width=width_columns, color_system=None, force_jupyter=False
    )
    for table in tables:
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = (line.rstrip() for line in console.file.getvalue().splitlines())
    return "\n".join(lines).strip("\n") + "\n"
