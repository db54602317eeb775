"""Paper columns: columns of runs beside the numbers that the paper prints of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

from farpath.base.column import NOTHING, Column
from farpath.metrics.catalogue import RUN
from farpath.metrics.estimate import Estimate
from farpath.metrics.run import Summary
from farpath.report.tables.deviations import difference, ratio

from .published import Published


@dataclass(frozen=True)
class PaperColumn:
    """A column of table 1, measured and printed, both under one key and heading.

    ``deviation``: how the two are compared: by ``ratio``, by ``difference``, or not at all.
    ``on_cpu``: taken from runs in which CPU was counted.
    """

    measured: Column[Summary]
    printed: Column[Published]
    deviation: str = "difference"
    on_cpu: bool = False

    @property
    def key(self) -> str:
        """Its name, which ends with its unit."""
        return self.measured.key

    @property
    def heading(self) -> str:
        """Its name for people."""
        return self.measured.heading

    @property
    def decimals(self) -> int:
        """The decimals of measured values."""
        return self.measured.decimals

    def deviation_text(self, measured: Estimate, row: Published) -> str:
        """Format the deviation of measured from printed, for people."""
        printed = self.printed.number_of(row)
        if self.deviation == "ratio":
            return ratio(measured.mean, printed)
        if self.deviation == "difference":
            return difference(measured.mean, printed, self.decimals)
        return NOTHING

    def deviation_of(self, measured: Estimate, row: Published) -> float | None:
        """Return the deviation as a number: per cent of printed, or the difference."""
        printed = self.printed.number_of(row)
        if self.deviation == "ratio":
            return 100 * (measured.mean / printed - 1)
        return measured.mean - printed if self.deviation == "difference" else None


def paper_column(
    key: str,
    heading: str,
    of: str,
    printed: Callable[[Published], float],
    decimals: int,
    printed_decimals: int,
    deviation: str = "difference",
    on_cpu: bool = False,
) -> PaperColumn:
    """Return a column of runs under the key and heading of a table of the paper.

    ``of``: its key among the quantities of runs.
    """
    measured = dataclasses.replace(RUN[of], key=key, heading=heading, decimals=decimals)
    of_paper = Column(key, heading, printed, printed_decimals)
    return PaperColumn(measured, of_paper, deviation, on_cpu)


MEAN = paper_column(
    "mean_mbps", "mean (Mbit/s)", "throughput_mbps", lambda row: row.mean_mbps, 0, 0
)
STABILITY = paper_column("stability", "S", "cov", lambda row: row.stability, 2, 2)
FAIRNESS = paper_column("fairness_min", "F min", "fairness_min", lambda row: row.fairness_min, 2, 2)
RTT = paper_column("rtt_std_ms", "SD(RTT) (ms)", "rtt_std_ms", lambda row: row.rtt_std_ms, 1, 0)
#: The columns of table 1 that do not depend on a machine, in the words of experiments on its path.
LAB_COLUMNS = (MEAN, STABILITY, FAIRNESS, RTT)
