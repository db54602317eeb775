"""Fields of a record for changing links."""

from __future__ import annotations

from farpath.base.validation import Count, Declared, NotNegative, Part


class LinkChange(Part):
    """A change of a port, when it was planned and made."""

    port: str
    at_s: NotNegative
    done_s: NotNegative
    rate_bps: Count | None = None
    delay_ms: NotNegative | None = None


READBACK: Declared = {"link_changes": (list[LinkChange], [])}
