"""Fields of a record for droppers: their counts, and drops by flow."""

from __future__ import annotations

from pydantic import Field

from farpath.base.validation import Count, Declared, Part


class DropperCount(Part):
    """The packets that a dropper saw and dropped."""

    dropper: str
    seen: int
    lost: int
    flows: dict[str, Count] = Field(default_factory=dict)


class PortDrops(Part):
    """The packets that a port dropped, by flow, and of no flow."""

    there: dict[str, Count]
    back: dict[str, Count]
    others: Count


class FlowDrops(Part):
    """The drops of queues and of lines, by port."""

    queues: dict[str, PortDrops] | None = None
    losses: dict[str, PortDrops] | None = None


AFTER: Declared = {"droppers": (list[DropperCount], []), "flow_drops": (FlowDrops | None, None)}
