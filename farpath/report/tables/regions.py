"""Tables: the paper's tables 1 and 2, measured beside published, and how tables are printed."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.analysis.metrics import Summary

if TYPE_CHECKING:
    from rich.table import Table

    from farpath.analysis.published import Published

NOTHING = "-"


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


def cpu_note(summary: Summary) -> str:
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


def grid_1(summary: Summary, published: Published) -> Grid:
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
    note = cpu_note(summary)
    title = f"Table 1: whole run, path {summary.path_name}"
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


def grid_2(summary: Summary, published: Published) -> Grid:
    """Table 2: stability / fairness of each region. Deviations are differences."""
    header = (summary.stack, *(f"reg. {region.number}" for region in summary.regions))
    measured = tuple(
        f"{number(region.stability, 2)} / {number(region.fairness, 2)}"
        for region in summary.regions
    )
    title = f"Table 2: S / F of each region, path {summary.path_name}"
    rows = [("measured", *measured)]
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


def rich_table(grid: Grid, widths: Sequence[int] | None = None) -> Table:
    """A grid for the terminal; nothing in its texts is taken for rich's markup.

    ``widths``: of its columns, else as their texts need.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=escape(grid.title) or None, caption=escape(grid.note) or None, box=box.SIMPLE_HEAD,
        padding=(0, 0, 0, 1), title_justify="left", caption_justify="left",
        title_style="bold", caption_style="dim",
    )  # fmt: skip
    for place, name in enumerate(grid.header):
        table.add_column(
            Text(name), justify="right" if place else "left", no_wrap=place == 0,
            width=None if widths is None else widths[place],
        )  # fmt: skip
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table


def fitting(grid: Grid, width_columns: int) -> tuple[Table, ...]:
    """A grid for a terminal of that width: as one table, or as several below each other.

    Each has the grid's first column and as many of the others as have room, so that no
    number is cut; a header may break between its words.
    """
    texts = list(zip(grid.header, *grid.rows, strict=True))
    if _width(max(map(len, column)) for column in texts) <= width_columns:
        return (rich_table(grid),)
    widths = [max(_longest_word(name), *map(len, cells)) for name, *cells in texts]
    parts: list[list[int]] = [[0]]
    for place in range(1, len(widths)):
        if len(parts[-1]) > 1 and _width(widths[p] for p in [*parts[-1], place]) > width_columns:
            parts.append([0])
        parts[-1].append(place)
    return tuple(
        rich_table(
            _part(grid, part, part is parts[0], part is parts[-1]), [widths[p] for p in part]
        )
        for part in parts
    )


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _width(columns: Iterable[int]) -> int:
    """How wide a table is: each column has two blanks, and one is at the end."""
    return sum(width + 2 for width in columns) + 1


def _part(grid: Grid, places: Sequence[int], first: bool, last: bool) -> Grid:
    """Some columns of a grid; its title is above the first part, its note below the last."""
    header, *rows = (tuple(row[place] for place in places) for row in (grid.header, *grid.rows))
    return Grid(grid.title if first else "", header, tuple(rows), grid.note if last else "")


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
