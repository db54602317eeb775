"""Dropped packets: filters that drop packets at ports of the switches, set in no virtual time.

A request of rtnetlink's is one system call, after which the kernel drops. Open vSwitch would take
one to three virtual milliseconds, in which its programs talk to each other.
"""

from __future__ import annotations

import os
import socket

from farpath.guest.qdiscs import RECEIVE_BYTES
from farpath.tools import netlink, packet_filters, rtnetlink
from farpath.tools.commands import CommandError, note
from farpath.tools.packet_filters import PacketFilter


class DroppedPackets:
    """The filters of this network namespace, each with a number of its own."""

    def __init__(self) -> None:
        flags = socket.SOCK_RAW | socket.SOCK_CLOEXEC
        self._socket = socket.socket(socket.AF_NETLINK, flags, rtnetlink.NETLINK_ROUTE)
        self._ports: dict[str, int] = {}
        self._filters: dict[int, PacketFilter] = {}
        self._last = 0

    def _ask(self, words: tuple[str, ...], request: bytes) -> bytes:
        note(("rtnetlink", *words))
        self._socket.send(request)
        (answer, *_) = netlink.parse_messages(self._socket.recv(RECEIVE_BYTES))
        if answer.error:
            raise CommandError(f"{' '.join(words)}: {os.strerror(answer.error)}")
        return answer.body

    def _interface(self, port: str) -> int:
        """Return the number of a port, which has filters from now on."""
        if port not in self._ports:
            self._ports[port] = socket.if_nametoindex(port)
            words = ("qdisc", "add", "dev", port, packet_filters.CLSACT)
            self._ask(words, packet_filters.clsact_request(self._ports[port]))
        return self._ports[port]

    def add(self, one: PacketFilter) -> int:
        """Drop packets from now on; return the number of the filter.

        Raises CommandError if the kernel refuses it.
        """
        interface = self._interface(one.port)
        self._last += 1
        self._ask(("filter", "add", str(one)), one.add_request(interface, self._last))
        self._filters[self._last] = one
        return self._last

    def packets(self, number: int) -> int:
        """Return how many packets a filter has dropped."""
        one = self._filters[number]
        request = one.show_request(self._interface(one.port), number)
        return packet_filters.packets(self._ask(("filter", "show", str(one)), request))

    def remove(self, number: int) -> int:
        """End a filter; return how many packets it has dropped."""
        one = self._filters.pop(number)
        request = one.remove_request(self._interface(one.port), number)
        return packet_filters.packets(self._ask(("filter", "delete", str(one)), request))
