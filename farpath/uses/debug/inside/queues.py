"""Queues: the qdiscs of a site's interfaces, with their state at this instant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gdb

from farpath.uses.debug.inside import kernel

#: Where each qdisc counts its marks, in its own data: type and field.
MARKS = {
    "codel": ("struct codel_sched_data", "stats.ecn_mark"),
    "fq_codel": ("struct fq_codel_sched_data", "cstats.ecn_mark"),
    "fq_pie": ("struct fq_pie_sched_data", "stats.ecn_mark"),
    "pie": ("struct pie_sched_data", "stats.ecn_mark"),
    "red": ("struct red_sched_data", "stats.prob_mark"),
    "dualpi2": ("struct dualpi2_sched_data", "ecn_mark"),
}

#: Qdiscs that never hold a packet.
EMPTY = ("noop", "noqueue")


def devices() -> Iterator[Any]:
    """Yield each network device of the selected site, of all its network namespaces."""
    for net in kernel.of_list(gdb.parse_and_eval("net_namespace_list"), "struct net", "list"):
        yield from kernel.of_list(net["dev_base_head"], "struct net_device", "dev_list")


def name_of(device: Any) -> str:
    """Return a device's name."""
    return kernel.text_of(device["name"])


def qdiscs(device: Any) -> Iterator[Any]:
    """Yield a device's qdiscs: its root, then those below, by their handles."""
    root = device["qdisc"]
    if not int(root):
        return
    yield root
    table = device["qdisc_hash"]
    below: dict[int, Any] = {}
    for index in range(table.type.range()[1] + 1):
        first = int(table[index]["first"])
        for qdisc in kernel.of_nodes(first, "struct Qdisc", "hash"):
            if int(qdisc) != int(root):
                below[int(qdisc)] = qdisc
    yield from sorted(below.values(), key=lambda qdisc: int(qdisc["parent"]))


def states(device: Any) -> list[dict[str, Any]]:
    """Return the state of each qdisc of a device that holds packets."""
    kept = [qdisc for qdisc in qdiscs(device) if kind_of(qdisc) not in EMPTY]
    return [described(device, qdisc) for qdisc in kept]


def kind_of(qdisc: Any) -> str:
    """Return the name by which tc knows a qdisc."""
    return kernel.text_of(qdisc["ops"]["id"])


def described(device: Any, qdisc: Any) -> dict[str, Any]:
    """Return the state of a qdisc, with units in names."""
    state = {
        "device": name_of(device),
        "kind": kind_of(qdisc),
        "handle": f"{int(qdisc['handle']) >> 16:x}:",
        "packets": int(qdisc["q"]["qlen"]),
        "backlog_bytes": int(qdisc["qstats"]["backlog"]),
        "drops": int(qdisc["qstats"]["drops"]),
        "overlimits": int(qdisc["qstats"]["overlimits"]),
        "sent_bytes": _sent_bytes(qdisc),
        "limit": int(qdisc["limit"]),
    }
    if (address := marks_address(qdisc)) is not None:
        state["marks"] = int(kernel.pointer(address, "unsigned int").dereference())
    return state


def _sent_bytes(qdisc: Any) -> int:
    address = int(qdisc["bstats"]["bytes"].address)
    return int(kernel.pointer(address, "unsigned long").dereference())


def marks_address(qdisc: Any) -> int | None:
    """Return where a qdisc counts its marks; None if it marks nothing, or is another kernel's."""
    try:
        name, field = MARKS[kind_of(qdisc)]
        offset = kernel.offset_of(name, field)
    except (KeyError, gdb.error):
        return None
    return int(qdisc) + kernel.offset_of("struct Qdisc", "privdata") + offset


def drops_address(qdisc: Any) -> int:
    """Return where a qdisc counts its drops."""
    return int(qdisc) + kernel.offset_of("struct Qdisc", "qstats.drops")
