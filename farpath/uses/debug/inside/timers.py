"""Timers: the high-resolution timers of a site, the next first."""

from __future__ import annotations

from typing import Any

import gdb

from farpath.uses.debug.inside import kernel


def hrtimers(clock_ns: int) -> list[dict[str, Any]]:
    """Return when each timer of the selected site ends, in ns from now, and what it calls.

    ``clock_ns``: the site's virtual time, from which the monotonic clock counts.
    """
    base = gdb.parse_and_eval("&hrtimer_bases").dereference()
    clocks = base["clock_base"]
    found = []
    for index in range(clocks.type.range()[1] + 1):
        clock = clocks[index]
        now_ns = clock_ns + int(clock["offset"])
        root = clock["active"]["rb_root"]["rb_root"]
        found += [
            {
                "in_ns": int(timer["node"]["expires"]) - now_ns,
                "function": kernel.function_at(int(timer["function"])),
                "address": hex(int(timer)),
            }
            for timer in kernel.of_tree(root, "struct hrtimer", _node_field())
        ]
    return sorted(found, key=lambda one: int(one["in_ns"]))


def _node_field() -> str:
    """Return where a timer has its node of the tree; before Linux 7.1 nodes were not linked."""
    linked = kernel.type_of("struct hrtimer")["node"].type.strip_typedefs()["node"].type
    return "node.node" if linked.strip_typedefs().tag == "rb_node" else "node.node.node"
