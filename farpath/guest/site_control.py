"""Site control: what guests tell each other of services, over links of their own."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping, Sequence
from typing import Any

from farpath.guest.device import Site
from farpath.tools.commands import run
from topologies.sites import CONTROL_MTU_BYTES, control_port

#: EtherType of local experiments (IEEE 802, 12.1), to all stations, from a local address.
_ETHER_TYPE = 0x88B5
_HEADER = b"\xff" * 6 + b"\x02\x00\x00\x00\x00\x00" + _ETHER_TYPE.to_bytes(2, "big")
#: Bytes of the length of a message, which the least size of a frame would lose.
_LENGTH_BYTES = 2


class SiteControl:
    """The links of a guest to all others.

    A message arrives at every other guest one least delay of all far links later.
    """

    def __init__(self, site: Site) -> None:
        ports = [
            control_port(site.number, other).name
            for other in range(site.layout.sites)
            if other != site.number
        ]
        lines = [f"link set dev {port} up mtu {CONTROL_MTU_BYTES}" for port in ports]
        run("ip", "-batch", "-", text="\n".join(lines))
        self._sockets = {one.fileno(): one for one in map(self._open, ports)}

    @staticmethod
    def _open(port: str) -> socket.socket:
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETHER_TYPE))
        opened.bind((port, _ETHER_TYPE))
        return opened

    @property
    def descriptors(self) -> Sequence[int]:
        """Descriptors that can be read when a message has come."""
        return list(self._sockets)

    def tell(self, message: Mapping[str, Any]) -> None:
        """Send a message to all other guests."""
        text = json.dumps(message).encode()
        frame = _HEADER + len(text).to_bytes(_LENGTH_BYTES, "big") + text
        for one in self._sockets.values():
            one.send(frame)

    def read(self, descriptor: int) -> dict[str, Any]:
        """Return the next message from a guest."""
        frame = self._sockets[descriptor].recv(CONTROL_MTU_BYTES + len(_HEADER))
        start = len(_HEADER) + _LENGTH_BYTES
        length = int.from_bytes(frame[len(_HEADER) : start], "big")
        message: dict[str, Any] = json.loads(frame[start : start + length])
        return message
