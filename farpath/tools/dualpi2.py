"""dualpi2: options and statistics of this qdisc, for requests by ``farpath.tools.rtnetlink``.

iproute2 knows dualpi2 since its version 6.17. The lab's is older, so that its tc can neither set an
option of dualpi2 nor print one. Options have here the names of tc-dualpi2(8), and the attributes of
include/uapi/linux/pkt_sched.h.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from farpath.tools.netlink import attribute, attributes
from farpath.tools.rtnetlink import ShownQdisc

#: struct tc_dualpi2_xstats.
XSTATS = struct.Struct("=IIIIIIIIiIII")
XSTATS_FIELDS = (
    *("prob", "delay_c", "delay_l", "packets_in_c", "packets_in_l", "maxq", "ecn_mark"),
    *("step_marks", "credit", "memory_used", "max_memory_used", "memory_limit"),
)
#: The attribute of each option, and its size in bytes. Times are in us.
ATTRIBUTES = {
    "limit": (1, 4),
    "memlimit": (2, 4),
    "target": (3, 4),
    "tupdate": (4, 4),
    "alpha": (5, 4),
    "beta": (6, 4),
    "step_thresh": (8, 4),
    "min_qlen_step": (9, 4),
    "coupling_factor": (10, 1),
    "drop_on_overload": (11, 1),
    "drop_enqueue": (12, 1),
    "classic_protection": (13, 1),
    "any_ect": (14, 1),
    "split_gso": (15, 1),
}
#: Options that are switches.
SWITCHES = ("drop_on_overload", "drop_enqueue", "any_ect", "split_gso")
#: The mask of ECN bits by which packets belong to the low-latency queue
#: (enum tc_dualpi2_ecn_mask).
L4S_ECT, ANY_ECT = 1, 3


def options(values: Mapping[str, Any]) -> bytes:
    """Return options by name as attributes."""
    return b"".join(_option(name, value) for name, value in values.items())


def _option(name: str, value: Any) -> bytes:
    attribute_type, size = ATTRIBUTES[name]
    number = (ANY_ECT if value else L4S_ECT) if name == "any_ect" else int(value)
    return attribute(attribute_type, number.to_bytes(size, "little"))


def describe(shown: ShownQdisc) -> dict[str, Any]:
    """Return a dualpi2 as ``tc -s -j qdisc show`` prints other qdiscs."""
    return {**shown.common, "options": _options(shown.options), **_xstats(shown.statistics)}


def _options(nested: bytes) -> dict[str, Any]:
    values = {number: int.from_bytes(value, "little") for number, value in attributes(nested)}
    options: dict[str, Any] = {
        name: values[number] for name, (number, _) in ATTRIBUTES.items() if number in values
    }
    options |= {name: options[name] != 0 for name in SWITCHES if name in options}
    if "any_ect" in options:
        options["any_ect"] = values[ATTRIBUTES["any_ect"][0]] == ANY_ECT
    return options


def _xstats(data: bytes) -> dict[str, int]:
    return dict(zip(XSTATS_FIELDS, XSTATS.unpack_from(data), strict=True))
