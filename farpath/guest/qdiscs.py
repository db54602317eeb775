"""Qdiscs: sets those of ports and shows them as tc does, also those that the lab's tc cannot.

That is dualpi2 (``farpath.tools.dualpi2``), for which the kernel is asked by rtnetlink.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from typing import Any

from farpath.spec.aqm import DUALPI2
from farpath.spec.qdiscs import CHILD_HANDLE, CHILD_PARENT, Qdisc, TbfBottleneck
from farpath.tools import dualpi2, netlink
from farpath.tools.commands import CommandError, note, run

#: Largest answer of rtnetlink to one request.
RECEIVE_BYTES = 32_768


class Dualpi2:
    """The dualpi2 below the tbf of a port in this network namespace."""

    def __init__(self, port: str) -> None:
        self.port = port
        self.interface = socket.if_nametoindex(port)
        flags = socket.SOCK_RAW | socket.SOCK_CLOEXEC
        self.socket = socket.socket(socket.AF_NETLINK, flags, dualpi2.NETLINK_ROUTE)

    def _ask(self, request: bytes) -> netlink.Message:
        self.socket.send(request)
        (answer, *_) = netlink.parse_messages(self.socket.recv(RECEIVE_BYTES))
        if answer.error:
            raise CommandError(f"{DUALPI2} of {self.port}: {os.strerror(answer.error)}")
        return answer

    def add(self, options: Mapping[str, float]) -> None:
        """Make it with these options; raises CommandError if the kernel refuses them."""
        note(("rtnetlink", "qdisc", "add", "dev", self.port, DUALPI2), json.dumps(options))
        handle = CHILD_HANDLE << 16
        self._ask(dualpi2.create_request(self.interface, handle, CHILD_PARENT, options))

    def show(self) -> dict[str, Any]:
        """Return it as tc prints other qdiscs."""
        answer = self._ask(dualpi2.show_request(self.interface, CHILD_PARENT))
        return {**dualpi2.parse(answer.body), "dev": self.port}


def has_dualpi2(qdisc: Qdisc | None) -> bool:
    """Whether a port's qdisc has a dualpi2 below it."""
    return isinstance(qdisc, TbfBottleneck) and qdisc.aqm_kind == DUALPI2


def add(planned: Mapping[str, Qdisc]) -> None:
    """Set the qdiscs of ports in this network namespace, by port."""
    lines = [line for port, qdisc in planned.items() for line in qdisc.tc_lines(port)]
    if lines:
        run("tc", "-batch", "-", text="\n".join(lines))
    for port, qdisc in planned.items():
        if isinstance(qdisc, TbfBottleneck) and qdisc.aqm and has_dualpi2(qdisc):
            Dualpi2(port).add(qdisc.aqm.netlink_options(qdisc.aqm_limit))


def show(planned: Mapping[str, Qdisc]) -> list[dict[str, Any]]:
    """Return all qdiscs in this network namespace with their statistics, as tc prints them.

    ``planned``: the qdiscs that were set, by port. With an active queue tc prints details, among
    them the probability of red.
    """
    has_aqm = any(isinstance(qdisc, TbfBottleneck) and qdisc.aqm for qdisc in planned.values())
    output = run("tc", *(["-d"] if has_aqm else []), "-r", "-s", "-j", "qdisc", "show")
    own = [Dualpi2(port).show() for port, qdisc in planned.items() if has_dualpi2(qdisc)]
    return [*dualpi2.parse_others(output), *own]
