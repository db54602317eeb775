"""Networks of a user's own, and plans over them, without the file that Mininet reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from farpath.planning.request import RunRequest
from farpath.spec.host_image import HostImage
from farpath.spec.plan import Plan
from farpath.spec.stack import Stack
from farpath.spec.user_network import Cable, Shaping, UserNetwork

#: A long link of 20 Mbit/s, and one of 100 Mbit/s to a host.
TRUNK = Shaping(20_000_000, 100, delay_ms=20.0, jitter_ms=1.0, loss=0.01)
ACCESS = Shaping(100_000_000, 1000)


def two_sites(there: Shaping = TRUNK, back: Shaping = TRUNK) -> UserNetwork:
    """Hosts h1 and h3 at one switch, h2 and h4 at another, and a link between the switches."""
    return UserNetwork(
        ("h1", "h2", "h3", "h4"),
        ("left", "right"),
        (
            Cable("h1", 0, "left", 1, ACCESS, ACCESS),
            Cable("right", 1, "h2", 0, ACCESS, ACCESS),
            Cable("h3", 0, "left", 2, ACCESS, ACCESS),
            Cable("right", 2, "h4", 0, ACCESS, ACCESS),
            Cable("left", 9, "right", 9, there, back),
        ),
    )


@dataclass(frozen=True)
class GivenNetwork:
    """The parts of a user who has a topology, already read, and nothing else."""

    given: UserNetwork

    def stack(self, text: str) -> Stack | None:
        """No stack."""
        return None

    def images(self, text: str, plan: Plan) -> Mapping[str, HostImage]:
        """No images."""
        return {}

    def network(self, text: str) -> UserNetwork | None:
        """The topology, whichever file is named."""
        return self.given


def own_plan(network: UserNetwork, flows: str, **words: str) -> Plan:
    """The plan of a run over a network."""
    texts = {"topology": "./mine.py", "flows": flows, "time": "5s"} | words
    return RunRequest(**texts).plan(user_parts=GivenNetwork(network))
