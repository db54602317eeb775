"""Fields of a record for flows of datagrams."""

from __future__ import annotations

from farpath.base.validation import Count, Declared, NotNegative, Part


class Arrivals(Part):
    """What a listener noted; times are in us, and a deviation's in ``histogram`` as well."""

    deviations: Count
    jitter_us: NotNegative | None
    most_us: NotNegative
    histogram: list[tuple[int, Count]]


class DatagramCount(Part):
    """What sender and receiver counted."""

    sent: Count
    expected: Count
    lost: Count
    arrivals: Arrivals | None = None


READBACK: Declared = {"datagrams": (dict[str, DatagramCount], {})}
