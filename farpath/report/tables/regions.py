"""Tables 1 and 2 of the paper for one run, and the printing of tables."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farpath.metrics.column import NOTHING, number
from farpath.metrics.run import Summary

if TYPE_CHECKING:
    from rich.table import Table

    from farpath.analysis.published import Published

SENT_NOTE = (
    "Throughputs and S are of what receivers read; those called sent are of what the sending "
    "programs handed over, as an iperf reports at its sender. The paper does not say which it "
    "prints."
)


@dataclass(frozen=True)
class TextTable:
    """A table as texts: title, header, rows with as many cells, and a note below."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def cpu_note(summary: Summary) -> str:
    """Say what the columns on CPU count."""
    if summary.cpu_percent is not None:
        return (
            "CPU: of one core, all sending programs together, system calls included; packet work "
            "in interrupts is counted where the kernel charges it."
        )
    return "CPU is free on the virtual clock." if summary.clock == "virtual" else ""


def ratio(measured: float | None, printed: float) -> str:
    """Format the deviation of a measured from a printed value, in per cent of the latter."""
    if measured is None or not math.isfinite(measured) or printed == 0:
        return NOTHING
    return f"{round(100 * (measured / printed - 1)) + 0.0:+.0f} %"


def difference(measured: float, printed: float, decimals: int = 2) -> str:
    """Format measured minus printed, with its sign."""
    if not math.isfinite(measured):
        return NOTHING
    return f"{round(measured - printed, decimals) + 0.0:+.{decimals}f}"


def run_table_1(summary: Summary, published: Published) -> TextTable:
    """Return table 1 of a run: throughput, stability, fairness, CPU and RTT.

    Deviations are in per cent of the published value; those of F are differences.
    """
    header = (
        summary.stack, "mean Mbit/s", "sent", "s Mbit/s", "S = s/mean", "S sent", "F min", "F max",
        "CPU %", "MHz / Mbps", "SD(RTT) ms",
    )  # fmt: skip
    mean_mbps, std_mbps = summary.mean_bps / 1e6, summary.std_bps / 1e6
    sent_mbps = None if summary.sent_mean_bps is None else summary.sent_mean_bps / 1e6
    measured = (
        "measured", number(mean_mbps, 1), number(sent_mbps, 1), number(std_mbps, 1),
        number(summary.stability, 2), number(summary.sent_stability, 2),
        number(summary.fairness_min, 2),
        number(summary.fairness_max, 2), number(summary.cpu_percent, 1),
        number(summary.mhz_per_mbps, 2), number(summary.rtt_std_ms, 1),
    )  # fmt: skip
    note = f"{SENT_NOTE} {cpu_note(summary)}"
    title = f"Table 1: whole run, path {summary.path_name}"
    printed = (
        "published", number(published.mean_mbps, 0), number(published.mean_mbps, 0),
        number(published.std_mbps, 0),
        number(published.stability, 2), number(published.stability, 2),
        number(published.fairness_min, 2),
        number(published.fairness_max, 2), f"{published.cpu_util_as_printed:g}",
        number(published.mhz_per_mbps, 2), number(published.rtt_std_ms, 0),
    )  # fmt: skip
    deviation = (
        "deviation", ratio(mean_mbps, published.mean_mbps), ratio(sent_mbps, published.mean_mbps),
        ratio(std_mbps, published.std_mbps), ratio(summary.stability, published.stability),
        ratio(summary.sent_stability, published.stability),
        difference(summary.fairness_min, published.fairness_min),
        difference(summary.fairness_max, published.fairness_max), NOTHING, NOTHING,
        ratio(summary.rtt_std_ms, published.rtt_std_ms),
    )  # fmt: skip
    return TextTable(title, header, (measured, printed, deviation), _with_difference(summary, note))


def _with_difference(summary: Summary, note: str) -> str:
    """Prepend intended differences from the published run to a note."""
    differences = []
    if summary.region_s != 120:
        differences.append(
            f"Published with regions of 120 s, measured with {summary.region_s:g} s."
        )
    if summary.era != "2004":
        differences.append("Published with the stacks and hosts of 2004, measured with today's.")
    return " ".join([*differences, note]).strip()


def run_table_2(summary: Summary, published: Published) -> TextTable:
    """Return table 2 of a run: stability / fairness of each region. Deviations are differences."""
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
    return TextTable(title, header, tuple(rows), _with_difference(summary, ""))


def rich_table(text_table: TextTable, widths: Sequence[int] | None = None) -> Table:
    """Return a table for the terminal; its texts are not interpreted as rich's markup.

    ``widths``: those of its columns, by default as their texts need.
    """
    from rich import box
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=escape(text_table.title) or None, caption=escape(text_table.note) or None,
        box=box.SIMPLE_HEAD, padding=(0, 0, 0, 1), title_justify="left", caption_justify="left",
        title_style="bold", caption_style="dim",
    )  # fmt: skip
    for index, name in enumerate(text_table.header):
        table.add_column(
            Text(name), justify="right" if index else "left", no_wrap=index == 0,
            width=None if widths is None else widths[index], overflow="fold",
        )  # fmt: skip
    for row in text_table.rows:
        table.add_row(*map(Text, row))
    return table


def fitting(text_table: TextTable, width_columns: int) -> tuple[Table, ...]:
    """Return a table for a terminal of that width: one table, or several below each other.

    Each has the first column and as many of the others as fit, so that no number is cut. A header
    may break between its words.
    """
    texts = list(zip(text_table.header, *text_table.rows, strict=True))
    if _width(max(map(len, column)) for column in texts) <= width_columns:
        return (rich_table(text_table),)
    widths = [max(_longest_word(name), *map(len, cells)) for name, *cells in texts]
    parts: list[list[int]] = [[0]]
    for index in range(1, len(widths)):
        if len(parts[-1]) > 1 and _width(widths[p] for p in [*parts[-1], index]) > width_columns:
            parts.append([0])
        parts[-1].append(index)
    return tuple(
        rich_table(
            _part(text_table, part, part is parts[0], part is parts[-1]), [widths[p] for p in part]
        )
        for part in parts
    )


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _width(columns: Iterable[int]) -> int:
    """Return how wide a table is: each column has two blanks, and one is at the end."""
    return sum(width + 2 for width in columns) + 1


def _part(text_table: TextTable, indices: Sequence[int], first: bool, last: bool) -> TextTable:
    """Return some columns of a table; the first part has the title, the last part the note."""
    header, *rows = (
        tuple(row[index] for index in indices) for row in (text_table.header, *text_table.rows)
    )
    return TextTable(
        text_table.title if first else "", header, tuple(rows), text_table.note if last else ""
    )


def render(*tables: Table, width_columns: int = 120) -> str:
    """Format tables as plain text without colour, one below the other."""
    from rich.console import Console

    # In a notebook rich would also display them
    console = Console(
        file=io.StringIO(), width=width_columns, color_system=None, force_jupyter=False
    )
    for table in tables:
        console.print(table)
    assert isinstance(console.file, io.StringIO)
    lines = (line.rstrip() for line in console.file.getvalue().splitlines())
    return "\n".join(lines).strip("\n") + "\n"
