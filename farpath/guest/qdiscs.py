"""Qdiscs: sets those of ports and shows them as tc does, also those that the lab's tc cannot.

These are dualpi2 and the module of a link, for which the kernel is asked by rtnetlink.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from types import ModuleType
from typing import Any

from farpath.spec.aqm import DUALPI2
from farpath.spec.layout import Layout
from farpath.spec.qdiscs import (
    BOTTLENECK,
    CHILD_HANDLE,
    CHILD_PARENT,
    ROOT_HANDLE,
    Bottleneck,
    LinkBottleneck,
    Qdisc,
)
from farpath.tools import bottleneck, dualpi2, modules, netlink, rtnetlink
from farpath.tools.commands import CommandError, note, run

#: Largest answer of rtnetlink to one request.
RECEIVE_BYTES = 32_768
#: The options and statistics of the kinds that tc does not know.
KINDS: Mapping[str, ModuleType] = {BOTTLENECK: bottleneck, DUALPI2: dualpi2}


class RtnetlinkQdisc:
    """A qdisc of a port in this network namespace that tc does not know.

    ``kind``: of ``KINDS``. ``parent``: its class, or ``TC_H_ROOT``. ``handle``: its number.
    """

    def __init__(self, port: str, kind: str, parent: int, handle: int) -> None:
        self.port = port
        self.kind = kind
        self._place = (socket.if_nametoindex(port), handle << 16, parent)
        flags = socket.SOCK_RAW | socket.SOCK_CLOEXEC
        self._socket = socket.socket(socket.AF_NETLINK, flags, rtnetlink.NETLINK_ROUTE)

    def _ask(self, request: bytes) -> netlink.Message:
        self._socket.send(request)
        (answer, *_) = netlink.parse_messages(self._socket.recv(RECEIVE_BYTES))
        if answer.error:
            raise CommandError(f"{self.kind} of {self.port}: {os.strerror(answer.error)}")
        return answer

    def add(self, options: Mapping[str, float]) -> None:
        """Make it with these options; raises CommandError if the kernel refuses them."""
        note(("rtnetlink", "qdisc", "add", "dev", self.port, self.kind), json.dumps(options))
        packed = KINDS[self.kind].options(options)
        self._ask(rtnetlink.create_request(*self._place, self.kind, packed))

    def change(self, options: Mapping[str, float]) -> None:
        """Change options of it; raises CommandError if the kernel refuses them."""
        packed = KINDS[self.kind].options(options)
        self._ask(rtnetlink.change_request(*self._place, self.kind, packed))

    def show(self) -> dict[str, Any]:
        """Return it as tc prints other qdiscs; of another kind in its place, what all have."""
        interface, _, parent = self._place
        shown = rtnetlink.parse(self._ask(rtnetlink.show_request(interface, parent)).body)
        described = KINDS[self.kind].describe(shown) if shown.kind == self.kind else shown.common
        return {**described, "dev": self.port}


def link_of(port: str) -> RtnetlinkQdisc:
    """Return the link of a port in this network namespace."""
    return RtnetlinkQdisc(port, BOTTLENECK, rtnetlink.TC_H_ROOT, ROOT_HANDLE)


def dualpi2_of(port: str) -> RtnetlinkQdisc:
    """Return the dualpi2 below the bottleneck of a port in this network namespace."""
    return RtnetlinkQdisc(port, DUALPI2, CHILD_PARENT, CHILD_HANDLE)


def has_dualpi2(qdisc: Qdisc | None) -> bool:
    """Whether a port's qdisc has a dualpi2 below it."""
    return isinstance(qdisc, Bottleneck) and qdisc.aqm_kind == DUALPI2


def unknown_to_tc(port: str, qdisc: Qdisc | None) -> Iterator[RtnetlinkQdisc]:
    """Yield those of a port's planned qdiscs that tc does not know."""
    if isinstance(qdisc, LinkBottleneck):
        yield link_of(port)
    if has_dualpi2(qdisc):
        yield dualpi2_of(port)


def is_known_to_tc(qdisc: Qdisc | None) -> bool:
    """Whether a port's qdisc, or an active queue below it, is one that tc shows."""
    if isinstance(qdisc, LinkBottleneck):
        return qdisc.aqm_kind not in ("", *rtnetlink.UNKNOWN_TO_TC)
    return True


def load(layout: Layout, site: int, directory: FilePath) -> None:
    """Load the module of links, if a site has such."""
    queues = [port.queue for port in layout.ports if layout.site_of(port.node) == site]
    if any(isinstance(queue, LinkBottleneck) for queue in queues):
        modules.insert(directory, BOTTLENECK, {})


def add(planned: Mapping[str, Qdisc]) -> None:
    """Set the qdiscs of ports in this network namespace, by port."""
    for port, qdisc in planned.items():
        if isinstance(qdisc, LinkBottleneck):
            link_of(port).add(qdisc.options)
    lines = [line for port, qdisc in planned.items() for line in qdisc.tc_lines(port)]
    if lines:
        run("tc", "-batch", "-", text="\n".join(lines))
    for port, qdisc in planned.items():
        if isinstance(qdisc, Bottleneck) and qdisc.aqm and has_dualpi2(qdisc):
            dualpi2_of(port).add(qdisc.aqm.netlink_options(qdisc.aqm_limit))


def show(planned: Mapping[str, Qdisc]) -> list[dict[str, Any]]:
    """Return all qdiscs in this network namespace with their statistics, as tc prints them.

    ``planned``: the qdiscs that were set, by port. With an active queue tc prints details, among
    them the probability of red.
    """
    has_aqm = any(isinstance(qdisc, Bottleneck) and qdisc.aqm for qdisc in planned.values())
    output = run("tc", *(["-d"] if has_aqm else []), "-r", "-s", "-j", "qdisc", "show")
    further = [one.show() for port, qdisc in planned.items() for one in unknown_to_tc(port, qdisc)]
    return [*rtnetlink.parse_others(output), *further]
