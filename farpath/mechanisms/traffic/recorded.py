"""Fields of a record for short flows."""

from __future__ import annotations

from pydantic import Field

from farpath.base.validation import Declared, Hash, Part


class ShortFlowsEntry(Part):
    """The hash of the table of short flows, and their congestion controls."""

    fingerprint: Hash
    congestion: list[str] = Field(default_factory=list)


PARTS: Declared = {"short_flows": (ShortFlowsEntry | None, None)}
