"""Tables 1 and 2 of the paper for one run."""

from __future__ import annotations

from farpath.base.column import NOTHING, number
from farpath.metrics.run import Summary
from farpath.report.overview import cpu_note
from farpath.report.table import Table
from farpath.report.tables.deviations import difference, ratio

from .paper_stacks import differences_of
from .published import Published

SENT_NOTE = (
    "Throughputs and S are of what receivers read; those called sent are of what the sending "
    "programs handed over, as an iperf reports at its sender. The paper does not say which it "
    "prints."
)


def run_table_1(summary: Summary, published: Published) -> Table:
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
    return Table.of_texts(
        title, header, (measured, printed, deviation), _with_difference(summary, note)
    )


def _with_difference(summary: Summary, note: str) -> str:
    """Prepend intended differences from the published run to a note."""
    return " ".join([*differences_of([summary]), note]).strip()


def run_table_2(summary: Summary, published: Published) -> Table:
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
    return Table.of_texts(title, header, tuple(rows), _with_difference(summary, ""))
