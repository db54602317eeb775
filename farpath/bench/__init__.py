"""The benchmark: what the lab reaches, measured beside what it is meant to reach.

Nothing here decides whether a test passes: a machine may be slow or busy. A figure
that cannot be had on this machine is None and says what is missing.
"""

from farpath.bench.measure import measure
from farpath.bench.report import render

__all__ = ["measure", "render"]
