"""Fields of a record for captures."""

from __future__ import annotations

from farpath.base.validation import Count, Declared, Part


class CaptureCount(Part):
    """The packets of a capture, and those that it missed."""

    packets: Count
    missed: Count


PARTS: Declared = {"captures": (dict[str, CaptureCount], {})}
