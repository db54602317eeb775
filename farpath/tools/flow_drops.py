"""Drops by flow: parser of what the lab's kernel module ``drops`` counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def parse(text: str, flows: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Parse the contents of /proc/drops (images/kernel/devices/drops.c).

    ``flows``: the names of flows, in the order of the module's parameter. Returns, by port, how
    many packets it dropped: ``there``, by flow, of those to its receiver, ``back`` of those from
    there, and ``others``.

    >>> parse("s2-eth2 17 1 0 2 3", ["flow1", "flow2"])
    {'s2-eth2': {'there': {'flow1': 17, 'flow2': 0}, 'back': {'flow1': 1, 'flow2': 2}, 'others': 3}}
    """
    ports = {}
    for line in text.splitlines():
        port, *words = line.split()
        *counts, others = map(int, words)
        ports[port] = {
            "there": dict(zip(flows, counts[::2], strict=True)),
            "back": dict(zip(flows, counts[1::2], strict=True)),
            "others": others,
        }
    return ports
