"""Drops by flow: parser of what the lab's kernel module ``drops`` counts."""

from __future__ import annotations

from collections.abc import Sequence

#: Stands for the packets of no flow.
OTHERS = ""


def parse(text: str, flows: Sequence[str]) -> dict[str, dict[str, int]]:
    """Parse the contents of /proc/drops (images/kernel/devices/drops.c).

    ``flows``: the names of flows, in the order of the module's parameter. Returns, by port, the
    packets dropped of each flow, and of none under ``OTHERS``.

    >>> parse("s2-eth2 17 0 3", ["flow1", "flow2"])
    {'s2-eth2': {'flow1': 17, 'flow2': 0, '': 3}}
    """
    lines = (line.split() for line in text.splitlines())
    return {
        port: dict(zip([*flows, OTHERS], map(int, counts), strict=True)) for port, *counts in lines
    }
