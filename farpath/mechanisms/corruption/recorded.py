"""Fields of a record for damaged datagrams."""

from __future__ import annotations

from farpath.base.validation import Count, Declared, Part


class DamagedDatagrams(Part):
    """The datagrams of a host: those that were seen, those chosen of them, and those damaged."""

    seen: Count
    chosen: Count
    damaged: Count


AFTER: Declared = {"corruption": (dict[str, DamagedDatagrams], {})}
