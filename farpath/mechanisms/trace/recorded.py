"""Fields of a record for a trace."""

from __future__ import annotations

from farpath.base.validation import Declared, Hash, Part


class TraceEntry(Part):
    """The hash of the trace's table."""

    fingerprint: Hash


PARTS: Declared = {"trace": (TraceEntry | None, None)}
