"""``web``: a page over HTTP/1.1, HTTP/2 and HTTP/3, each on new connections.

curl loads the page over TCP and TLS 1.3, and the client of ngtcp2 over QUIC; Caddy serves all. The
page is a number of objects that are asked for at once. HTTP/1.1 has six connections, as browsers
have, and asks for the next object when one is there (RFC 9112, without pipelining). The first byte
takes a round trip for TCP, one for TLS (RFC 8446) and one for the request; QUIC has both handshakes
in one (RFC 9000).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farpath.base.column import Column
from farpath.metrics.finding import Bound, Finding, at_least
from farpath.presets.preset import Commands, Preset, PresetOutput
from farpath.presets.web.page_loads import PageLoad, parse
from farpath.programs.entry import Parameter

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = "all"
#: RTTs until requests can be sent, by version of HTTP: TCP and TLS 1.3, or QUIC.
HANDSHAKE_RTTS = {"1.1": 2, "2": 2, "3": 1}
#: Connections to a server over HTTP/1.1.
CONNECTIONS = 6

HANDSHAKE = Column[PageLoad]("handshake_s", "", lambda one: one.handshake_s, 3, "handshakes (s)")
FIRST_BYTE = Column[PageLoad]("first_byte_s", "", lambda one: one.first_byte_s, 3, "first byte (s)")
LOAD = Column[PageLoad]("page_load_s", "", lambda one: one.load_s, 3, "page load (s)")


class Web(Preset):
    """The preset ``web``."""

    name = "web"
    summary = "page load over HTTP/1.1, 2 and 3"
    parameters = (
        Parameter("http", ALL, "versions of HTTP", choices=(ALL, *HANDSHAKE_RTTS)),
        Parameter("objects", "30", "of the page", low=1, high=90),
        Parameter("size", "20000", "of each object", unit="bytes", low=1, high=10_000_000),
    )

    def packages(self, values: Mapping[str, str]) -> Mapping[str, str]:
        """Return the programs with their packages; HTTP/3 has a client of its own."""
        by_version = {"3": {"gtlsclient": "ngtcp2-client"}}
        clients = [by_version.get(one, {"curl": "curl"}) for one in versions(values)]
        return {"caddy": "caddy", "openssl": "openssl"} | dict(
            pair for one in clients for pair in one.items()
        )

    def commands(self, values: Mapping[str, str]) -> Commands:
        """Return the clients one after the other, and the server of all."""
        page = values["objects"], values["size"]
        client = ("sh", "client.sh", *page, *versions(values))
        return Commands(client, (("sh", "server.sh", *page),), (443,))

    def findings(self, output: PresetOutput) -> Sequence[Finding]:
        """Return the times of each version, and their bounds by round trips and rate."""
        found = []
        for load in parse(output.text("client.out")):
            rtts = HANDSHAKE_RTTS[load.version]
            bounds = {
                HANDSHAKE: at_least(rtts * output.rtt_s, f"{rtts} RTT of handshakes"),
                FIRST_BYTE: at_least((rtts + 1) * output.rtt_s, f"{rtts + 1} RTT with the request"),
                LOAD: load_bound(load.version, output),
            }
            found += [
                Finding.of_column(column, load, bound, load.name)
                for column, bound in bounds.items()
            ]
        return found

    def figure(self, output: PresetOutput) -> Figure:
        """Draw the parts of each version's page load, and its bound."""
        from farpath.presets.web.figure import draw_page_loads

        loads = parse(output.text("client.out"))
        bounds = {one.version: load_bound(one.version, output) for one in loads}
        return draw_page_loads(
            loads, {key: one.value for key, one in bounds.items() if one is not None}
        )


def versions(values: Mapping[str, str]) -> tuple[str, ...]:
    """Return the versions of HTTP that are asked for."""
    return tuple(HANDSHAKE_RTTS) if values["http"] == ALL else (values["http"],)


def request_rtts(version: str, objects: int) -> int:
    """Return the least RTTs from the first request to the beginning of the last answer.

    >>> request_rtts("1.1", 30), request_rtts("2", 30)
    (5, 1)
    """
    return math.ceil(objects / CONNECTIONS) if version == "1.1" else 1


def load_bound(version: str, output: PresetOutput) -> Bound | None:
    """Return the least time of a page load: its round trips, or those of the first byte and bytes.

    The bytes are the objects' alone, without headers.
    """
    objects, size = int(output.values["objects"]), int(output.values["size"])
    rtts, of_requests = HANDSHAKE_RTTS[version], request_rtts(version, objects)
    transfer_s = 8 * objects * size / output.rate_bps
    by_bytes = (rtts + 1) * output.rtt_s + transfer_s, f"{rtts + 1} RTT + bytes / rate"
    by_requests = (rtts + of_requests) * output.rtt_s, f"{rtts + of_requests} RTT of requests"
    return at_least(*max(by_bytes, by_requests))


PRESET = Web()
