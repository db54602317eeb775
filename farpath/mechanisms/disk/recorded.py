"""Fields of a record for disks."""

from __future__ import annotations

from farpath.base.validation import Count, Declared, NotNegative, Part


class DiskUse(Part):
    """What a disk and its programs did."""

    moved_bytes: Count
    waited_s: NotNegative
    idle_s: NotNegative


AFTER: Declared = {"disks": (dict[str, DiskUse], {})}
