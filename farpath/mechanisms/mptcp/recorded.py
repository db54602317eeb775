"""Fields of a record for MPTCP: its settings, and its subflows."""

from __future__ import annotations

from typing import Any

from farpath.base.validation import Declared, Hash, Part


class SubflowsEntry(Part):
    """The hash of the table of subflows."""

    fingerprint: Hash


PARTS: Declared = {"subflows": (SubflowsEntry | None, None)}
AFTER: Declared = {"mptcp_subflows": (dict[str, list[dict[str, Any]]] | None, None)}
