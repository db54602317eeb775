"""Short flows: other traffic of short TCP transfers, which arrive at random.

The transfers of a web server: they arrive as a Poisson process, as users' sessions do (Paxson and
Floyd, *Wide Area Traffic: The Failure of Poisson Modeling*, IEEE/ACM Transactions on Networking
3(3), 1995), and their sizes have a heavy tail (Crovella and Bestavros, *Self-Similarity in World
Wide Web Traffic*, IEEE/ACM Transactions on Networking 5(6), 1997), here Pareto's distribution cut
at a largest size, so that it has a mean. Unlike on/off sources they react to the path: each is a
TCP connection.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass

from farpath.base.errors import BadInputError
from farpath.spec.background import RATE_BPS_RANGE

SIZE_BYTES_RANGE = (1, 10_000_000_000)
ALPHA_RANGE = (0.1, 10.0)
#: Least size and exponent of what users request of a web server: Pareto with k = 1000 bytes and
#: alpha = 1.0 (Barford and Crovella, *Generating Representative Web Workloads for Network and
#: Server Performance Evaluation*, SIGMETRICS 1998, the table of SURGE's models).
SURGE_LEAST_BYTES, SURGE_ALPHA = 1_000, 1.0
#: Largest size. SURGE has none; without one the mean of its distribution would be infinite.
DEFAULT_MOST_BYTES = 10_000_000
#: The congestion control of a Linux server as distributions configure it, since 2.6.19
#: (DEFAULT_CUBIC in net/ipv4/Kconfig).
USUAL_CONGESTION = "cubic"
#: Names of congestion controls (TCP_CA_NAME_MAX in include/net/tcp.h).
_CONGESTION = re.compile(r"[a-z0-9_]{1,15}")


@dataclass(frozen=True)
class ShortFlows:
    """Short TCP transfers towards the receivers' site, which share the path's bottlenecks.

    ``rate_bps``: what they offer on average, counted over Ethernet frames without retransmissions.
    ``least_bytes``, ``most_bytes``, ``alpha``: the bounds and the exponent of Pareto's distribution
    of their sizes; with equal bounds all have that size. ``congestion``: the congestion control of
    their server. Raises BadInputError for a value out of range.
    """

    rate_bps: int
    least_bytes: int = SURGE_LEAST_BYTES
    most_bytes: int = DEFAULT_MOST_BYTES
    alpha: float = SURGE_ALPHA
    congestion: str = USUAL_CONGESTION

    def __post_init__(self) -> None:
        for name, (low, high) in {
            "rate_bps": RATE_BPS_RANGE,
            "least_bytes": SIZE_BYTES_RANGE,
            "most_bytes": SIZE_BYTES_RANGE,
            "alpha": ALPHA_RANGE,
        }.items():
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadInputError(
                    option="background",
                    problem=f"{name} of short flows is {value:g}",
                    remedy=f"it must lie between {low:g} and {high:g}",
                )
        if self.least_bytes > self.most_bytes:
            raise BadInputError(
                option="background",
                problem=f"least_bytes of short flows is {self.least_bytes}, and most_bytes "
                f"{self.most_bytes}",
                remedy="the least size must not exceed the largest",
            )
        if not _CONGESTION.fullmatch(self.congestion):
            raise BadInputError(
                option="background",
                problem=f"congestion of short flows is {self.congestion!r}",
                remedy="it must be the name of a congestion control",
            )

    @property
    def mean_bytes(self) -> float:
        """The mean size of a transfer in bytes."""
        return bounded_pareto_mean(self.least_bytes, self.most_bytes, self.alpha)

    def draw_bytes(self, chance: random.Random) -> int:
        """Draw the size of a transfer in bytes, by the inverse of the distribution."""
        above = 1 - math.pow(self.least_bytes / self.most_bytes, self.alpha)
        kept = 1 - chance.random() * above
        return min(self.most_bytes, round(self.least_bytes * math.pow(kept, -1 / self.alpha)))

    def __str__(self) -> str:
        sizes = (
            f"of {self.least_bytes} bytes"
            if self.least_bytes == self.most_bytes
            else f"of {self.least_bytes} to {self.most_bytes} bytes, mean {self.mean_bytes:.0f}, "
            f"alpha {self.alpha:g}"
        )
        return f"{self.rate_bps / 1e6:g} Mbit/s of short {self.congestion} flows {sizes}"


def bounded_pareto_mean(least: float, most: float, alpha: float) -> float:
    """Return the mean of Pareto's distribution between two bounds, of exponent ``alpha``.

    It is the integral of x times the density alpha L^alpha x^(-alpha-1) / (1 - (L/H)^alpha).

    >>> round(bounded_pareto_mean(1000, 10_000_000, 1.0)), bounded_pareto_mean(5, 5, 1.2)
    (9211, 5.0)
    """
    if least == most:
        return float(least)
    part = least / most
    weight = 1 - math.pow(part, alpha)
    if abs(alpha - 1) < 1e-9:
        return least * math.log(1 / part) / weight
    return alpha / (alpha - 1) * least * (1 - math.pow(part, alpha - 1)) / weight


def least_of_mean(mean: float, most: float, alpha: float) -> int:
    """Return the least size in whole bytes with which the mean is closest to ``mean``.

    Raises BadInputError if no least size gives it.

    >>> least_of_mean(bounded_pareto_mean(1000, 10_000_000, 1.2), 10_000_000, 1.2)
    1000
    """
    low, high = SIZE_BYTES_RANGE[0], int(most)
    if not bounded_pareto_mean(low, most, alpha) <= mean <= most:
        raise BadInputError(
            option="background",
            problem=f"no Pareto distribution of alpha {alpha:g} up to {most:g} bytes has a mean of "
            f"{mean:g} bytes",
            remedy="give another largest size (most), or alpha",
        )
    while high - low > 1:
        middle = (low + high) // 2
        if bounded_pareto_mean(middle, most, alpha) <= mean:
            low = middle
        else:
            high = middle
    return min(low, high, key=lambda one: abs(bounded_pareto_mean(one, most, alpha) - mean))
