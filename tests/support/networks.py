"""Networks of few hosts that topologies and pictures are tested with."""

from __future__ import annotations

from farpath.planning.request import RunRequest
from farpath.spec.plan import Plan


def short_plan(**words: str) -> Plan:
    """The plan of a run on a named path, or on one of 20 ms."""
    rtt = {} if "path" in words else {"rtt": "20ms"}
    texts = {"stack": "reno", "schedule": "together"} | rtt | words
    return RunRequest(**texts).plan()


#: Options of runs over each kind of network.
NETWORKS: list[dict[str, str]] = [
    {},
    {"senders": "rtt=40ms mtu=1400 rtt=30ms,mtu=1300", "stack": "reno"},
    {"reverse": "reno"},
    {"senders": "rtt=40ms", "reverse": "2xreno", "background": "20%"},
    {"topology": "parking-lot:2"},
    {"topology": "parking-lot:8", "background": "cbr:10Mbit"},
    {"background": "20%+tcp:10%", "senders": "rtt=40ms"},
    {"topology": "parking-lot:2", "background": "tcp:10%"},
]
#: Options of runs whose packets cross the routers of a named path.
ROUTED: list[dict[str, str]] = [
    {"topology": "routed", "path": "caltech"},
    {"topology": "routed", "path": "ufl", "ip": "6", "background": "20%"},
    {"topology": "routed", "path": "cern", "reverse": "reno", "senders": "rtt=170ms,mtu=1400"},
]
